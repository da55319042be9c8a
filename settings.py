"""tidemark.toml: which clusters, topics and pipelines, with which promise, rights and thresholds.

Small frozen classes, one per concern, checked once; unknown keys are refused with the nearest known one. Secrets stand
in the file only as `{ env = "NAME" }` or `{ file = "path" }` and are resolved when a connection is made, never stored.
"""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from guarantees.promises import Guarantee, Pipeline
from guarantees.thresholds import Thresholds

SETTINGS_VARIABLE = "TIDEMARK_SETTINGS"

# SASL mechanisms; those of the first take a user and a password.
BY_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
OAUTHBEARER = "OAUTHBEARER"
GSSAPI = "GSSAPI"


class SettingsError(Exception):
    """The settings cannot be used as written; the message names the key and the remedy."""


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret is, never the secret itself."""

    env: str | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if (self.env is None) == (self.file is None):
            raise SettingsError('a secret is { env = "NAME" } or { file = "path" }, one of them')

    def reveal(self) -> str:
        """The secret, read now; raises SettingsError where it is missing."""
        try:
            return os.environ[self.env] if self.env is not None else Path(str(self.file)).read_text().strip()
        except (KeyError, OSError) as exc:
            raise SettingsError(f"secret {self.env or self.file} cannot be read: {exc}") from exc


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """How to reach a cluster."""

    protocol: str = "PLAINTEXT"
    sasl_mechanism: str | None = None
    username: str | None = None
    password: Secret | None = None
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    key_password: Secret | None = None
    token: Secret | None = None
    token_endpoint: str | None = None
    client_id: str | None = None
    client_secret: Secret | None = None
    scope: str | None = None
    kerberos_service_name: str | None = None

    def __post_init__(self) -> None:
        _check_choice("security.protocol", self.protocol, ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"))
        if self.protocol.startswith("SASL") != (self.sasl_mechanism is not None):
            raise SettingsError("security.sasl_mechanism is needed with a SASL protocol, and with no other")
        if self.sasl_mechanism is not None:
            _check_choice("security.sasl_mechanism", self.sasl_mechanism, (*BY_PASSWORD, OAUTHBEARER, GSSAPI))
        if self.sasl_mechanism in BY_PASSWORD and None in (self.username, self.password):
            raise SettingsError(f"security.username and password are needed with {self.sasl_mechanism}")
        if self.sasl_mechanism == OAUTHBEARER and not self._has_token():
            raise SettingsError("security.token, or token_endpoint with client_id and client_secret, is needed")

    def _has_token(self) -> bool:
        by_endpoint = None not in (self.token_endpoint, self.client_id, self.client_secret)
        return (self.token is not None) != by_endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """A watched cluster. Patterns are shell-style; a name is watched if it matches include and no exclude.

    `header_topics`: of which watched topics every batch is read, payloads untouched, for what headers prove.
    `history_bytes_per_s`: how much is read of Kafka's own topics, for commits, rebalances and transactions as their
    coordinators wrote them; 0: nothing.
    """

    name: str
    bootstrap_servers: str
    interval_s: float = 5.0
    request_timeout_s: float = 1.0
    include_topics: tuple[str, ...] = ("*",)
    exclude_topics: tuple[str, ...] = ()
    include_groups: tuple[str, ...] = ("*",)
    exclude_groups: tuple[str, ...] = ()
    header_topics: tuple[str, ...] = ()
    security: Security = field(default_factory=Security)
    max_bytes_per_s: int = 20_000_000
    history_bytes_per_s: int = 2_000_000

    def __post_init__(self) -> None:
        if not self.bootstrap_servers:
            raise SettingsError(f"clusters.{self.name}: bootstrap_servers must name at least one broker")
        if not 0 < self.request_timeout_s <= self.interval_s:
            raise SettingsError(f"clusters.{self.name}: request_timeout_s must be positive and at most interval_s")

    def watches_topic(self, topic: str) -> bool:
        return _matches(topic, self.include_topics, self.exclude_topics)

    def reads_headers(self, topic: str) -> bool:
        return self.watches_topic(topic) and _matches(topic, self.header_topics, ())

    def watches_group(self, group_id: str) -> bool:
        return _matches(group_id, self.include_groups, self.exclude_groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageId:
    """Where a record's id is: a header's name, the key, a path of keys in a value that is JSON ("payment.id"), or a
    hash of key and value, or what an installed decoder of that name makes of both. Exactly one is given.
    """

    header: str | None = None
    key: bool = False
    json: str | None = None
    hash: bool = False
    decoder: str | None = None

    def __post_init__(self) -> None:
        named = sum(place is not None for place in (self.header, self.json, self.decoder))
        if named + self.key + self.hash != 1:
            raise SettingsError(
                'a message id is { header = "name" }, { key = true }, { json = "path.in.value" }, { hash = true } or '
                '{ decoder = "name" }, one of them'
            )
        if self.json is not None and not all(self.json.split(".")):
            raise SettingsError(f"a message id's json is keys joined by dots, none of them empty; not {self.json!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOrder:
    """What must rise from one record of a key to the next: a whole number in decimal digits, in a header or at a path
    of keys in a value that is JSON, or the record's own time. Exactly one is given.
    """

    header: str | None = None
    json: str | None = None
    timestamp: bool = False

    def __post_init__(self) -> None:
        if (self.header is not None) + (self.json is not None) + self.timestamp != 1:
            raise SettingsError(
                'an order is { header = "name" }, { json = "path.in.value" } or { timestamp = true }, one of them'
            )
        if self.json is not None and not all(self.json.split(".")):
            raise SettingsError(f"an order's json is keys joined by dots, none of them empty; not {self.json!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSettings:
    """A pipeline with its promise, and how its records are audited.

    `rate` is the share of message ids kept, the same on both sides; where more than `records_per_s` would be kept of a
    topic, a lower power of two; `settle_s` how long an id may be missing before it
    counts as lost; `horizon_s` how far back a duplicate's first copy is sought; `one_to_one` declares that every source
    record has exactly one sink record with the same id (a missing one is then PROVEN lost), or `fan_out` of them where
    one becomes several; `store_ids` false keeps hashes only. `order` declares what rises within a key.
    """

    name: str
    cluster: str
    source: str
    group: str
    sink: str | None = None
    promise: Guarantee = Guarantee.AT_LEAST_ONCE
    id: MessageId = field(default_factory=lambda: MessageId(key=True))
    rate: float = 1 / 64
    records_per_s: float | None = None
    settle_s: float = 600.0
    horizon_s: float = 3600.0
    one_to_one: bool = False
    fan_out: int = 1
    store_ids: bool = True
    order: RecordOrder | None = None

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise SettingsError(f"pipelines.{self.name}: rate is a share above 0 and at most 1")
        if self.records_per_s is not None and self.records_per_s <= 0:
            raise SettingsError(f"pipelines.{self.name}: records_per_s, of kept records, must be positive")
        if self.settle_s <= 0 or self.horizon_s <= 0:
            raise SettingsError(f"pipelines.{self.name}: settle_s and horizon_s must be positive")
        if self.fan_out < 1 or (self.fan_out > 1 and self.sink is None):
            raise SettingsError(
                f"pipelines.{self.name}: fan_out is how many records of the sink one of the source becomes"
            )

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(self.name, self.source, self.group, self.sink, self.promise)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where Tidemark keeps what it saw; raw samples expire by age or size, whichever is less.

    The history (rounds, intervals, events, lag by the hour) is small and lasts for a report of a month.
    """

    data_dir: str = "data"
    raw_retention_h: float = 24.0
    raw_max_bytes: int = 10_000_000_000
    history_retention_d: float = 35.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSettings:
    """Where the jobs run: local[*], spark://, yarn, k8s:// or sc://. `round_s` is the pause between two live rounds."""

    master: str = "local[*]"
    round_s: float = 5.0
    conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """The Streamlit page: where it listens, and pages added by path (the lab's page of faults)."""

    address: str = "127.0.0.1"
    port: int = 8501
    extra_pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlSettings:
    """What one query of `tidemark sql` or of the SQL page may take, so that nobody else waits for it or goes without.

    A person waits half a minute; more rows than a thousand are not read but carried; a gigabyte holds the groups of a
    large cluster; and a page keeps the whole answer in memory.
    """

    time_s: float = 30.0
    rows: int = 1_000
    memory_bytes: int = 1_000_000_000
    answer_bytes: int = 16_000_000

    def __post_init__(self) -> None:
        if min(self.time_s, self.rows, self.memory_bytes, self.answer_bytes) <= 0:
            raise SettingsError("sql: every limit must be positive")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """What leaves the machine in a report. `ids`: of messages, members, clients and transactions, as they are
    ("shown") or as hashes ("hashed"), which tell them apart and do not name them.
    """

    ids: str = "shown"

    def __post_init__(self) -> None:
        if self.ids not in ("shown", "hashed"):
            raise SettingsError(f"reports.ids {self.ids!r} is none of shown, hashed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole file."""

    clusters: tuple[ClusterSettings, ...]
    pipelines: tuple[PipelineSettings, ...] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)
    store: StoreSettings = field(default_factory=StoreSettings)
    spark: SparkSettings = field(default_factory=SparkSettings)
    page: PageSettings = field(default_factory=PageSettings)
    sql: SqlSettings = field(default_factory=SqlSettings)
    reports: ReportSettings = field(default_factory=ReportSettings)

    def __post_init__(self) -> None:
        names = [cluster.name for cluster in self.clusters]
        if len(set(names)) != len(names):
            raise SettingsError("two clusters have the same name")
        for pipeline in self.pipelines:
            if pipeline.cluster not in names:
                raise SettingsError(f"pipelines.{pipeline.name}: no cluster is named {pipeline.cluster!r}")


def load_settings(path: Path) -> Settings:
    """Read and check a settings file. A relative data_dir and secret files are relative to the file."""
    try:
        given = tomllib.loads(path.read_text())
    except OSError as exc:
        raise SettingsError(f"{path} cannot be read: {exc.strerror}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SettingsError(f"{path} is not valid TOML: {exc}") from exc
    given.setdefault("store", {})["data_dir"] = str(path.parent / given.get("store", {}).get("data_dir", "data"))
    return parse_settings(given)


def bootstrap_settings(bootstrap_servers: str, data_dir: str = "data") -> Settings:
    """What runs with nothing but a bootstrap address: everything watched, pipelines only proposed."""
    cluster = ClusterSettings(name="default", bootstrap_servers=bootstrap_servers)
    return Settings(clusters=(cluster,), store=StoreSettings(data_dir=data_dir))


def parse_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of a parsed file; every mistake is named with its key."""
    settings: Settings = _build(Settings, given, "")
    return settings


def _check_choice(key: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise SettingsError(f"{key} {given!r} is none of {', '.join(known)}")


def _matches(name: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    return any(fnmatchcase(name, p) for p in include) and not any(fnmatchcase(name, p) for p in exclude)


def _build(kind: type, given: Any, where: str) -> Any:
    if not isinstance(given, Mapping):
        raise SettingsError(f"{where or 'the file'} must be a table")
    known = {f.name: f for f in fields(kind)}
    for key in given.keys() - known.keys():
        near = get_close_matches(key, known, n=1)
        raise SettingsError(f"unknown key {_join(where, key)}" + (f"; did you mean {near[0]}?" if near else ""))
    types = get_type_hints(kind)
    for name, f in known.items():
        if name not in given and f.default is MISSING and f.default_factory is MISSING:
            raise SettingsError(f"{_join(where, name)} is missing")
    return kind(**{key: _value(types[key], value, _join(where, key)) for key, value in given.items()})


def _value(kind: Any, value: Any, where: str) -> Any:
    if type(None) in get_args(kind):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind)[0], value, where)
    if get_origin(kind) is not None:  # Mapping[str, str]
        return {str(key): str(item) for key, item in value.items()}
    if hasattr(kind, "__dataclass_fields__"):
        return _build(kind, value, where)
    return _scalar(kind, value, where)


def _tuple(item: Any, value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise SettingsError(f"{where} must be a list")
    return tuple(_value(item, part, f"{where}[{number}]") for number, part in enumerate(value))


_SCALARS: Mapping[type, Callable[[Any], bool]] = {
    str: lambda value: isinstance(value, str),
    bool: lambda value: isinstance(value, bool),
    int: lambda value: isinstance(value, int) and not isinstance(value, bool),
    float: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if kind is Guarantee:
        if value not in set(Guarantee):
            raise SettingsError(f"{where} {value!r} is none of {', '.join(Guarantee)}")
        return Guarantee(value)
    if not _SCALARS[kind](value):
        raise SettingsError(f"{where} must be of type {kind.__name__}, not {value!r}")
    return kind(value)


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
