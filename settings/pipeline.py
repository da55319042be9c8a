"""A pipeline: its promise, where its records carry their ids and their order, and how they are audited."""

from dataclasses import dataclass, field

from guarantees.promises import Guarantee, Pipeline
from settings.errors import SettingsError


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
