"""What a table contract is made of, and the columns many tables share."""

from dataclasses import dataclass
from enum import StrEnum


class Family(StrEnum):
    """How long rows live and where."""

    SAMPLE = "sample"  # data/raw, by hour, expires; one row per observation
    INTERVAL = "interval"  # data/raw, by hour, expires; restated while it lasts, the newest restatement counts
    EVENT = "event"  # data/raw, by hour, expires; one row per thing that happened
    KEPT = "kept"  # data/log, by month, never expires
    METRIC = "metric"  # metrics.duckdb, written by the Spark driver alone


class Type(StrEnum):
    TEXT = "text"
    INT = "int"  # 64 bit
    SMALL = "small"  # 32 bit
    REAL = "real"
    FLAG = "flag"
    TIME = "time"  # timestamp, ms, UTC
    INTS = "ints"  # list of 32-bit integers
    JSON = "json"  # text


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type
    meaning: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table contract. `key` identifies a row's subject; intervals add `started_at` to it.

    `is_ranged`: its segments are named by the range they cover (offsets, minutes), so making one again replaces it.
    """

    name: str
    family: Family
    writer: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    is_ranged: bool = False

    @property
    def time_column(self) -> str:
        """The column that decides in which hour folder a row lies."""
        return "last_seen_at" if self.family is Family.INTERVAL else "observed_at"


def text(name: str, meaning: str) -> Column:
    return Column(name, Type.TEXT, meaning)


def integer(name: str, meaning: str) -> Column:
    return Column(name, Type.INT, meaning)


def small(name: str, meaning: str) -> Column:
    return Column(name, Type.SMALL, meaning)


def real(name: str, meaning: str) -> Column:
    return Column(name, Type.REAL, meaning)


def flag(name: str, meaning: str) -> Column:
    return Column(name, Type.FLAG, meaning)


def time(name: str, meaning: str) -> Column:
    return Column(name, Type.TIME, meaning)


def integers(name: str, meaning: str) -> Column:
    return Column(name, Type.INTS, meaning)


def json(name: str, meaning: str) -> Column:
    return Column(name, Type.JSON, meaning)


def known(name: str, meaning: str) -> tuple[Column, Column]:
    """A number that may be unknown: null then, with the reason beside it."""
    return integer(name, meaning), text(f"{name}_unknown", f"why {name} is null; null when it is known")


CLUSTER = text("cluster_id", "Kafka's cluster id")
TICK = integer("tick", "number of the sampling round; (cluster_id, tick) continues after a restart")
TOPIC = text("topic", "topic name")
TOPIC_ID = text("topic_id", "Kafka's topic id (UUID text); a re-created topic has another")
PARTITION = small("partition", "partition number")
GROUP = text("group_id", "consumer group")
REQUESTED_AT = time("requested_at", "when the request left")
OBSERVED_AT = time("observed_at", "when the answer arrived")
BROKER = small("broker", "node id of the broker that answered; null when nobody did")
PIPELINE = text("pipeline", "name of the pipeline in the settings")
RUN_ID = text("run_id", "the run in job_runs that wrote the row")
SAMPLING_RATE = real("sampling_rate", "share of ids kept; where samples were compared, the lowest of theirs")

# Of what was read in a topic of Kafka's own.
LOG_PLACE = (
    small("log_partition", "partition of Kafka's own topic the record lies in; null: not from there"),
    integer("log_offset", "its offset there"),
    time("read_at", "when it was read; observed_at is the coordinator's clock, and never later"),
)

INTERVAL_COLUMNS = (
    time("started_at", "first observation in which it held"),
    time("started_after", "last observation in which it did not hold yet; null when nothing was observed before"),
    time("last_seen_at", "newest observation in which it held"),
    time("ended_before", "first observation in which it no longer held; null while it lasts"),
    text("ended_reason", "why it ended; null while it lasts"),
)
