"""Every table Tidemark keeps, in one place: its columns, their types and meaning, and its only writer.

Columns are added, never changed in meaning. Times are UTC with millisecond resolution. A value that could not be
established is null, and the column `<name>_unknown` beside it says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

SCHEMA_VERSION = 1


class Family(StrEnum):
    """How long rows live and where."""

    SAMPLE = "sample"  # data/raw, by hour, expires; one row per observation
    INTERVAL = (
        "interval"  # data/raw, by hour, expires; restated each round while it lasts, the newest restatement counts
    )
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
    """A table contract. `key` identifies a row's subject; intervals add `started_at` to it."""

    name: str
    family: Family
    writer: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def time_column(self) -> str:
        """The column that decides in which hour folder a row lies."""
        return "last_seen_at" if self.family is Family.INTERVAL else "observed_at"


def _text(name: str, meaning: str) -> Column:
    return Column(name, Type.TEXT, meaning)


def _int(name: str, meaning: str) -> Column:
    return Column(name, Type.INT, meaning)


def _small(name: str, meaning: str) -> Column:
    return Column(name, Type.SMALL, meaning)


def _time(name: str, meaning: str) -> Column:
    return Column(name, Type.TIME, meaning)


def _flag(name: str, meaning: str) -> Column:
    return Column(name, Type.FLAG, meaning)


def _known(name: str, meaning: str) -> tuple[Column, Column]:
    """A number that may be unknown: null then, with the reason beside it."""
    return _int(name, meaning), _text(f"{name}_unknown", f"why {name} is null; null when it is known")


CLUSTER = _text("cluster_id", "Kafka's cluster id")
TICK = _int("tick", "number of the sampling round; (cluster_id, tick) continues after a restart")
TOPIC = _text("topic", "topic name")
TOPIC_ID = _text("topic_id", "Kafka's topic id (UUID text); a re-created topic has another")
PARTITION = _small("partition", "partition number")
GROUP = _text("group_id", "consumer group")
REQUESTED_AT = _time("requested_at", "when the request left")
OBSERVED_AT = _time("observed_at", "when the answer arrived")
BROKER = _small("broker", "node id of the broker that answered; null when nobody did")

INTERVAL_COLUMNS = (
    _time("started_at", "first observation in which it held"),
    _time("started_after", "last observation in which it did not hold yet; null when nothing was observed before"),
    _time("last_seen_at", "newest observation in which it held"),
    _time("ended_before", "first observation in which it no longer held; null while it lasts"),
    _text("ended_reason", "why it ended; null while it lasts"),
)

TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        Table(
            "rounds",
            Family.SAMPLE,
            "collect",
            "Coverage of each signal of each round.",
            ("cluster_id", "tick", "signal"),
            (
                CLUSTER,
                _text("cluster", "name of the cluster in the settings"),
                TICK,
                _text("signal", "what was asked for"),
                _time("started_at", "when the signal's first request left"),
                OBSERVED_AT,
                _int("asked", "values asked for"),
                _int("answered", "values that arrived"),
                _int("refused", "values the broker refused: a right is missing"),
                _int("failed", "values that failed otherwise"),
                _text("error", "what went wrong, in one sentence; null when nothing did"),
                _small("interval_ms", "the cluster's sampling interval"),
            ),
        ),
        Table(
            "partition_offsets",
            Family.SAMPLE,
            "collect",
            "Offsets of each partition as its leader answered.",
            ("cluster_id", "topic_id", "partition", "tick"),
            (
                CLUSTER,
                TICK,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                *_known("log_start_offset", "first offset still stored"),
                *_known("last_stable_offset", "every lower offset is decided; read_committed reads up to it"),
                *_known("high_watermark", "every lower offset is on all in-sync replicas"),
                *_known("leader_epoch", "epoch that came with the high watermark"),
                BROKER,
                _time("log_start_observed_at", "when the log start arrived"),
                REQUESTED_AT,
                OBSERVED_AT,
            ),
        ),
        Table(
            "replica_offsets",
            Family.SAMPLE,
            "collect",
            "Log end offset of each replica (replica id −2).",
            ("cluster_id", "topic_id", "partition", "replica", "tick"),
            (
                CLUSTER,
                TICK,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                _small("replica", "node id of the replica, which answered itself"),
                *_known("log_end_offset", "offset the next record on this replica gets"),
                *_known("leader_epoch", "the replica's current partition leader epoch"),
                REQUESTED_AT,
                OBSERVED_AT,
            ),
        ),
        Table(
            "committed_offsets",
            Family.SAMPLE,
            "collect",
            "What each group has committed, read before the end offsets.",
            ("cluster_id", "group_id", "topic_id", "partition", "tick"),
            (
                CLUSTER,
                TICK,
                GROUP,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                *_known(
                    "committed_offset",
                    "next offset the group reads after a restart; null with reason 'no commit' when none",
                ),
                _small("committed_leader_epoch", "leader epoch stored with the commit; null when unknown"),
                _flag("is_pending", "a transactional commit awaits its marker (error 88)"),
                BROKER,
                REQUESTED_AT,
                OBSERVED_AT,
            ),
        ),
        Table(
            "partition_state",
            Family.INTERVAL,
            "collect",
            "Leadership and replication of a partition while unchanged.",
            ("cluster_id", "topic_id", "partition"),
            (
                CLUSTER,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                _small("leader", "node id; null: offline"),
                _small("leader_epoch", "number of the leader's term"),
                Column("replicas", Type.INTS, "assigned replicas"),
                Column("in_sync_replicas", Type.INTS, "replicas that are caught up"),
                Column("eligible_leader_replicas", Type.INTS, "KIP-966; null: feature off or not asked"),
                Column("last_known_eligible_leader_replicas", Type.INTS, "KIP-966; null as above"),
                Column("offline_replicas", Type.INTS, "replicas on dead brokers"),
                _small("min_insync_replicas", "the topic's setting; null when it may not be read"),
                *INTERVAL_COLUMNS,
            ),
        ),
        Table(
            "group_state",
            Family.INTERVAL,
            "collect",
            "State of a group while unchanged.",
            ("cluster_id", "group_id"),
            (
                CLUSTER,
                GROUP,
                _text("group_type", "classic, consumer, share, streams or as Kafka says"),
                _text("state", "Kafka's word; null when unknown"),
                _text("state_unknown", "why the state is null"),
                _small("coordinator", "node id of the coordinator"),
                _int("members", "number of members"),
                _int("group_epoch", "consumer protocol only"),
                _int("assignment_epoch", "consumer protocol only"),
                *INTERVAL_COLUMNS,
            ),
        ),
        Table(
            "group_members",
            Family.INTERVAL,
            "collect",
            "A member and what it owns, while unchanged.",
            ("cluster_id", "group_id", "member_id"),
            (
                CLUSTER,
                GROUP,
                _text("member_id", "the coordinator's name for the instance"),
                _text("group_instance_id", "set for static members"),
                _text("client_id", "untrusted text"),
                _text("host", "as the coordinator saw it"),
                _int("member_epoch", "consumer protocol only"),
                Column("assignment", Type.JSON, '[["topic", partition], …] sorted'),
                Column("target_assignment", Type.JSON, "consumer protocol only, as assignment"),
                *INTERVAL_COLUMNS,
            ),
        ),
        Table(
            "rebalances",
            Family.EVENT,
            "collect",
            "A change of members or ownership of a group between two samples.",
            ("cluster_id", "group_id", "observed_at"),
            (
                CLUSTER,
                GROUP,
                TICK,
                _time("changed_after", "the last sample before the change"),
                OBSERVED_AT,
                Column("joined", Type.JSON, "member ids that appeared"),
                Column("left", Type.JSON, "member ids that vanished"),
                Column("moved", Type.JSON, '[["topic", partition, old member or null, new member or null], …]'),
                _text("cause", "inferred from the difference; the broker's own reason is not observable"),
                _int("group_epoch", "after the change; consumer protocol only"),
            ),
        ),
        Table(
            "open_transactions",
            Family.INTERVAL,
            "collect",
            "A transaction as its coordinator describes it, while open.",
            ("cluster_id", "transactional_id", "producer_id", "producer_epoch", "transaction_started_at"),
            (
                CLUSTER,
                _text("transactional_id", "untrusted text"),
                _int("producer_id", ""),
                _small("producer_epoch", ""),
                _text("state", "Ongoing, PrepareCommit, …"),
                _int("timeout_ms", "the producer's transaction.timeout.ms"),
                _time("transaction_started_at", "the coordinator's start time; null when it says none"),
                Column("partitions", Type.JSON, '[["topic", partition], …] sorted'),
                _small("coordinator", "node id"),
                *INTERVAL_COLUMNS,
            ),
        ),
        Table(
            "open_producers",
            Family.INTERVAL,
            "collect",
            "A producer's open transaction on a partition, while it lasts.",
            (
                "cluster_id",
                "topic_id",
                "partition",
                "producer_id",
                "producer_epoch",
                "current_transaction_start_offset",
            ),
            (
                CLUSTER,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                _int("producer_id", ""),
                _small("producer_epoch", ""),
                _int("current_transaction_start_offset", "where the open transaction begins"),
                _int("last_sequence", ""),
                _time("last_timestamp", "the producer's clock unless LogAppendTime"),
                _int("coordinator_epoch", "−1 before the producer's first marker"),
                *INTERVAL_COLUMNS,
            ),
        ),
        Table(
            "id_samples",
            Family.SAMPLE,
            "jobs",
            "Sampled message ids of a covered range; the segment's name is the range.",
            ("cluster_id", "topic_id", "partition", "offset"),
            (
                CLUSTER,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                _int("offset", ""),
                _int("id_hash", "xxhash64, seed 42, of the id, signed"),
                _text("message_id", "cut to 200 characters; null when only hashes are stored"),
                _int("producer_id", "null when the batch has none"),
                _small("producer_epoch", "null when the batch has none"),
                _int("sequence", "null when the batch has none"),
                _flag("is_transactional", ""),
                _time("timestamp", "the record's own; the producer's word unless LogAppendTime"),
                OBSERVED_AT,
            ),
        ),
        Table(
            "lag_minute",
            Family.SAMPLE,
            "maintain",
            "Lag per group and partition, one row a minute.",
            ("cluster_id", "group_id", "topic_id", "partition", "observed_at"),
            (
                CLUSTER,
                GROUP,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                _time("observed_at", "start of the minute"),
                _int("lag_min", "lowest known lag"),
                _int("lag_max", "highest known lag"),
                _int("lag_last", "last known lag"),
                _int("samples", "samples in the minute"),
                _int("unknown", "samples whose lag is unknown"),
                _text("unknown_reason", "the last reason"),
            ),
        ),
        Table(
            "finding_events",
            Family.KEPT,
            "collect, jobs",
            "Findings as they open, are updated and close.",
            ("finding_id", "observed_at", "change"),
            (
                _text("finding_id", "stable identity"),
                _text("change", "opened, updated or closed"),
                _time("observed_at", "when Tidemark wrote it"),
                _text("kind", "what happened"),
                _text("cluster_id", ""),
                TOPIC,
                TOPIC_ID,
                PARTITION,
                GROUP,
                _text("anchor", "the evidence's own name"),
                _text("pipeline", ""),
                _small("severity", "4 lost or wrong … 1 information"),
                _text("title", ""),
                _text("grade", "of the headline"),
                _int("lower", ""),
                _int("estimate", ""),
                _int("upper", "null: no bound"),
                _text("unit", "what is counted"),
                Column("statements", Type.JSON, "grade, text, assumption"),
                Column("evidence", Type.JSON, "offsets, ids, epochs, times"),
                _time("happened_at", "when the fact is first known to have held"),
                _time("last_seen_at", "newest evidence"),
                _text("closed_reason", "null while it lasts"),
            ),
        ),
        Table(
            "operator_actions",
            Family.KEPT,
            "dashboard",
            "What a person did: acknowledged, noted, asked for an audit.",
            ("action_id",),
            (
                _text("action_id", ""),
                OBSERVED_AT,
                _text("action", "acknowledge, note, audit, cancel"),
                _text("finding_id", ""),
                _text("who", ""),
                _text("note", ""),
                Column("request", Type.JSON, "parameters of an audit"),
            ),
        ),
        Table(
            "part_events",
            Family.KEPT,
            "up",
            "Parts of Tidemark as they start, die and are restarted.",
            ("part", "observed_at"),
            (
                _text("part", "collect, maintain, jobs or page"),
                OBSERVED_AT,
                _text("event", "started, died or stopped"),
                _int("pid", ""),
                _int("exit_code", "null unless it ended"),
                _int("restarts", "since `up` began"),
                _text("message", "one sentence"),
            ),
        ),
        Table(
            "ledger",
            Family.METRIC,
            "jobs",
            "Covered ranges: what was read, completely, and when.",
            ("cluster_id", "topic_id", "partition", "first_offset"),
            (
                CLUSTER,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                _int("first_offset", "inclusive"),
                _int("next_offset", "exclusive"),
                _int("log_start_offset", "at the read"),
                _int("last_stable_offset", "at the read: no range passes it"),
                _int("high_watermark", "at the read"),
                _int("records", "visible records"),
                _int("records_without_id", "counted apart, never hashed"),
                _int("aborted_records", ""),
                _int("markers", "control records"),
                _int("sampled", "rows in id_samples"),
                Column("sampling_rate", Type.REAL, "share of ids kept, the same everywhere in a pipeline"),
                _text("state", "complete, or purged: the log start moved past it unread"),
                _text("segment", "name of the id_samples segment; null when no id was sampled"),
                _text("run_id", ""),
                OBSERVED_AT,
            ),
        ),
        Table(
            "duplicates",
            Family.METRIC,
            "jobs",
            "Extra copies found in a covered range, by cause and producers.",
            (
                "cluster_id",
                "topic_id",
                "partition",
                "first_offset",
                "cause",
                "first_producer_id",
                "producer_id",
                "producer_epoch",
            ),
            (
                CLUSTER,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                _int("first_offset", "of the covered range"),
                _text("cause", "see guarantees.audits.DuplicateCause"),
                _int("first_producer_id", "−1: none"),
                _int("producer_id", "of the later copies; −1: none"),
                _small("producer_epoch", "−1: none"),
                _int("sampled_extra_copies", "seen in the sample"),
                _int("estimate", ""),
                _int("lower", ""),
                _int("upper", ""),
                Column("sampling_rate", Type.REAL, ""),
                Column("horizon_s", Type.REAL, "how far back copies were sought"),
                _int("first_copy_offset", "lowest offset of a later copy"),
                _int("last_copy_offset", "highest"),
                Column("examples", Type.JSON, "up to 5: message_id, first and last copy"),
                _text("run_id", ""),
                OBSERVED_AT,
            ),
        ),
        Table(
            "lost_ids",
            Family.METRIC,
            "jobs",
            "Source ids the commit passed and the sink has not shown.",
            ("pipeline", "cluster_id", "topic_id", "partition", "offset"),
            (
                _text("pipeline", ""),
                CLUSTER,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                _int("offset", "in the source"),
                _int("id_hash", ""),
                _text("message_id", "null when only hashes are stored"),
                _text("state", "lost, or late: it came after all"),
                _time("record_observed_at", "when the record was first below the stable offset"),
                _time("passed_at", "first sample whose commit had passed it"),
                _time("decided_at", "when it was declared lost"),
                _text("found_at", "topic-partition:offset in the sink of a late one; else null"),
                _text("run_id", ""),
                OBSERVED_AT,
            ),
        ),
        Table(
            "losses",
            Family.METRIC,
            "jobs",
            "State of the comparison source → sink per source partition.",
            ("pipeline", "cluster_id", "topic_id", "partition"),
            (
                _text("pipeline", ""),
                CLUSTER,
                TOPIC,
                TOPIC_ID,
                PARTITION,
                _int("judged_from", "source offset from which ids were judged"),
                _int("judged_to", "exclusive"),
                _int("ids_judged", "sampled ids judged"),
                _int("ids_unseen", "waiting for the settle delay or the sink"),
                _int("ids_lost", "sampled"),
                _int("ids_late", "sampled"),
                _int("estimate", "lost, scaled by the rate"),
                _int("lower", ""),
                _int("upper", ""),
                Column("sampling_rate", Type.REAL, ""),
                Column("settle_s", Type.REAL, ""),
                Column("sink_read_to", Type.JSON, "[[partition, stable offset], …] up to which the sink was read"),
                _text("run_id", ""),
                OBSERVED_AT,
            ),
        ),
        Table(
            "job_runs",
            Family.METRIC,
            "jobs",
            "What the jobs did.",
            ("run_id",),
            (
                _text("run_id", ""),
                _text("job", "live, duplicates, losses, audit"),
                _text("pipeline", ""),
                _time("started_at", ""),
                _time("ended_at", "null while it runs"),
                _text("state", "running, done or failed"),
                _int("ranges", ""),
                _int("records", ""),
                _int("backlog", "offsets still unread at its end"),
                _text("message", "what went wrong, in one sentence"),
                _text("code_version", ""),
                OBSERVED_AT,
            ),
        ),
    )
}
