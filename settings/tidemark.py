"""Tidemark itself: its store, its jobs, its page, its queries, its reports; and the whole of the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from guarantees.thresholds import Thresholds
from settings.cluster import ClusterSettings
from settings.errors import SettingsError
from settings.pipeline import PipelineSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where Tidemark keeps what it saw; raw samples expire by age or size, whichever is less.

    The history (rounds, intervals, events, lag by the hour) is small and lasts for a report of a month; for a day at
    least, of which the pages tell losses and duplicates.
    """

    data_dir: str = "data"
    raw_retention_h: float = 24.0
    raw_max_bytes: int = 10_000_000_000
    history_retention_d: float = 35.0

    def __post_init__(self) -> None:
        if not self.history_retention_d >= 1:
            raise SettingsError("store.history_retention_d must be at least 1: the pages tell of the last day")


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
