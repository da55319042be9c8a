"""Transactions of the story: a normal one, a late one, a hanging one, one with a hostile name, and how others ended.

Markers of commits and aborts over the minutes before the story's end; a producer that was fenced.
"""

import json
from collections.abc import Iterator, Sequence

from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from store.log import SegmentLog

STEP_MS, MINUTE_MS = 5_000, 60_000
BASE_OFFSET = 9_007_199_254_740_993
TOPIC, TOPIC_ID = "transfers", "7d0a5b1e-3c4d-4e5f-8a9b-0c1d2e3f4a5b"
GROUP = "transfer-ledger"
HOSTILE_ID = "a\"b'; $(touch /tmp/owned) `id`\n<img src=x onerror=alert(1)> :red[x] \u202e" + "x" * 90
HANGING, NORMAL, LATE, HOSTILE = "9001-7", "9002-3", "9003-11", "9004-0"
# Markers a minute of the two producers that work.
MINUTES, COMMITS, ABORTS = 8, 6, 1
RAISED_EPOCHS = 9010  # ends every transaction under another epoch (transaction.version 2)
SAME_EPOCH = 9011


def write(log: SegmentLog, cluster_id: str, start_ms: int, story_ms: int, end_ms: int) -> None:
    """Rounds run from start to end; the last marker is written before `story_ms`."""
    rounds = list(ticks(start_ms, end_ms))
    log.append("open_transactions", list(_transactions(cluster_id, start_ms, story_ms, end_ms)))
    log.append("open_producers", list(_producers(cluster_id, start_ms, story_ms, end_ms)))
    log.append("partition_offsets", [row for tick, at in rounds for row in _offsets(cluster_id, tick, at)])
    log.append("committed_offsets", [row for tick, at in rounds for row in _commits(cluster_id, tick, at)])
    log.append("header_ranges", list(_ranges(cluster_id, start_ms, story_ms, end_ms)))
    first_ms = story_ms - story_ms % MINUTE_MS - MINUTES * MINUTE_MS
    for minute in range(MINUTES):
        for partition in (1, 2):
            write_markers(log, list(_markers(cluster_id, partition, minute, first_ms + minute * MINUTE_MS)))


def write_markers(log: SegmentLog, rows: Sequence[dict[str, object]]) -> None:
    """One range that a round read of a partition."""
    log.append_range(
        "batch_headers",
        rows,
        topic_id_hex=TOPIC_ID.replace("-", ""),
        partition=int(str(rows[0]["partition"])),
        first=int(str(rows[0]["base_offset"])),
        last=int(str(rows[-1]["base_offset"])),
        observed_at_ms=int(str(rows[-1]["observed_at"])),
    )


def ticks(start_ms: int, end_ms: int) -> Iterator[tuple[int, int]]:
    for tick in range((end_ms - start_ms) // STEP_MS):
        yield tick, start_ms + (tick + 1) * STEP_MS - 1_000


def _lasting(from_ms: int, end_ms: int) -> dict[str, object]:
    return {"started_at": from_ms, "last_seen_at": end_ms - 1_000}


def _transactions(cluster_id: str, start_ms: int, story_ms: int, end_ms: int) -> Iterator[dict[str, object]]:
    def one(name: str, producer: int, epoch: int, partitions: list[int], timeout_ms: int, began_ms: int):
        return {
            "cluster_id": cluster_id, "transactional_id": name, "producer_id": producer, "producer_epoch": epoch,
            "state": "Ongoing", "timeout_ms": timeout_ms, "transaction_started_at": began_ms, "coordinator": 3,
            "partitions": json.dumps([[TOPIC, number] for number in partitions]),
        }  # fmt: skip

    day = 86_400_000
    yield one("transfer-tx-0", 9002, 3, [1], day, story_ms - 20_000) | _lasting(story_ms - 18_000, end_ms)
    # Ended three minutes ago, at four fifths of its timeout and more.
    slow_ms = story_ms - 3 * MINUTE_MS
    yield one("transfer-tx-slow", 9005, 1, [1], 60_000, slow_ms - 55_000) | {
        "started_at": slow_ms - 53_000, "last_seen_at": slow_ms, "ended_before": slow_ms + STEP_MS,
        "ended_reason": "no longer open",
    }  # fmt: skip
    # Past four fifths of its timeout for the next twenty minutes.
    yield one("transfer-tx-1", 9003, 11, [2, 3], 120 * MINUTE_MS, story_ms - 100 * MINUTE_MS) | _lasting(
        start_ms, end_ms
    )
    yield one(HOSTILE_ID, 9004, 0, [4], day, story_ms - 15_000) | _lasting(story_ms - 14_000, end_ms)


def _producers(cluster_id: str, start_ms: int, story_ms: int, end_ms: int) -> Iterator[dict[str, object]]:
    """The hanging one holds partition 0; partition 3 of the late one is held by nobody, nothing is written there."""
    for producer, epoch, partition, began_ms in (
        (9001, 7, 0, start_ms),
        (9002, 3, 1, story_ms - 18_000),
        (9003, 11, 2, start_ms),
    ):
        yield {
            "cluster_id": cluster_id, "topic": TOPIC, "topic_id": TOPIC_ID, "partition": partition,
            "producer_id": producer, "producer_epoch": epoch, "last_sequence": 40 + partition,
            "current_transaction_start_offset": stable_offset(partition), "last_timestamp": began_ms - 1_000,
            "coordinator_epoch": 5, **_lasting(began_ms, end_ms),
        }  # fmt: skip


def stable_offset(partition: int) -> int:
    return BASE_OFFSET + 1_000 * (partition + 1)


def held_back(partition: int) -> int:
    """Offsets from the stable offset to the high watermark; 3 has none, of 4 no leader tells who holds it."""
    return {0: 410, 1: 7, 2: 1_900, 3: 0, 4: 12}[partition]


def _offsets(cluster_id: str, tick: int, at: int) -> Iterator[dict[str, object]]:
    for partition in range(5):
        stable = stable_offset(partition)
        yield {
            "cluster_id": cluster_id, "tick": tick, "topic": TOPIC, "topic_id": TOPIC_ID, "partition": partition,
            "log_start_offset": BASE_OFFSET, "last_stable_offset": stable,
            "high_watermark": stable + held_back(partition), "leader_epoch": 2, "broker": partition % 3 + 1,
            "log_start_observed_at": at - 60, "requested_at": at - 20, "observed_at": at,
        }  # fmt: skip


def _commits(cluster_id: str, tick: int, at: int) -> Iterator[dict[str, object]]:
    """It waits at the stable offset of partition 0, is past that of partition 1 and behind that of partition 2."""
    for partition, ahead in ((0, 0), (1, 5), (2, -300)):
        yield {
            "cluster_id": cluster_id, "tick": tick, "group_id": GROUP, "topic": TOPIC, "topic_id": TOPIC_ID,
            "partition": partition, "committed_offset": stable_offset(partition) + ahead, "is_pending": False,
            "broker": 1, "requested_at": at - 50, "observed_at": at - 40,
        }  # fmt: skip


def _markers(cluster_id: str, partition: int, minute: int, begin_ms: int) -> Iterator[dict[str, object]]:
    """A minute holds six commits of one epoch on two partitions each, and an abort under a raised epoch on one."""
    for number in range(COMMITS):
        yield marker(cluster_id, SAME_EPOCH, 4, partition, "commit", begin_ms + 1_000 * number, minute * 50 + number)
    if partition == 2:
        yield marker(cluster_id, RAISED_EPOCHS, 20 + minute, 2, "abort", begin_ms + 30_000, minute * 50 + 20)


def marker(
    cluster_id: str, producer: int, epoch: int, partition: int, marker: str, at: int, offset: int
) -> dict[str, object]:
    return {
        "cluster_id": cluster_id, "topic": TOPIC, "topic_id": TOPIC_ID, "partition": partition,
        "base_offset": BASE_OFFSET + offset, "last_offset": BASE_OFFSET + offset, "records": 1,
        "producer_id": producer, "producer_epoch": epoch, "leader_epoch": 2, "is_transactional": True,
        "marker": marker, "coordinator_epoch": 5, "crc": 1, "body_hash": 1, "size_bytes": 78,
        "base_timestamp_ms": at, "max_timestamp_ms": at, "is_log_append_time": False, "observed_at": at + 2_000,
    }  # fmt: skip


def _ranges(cluster_id: str, start_ms: int, story_ms: int, end_ms: int) -> Iterator[dict[str, object]]:
    for minute in range((end_ms - start_ms) // MINUTE_MS):
        at = start_ms + minute * MINUTE_MS + 4_000
        known = {"cluster_id": cluster_id, "topic": TOPIC, "topic_id": TOPIC_ID, "observed_at": at}
        yield known | {"partition": 2, "first_offset": minute * 50, "next_offset": minute * 50 + 50,
                       "log_start_offset": 0, "cleanup_policy": "delete"}  # fmt: skip
        if at < story_ms:
            yield known | {"partition": 4, "first_offset": 0, "next_offset": 0,
                           "problem": "not permitted: TOPIC_AUTHORIZATION_FAILED (29)"}  # fmt: skip


def findings(cluster_id: str, story_ms: int) -> list[Finding]:
    return [fenced(cluster_id, story_ms), timed_out(cluster_id, story_ms)]


def fenced(cluster_id: str, story_ms: int) -> Finding:
    at = story_ms - 6 * MINUTE_MS
    fencings = [
        {"data_epoch": 8, "marker_epoch": 9, "topic": TOPIC, "partition": 2, "marker_offset": BASE_OFFSET + 520,
         "ended_at_ms": at},
        {"data_epoch": 10, "marker_epoch": 11, "topic": TOPIC, "partition": 2, "marker_offset": BASE_OFFSET + 540,
         "ended_at_ms": at + MINUTE_MS},
    ]  # fmt: skip
    text = "A transaction of producer 9003 was aborted under epoch 11, one above its data's."
    return Finding(
        kind=Kind.PRODUCER_FENCED,
        place=Place(cluster_id, TOPIC, TOPIC_ID, None, None),
        anchor="producer 9003",
        severity=1,
        title="transfers: producer 9003 was fenced",
        statements=(Statement(Grade.PROVEN, text),),
        bounds=None,
        evidence={"producer_id": 9003, "raises_epoch_at_every_end": False, "fencings": fencings},
        happened_at_ms=at,
        last_seen_at_ms=at + MINUTE_MS,
    )


def timed_out(cluster_id: str, story_ms: int) -> Finding:
    at = story_ms - 4 * MINUTE_MS
    text = "The transaction was aborted after 61 s, at its timeout of 60 s."
    return Finding(
        kind=Kind.TRANSACTION_TIMED_OUT,
        place=Place(cluster_id, TOPIC, TOPIC_ID, 2, None),
        anchor=f"producer 9006, epoch 5, offset {BASE_OFFSET + 600}",
        severity=3,
        title="transfers-2: transaction of transfer-tx-9 aborted at its timeout",
        statements=(Statement(Grade.PROBABLE, text, "no new instance fenced the producer meanwhile"),),
        bounds=Bounds(12, 12, 12, Unit.RECORDS),
        evidence={
            "transactional_id": "transfer-tx-9", "producer_id": 9006, "data_epoch": 5, "marker_epoch": 6,
            "first_offset": BASE_OFFSET + 600, "marker_offset": BASE_OFFSET + 612,
            "transaction_started_at_ms": at - 61_000, "transaction_timeout_ms": 60_000, "aborted_at_ms": at,
            "last_offset": BASE_OFFSET + 612,
        },
        happened_at_ms=at,
        last_seen_at_ms=at + 5_000,
    )  # fmt: skip
