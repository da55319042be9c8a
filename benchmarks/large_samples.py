"""Samples and roll-ups of the large cluster as Arrow tables, a minute or a round at a time."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from benchmarks.large_cluster import BROKERS, CLUSTER_ID, SILENT, Cluster
from guarantees.lag import NO_COMMIT
from guarantees.observations import Signal
from store.contracts import TABLES
from store.publish import ROW_GROUP
from store.segments import MINUTE_MS
from store.types import arrow_schema

CLUSTER_NAME = "production"
SAMPLES_A_MINUTE = 12
ANSWERED_AFTER_MS = 700  # of a round: when its offsets had arrived


def named(names: Sequence[str], numbers: np.ndarray) -> pa.Array:
    """The names by their numbers, as text."""
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), pa.array(names)).cast(pa.string())


def repeated(text: str, length: int) -> pa.Array:
    return named([text], np.zeros(length, np.int32))


def times(at_ms: np.ndarray) -> pa.Array:
    return pa.array(at_ms, pa.timestamp("ms", tz="UTC"))


def rounds(first_tick: int, starts_ms: np.ndarray, step_ms: int, cluster: Cluster) -> pa.Table:
    """Coverage of every signal of the rounds that began then."""
    signals, count = [signal.value for signal in Signal], len(starts_ms)
    size = cluster.size
    places = size.pairs * size.partitions
    answers = {"committed_offsets": places, "groups": size.groups, "configs": size.topics, "transactions": 40}
    asked = [answers.get(signal, size.topics * size.partitions) for signal in signals]
    numbers = np.tile(np.arange(len(signals)), count)
    begun = np.repeat(starts_ms, len(signals))
    return pa.table(
        {
            "cluster_id": repeated(CLUSTER_ID, len(numbers)),
            "cluster": repeated(CLUSTER_NAME, len(numbers)),
            "tick": np.repeat(first_tick + np.arange(count), len(signals)),
            "signal": named(signals, numbers),
            "started_at": times(begun + 20 * numbers),
            "observed_at": times(begun + ANSWERED_AFTER_MS),
            "asked": np.array(asked)[numbers],
            "answered": np.array(asked)[numbers],
            "refused": np.zeros(len(numbers), np.int64),
            "failed": np.zeros(len(numbers), np.int64),
            "interval_ms": np.full(len(numbers), step_ms),
        }
    )


def committed_offsets(tick: int, start_ms: int, cluster: Cluster) -> pa.Table:
    """Of every group-partition in the round that began then."""
    number = len(cluster.place_group)
    partition = cluster.place_topic * cluster.size.partitions + cluster.place_partition
    offsets = cluster.high_watermarks(start_ms)[partition] - cluster.lags(start_ms)
    silent, never = cluster.is_silent(start_ms), cluster.never_committed
    reason = np.where(silent, 1, 0).astype(np.int32)
    unknown = pa.DictionaryArray.from_arrays(
        pa.array(reason, mask=~(silent | never)), pa.array([NO_COMMIT.reason, SILENT])
    )
    return pa.table(
        {
            "cluster_id": repeated(CLUSTER_ID, number),
            "tick": np.full(number, tick),
            "group_id": named(cluster.groups, cluster.place_group),
            "topic": named(cluster.topics, cluster.place_topic),
            "topic_id": named(cluster.topic_ids, cluster.place_topic),
            "partition": pa.array(cluster.place_partition, pa.int32()),
            "committed_offset": pa.array(offsets, mask=silent | never),
            "committed_offset_unknown": unknown.cast(pa.string()),
            "is_pending": np.zeros(number, bool),
            "broker": pa.array(cluster.place_group % BROKERS + 1, pa.int32()),
            "requested_at": times(np.full(number, start_ms + 100)),
            "observed_at": times(np.full(number, start_ms + 300)),
        }
    )


def partition_offsets(tick: int, start_ms: int, cluster: Cluster) -> pa.Table:
    """Of every partition in the round that began then, by topic id and partition."""
    topics, partitions, chosen = _partitions(cluster)
    high_watermark, number = cluster.high_watermarks(start_ms)[chosen], len(topics)
    return pa.table(
        {
            "cluster_id": repeated(CLUSTER_ID, number),
            "tick": np.full(number, tick),
            "topic": named(cluster.topics, topics),
            "topic_id": named(cluster.topic_ids, topics),
            "partition": pa.array(partitions, pa.int32()),
            "log_start_offset": high_watermark - 3_000_000,
            "last_stable_offset": high_watermark,
            "high_watermark": high_watermark,
            "leader_epoch": np.full(number, 7),
            "broker": pa.array(chosen % BROKERS + 1, pa.int32()),
            "log_start_observed_at": times(np.full(number, start_ms + 80)),
            "requested_at": times(np.full(number, start_ms + 500)),
            "observed_at": times(np.full(number, start_ms + ANSWERED_AFTER_MS)),
        }
    )


def replica_offsets(tick: int, start_ms: int, cluster: Cluster) -> pa.Table:
    """Log ends of three replicas of every partition; the third is a little behind on one partition in fifty."""
    topics, partitions, chosen = (np.repeat(column, 3) for column in _partitions(cluster))
    number = len(topics)
    replica = np.tile(np.arange(3), number // 3)
    behind = np.where((replica == 2) & (chosen % 50 == 0), 900, 0)
    return pa.table(
        {
            "cluster_id": repeated(CLUSTER_ID, number),
            "tick": np.full(number, tick),
            "topic": named(cluster.topics, topics),
            "topic_id": named(cluster.topic_ids, topics),
            "partition": pa.array(partitions, pa.int32()),
            "replica": pa.array((chosen + replica) % BROKERS + 1, pa.int32()),
            "log_end_offset": cluster.high_watermarks(start_ms)[chosen] - behind,
            "leader_epoch": np.full(number, 7),
            "requested_at": times(np.full(number, start_ms + 600)),
            "observed_at": times(np.full(number, start_ms + ANSWERED_AFTER_MS)),
        }
    )


def lag_minutes(first_minute: int, last_minute: int, cluster: Cluster) -> pa.RecordBatchReader:
    """The minute roll-up from one minute to another, both included, sorted as the maintainer writes it."""
    minutes = np.arange(first_minute, last_minute + 1)
    schema = arrow_schema(TABLES["lag_minute"])
    step = max(1, ROW_GROUP // len(minutes))

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, len(cluster.place_group), step):
            yield from _lag_minutes(slice(start, start + step), minutes, cluster).cast(schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def _lag_minutes(places: slice, minutes: np.ndarray, cluster: Cluster) -> pa.Table:
    group, topic = cluster.place_group[places], cluster.place_topic[places]
    lags = np.stack([cluster.lags(int(minute) * MINUTE_MS, places) for minute in minutes], axis=1).ravel()
    silent = np.stack([cluster.is_silent(int(minute) * MINUTE_MS, places) for minute in minutes], axis=1).ravel()
    never = np.repeat(cluster.never_committed[places], len(minutes))
    is_unknown = silent | never
    reason = pa.DictionaryArray.from_arrays(
        pa.array(silent.astype(np.int32), mask=~is_unknown), pa.array([NO_COMMIT.reason, SILENT])
    )
    number = len(lags)
    return pa.table(
        {
            "cluster_id": repeated(CLUSTER_ID, number),
            "group_id": named(cluster.groups, np.repeat(group, len(minutes))),
            "topic": named(cluster.topics, np.repeat(topic, len(minutes))),
            "topic_id": named(cluster.topic_ids, np.repeat(topic, len(minutes))),
            "partition": pa.array(np.repeat(cluster.place_partition[places], len(minutes)), pa.int32()),
            "observed_at": times(np.tile(minutes * MINUTE_MS, len(group))),
            "lag_min": pa.array(lags - lags // 8, mask=is_unknown),
            "lag_max": pa.array(lags + lags // 8, mask=is_unknown),
            "lag_last": pa.array(lags, mask=is_unknown),
            "samples": np.full(number, SAMPLES_A_MINUTE),
            "unknown": np.where(is_unknown, SAMPLES_A_MINUTE, 0),
            "unknown_reason": reason.cast(pa.string()),
        }
    )


def _partitions(cluster: Cluster) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Topic and partition of every partition, by topic id, and its position by topic."""
    by_id = np.array(sorted(range(cluster.size.topics), key=cluster.topic_ids.__getitem__))
    topics = np.repeat(by_id, cluster.size.partitions)
    partitions = np.tile(np.arange(cluster.size.partitions), cluster.size.topics)
    return topics, partitions, topics * cluster.size.partitions + partitions
