"""One event with its consequences: an unclean election cuts a log, the group falls back, its sink gets duplicates.

`orders-0` elects another leader seven minutes before the story ends, as its states in the store say. The same on many
partitions, a second later each, is `on_many`.
"""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Place, Statement, Unit
from tests.dashboard import fixture_store as cluster

LOST = 120  # offsets that the new leader does not have
AGAIN = 40  # of them the group had not committed yet
OLD_END = cluster.BASE_OFFSET + 6_240
END = OLD_END - LOST


def elected_at(story_ms: int) -> int:
    return story_ms - 7 * cluster.MINUTE_MS + cluster.STEP_MS


def findings(story_ms: int) -> list[Finding]:
    """From the first cause to the last consequence; all open."""
    return [unclean(story_ms), truncated(story_ms), ahead(story_ms), rewind(story_ms), duplicates(story_ms)]


def unclean(story_ms: int, partition: int = 0) -> Finding:
    return _finding(
        Kind.UNCLEAN_ELECTION, story_ms, 0, partition, "leader epoch 3", 4,
        f"Broker 1 became leader of orders-{partition}, not in sync when last seen",
        Statement(Grade.PROBABLE, "Broker 1 leads in epoch 3 and was not in sync in epoch 2: an unclean election.",
                  "the in-sync replicas did not change between the two samples"),
        None,
        {"leader_before": 2, "leader": 1, "leader_epoch_before": 2, "leader_epoch": 3,
         "in_sync_replicas_before": [2], "in_sync_replicas": [1]},
    )  # fmt: skip


def truncated(story_ms: int, partition: int = 0) -> Finding:
    return _finding(
        Kind.LOG_TRUNCATED, story_ms, 5, partition, "leader epoch 3", 4,
        f"The log of orders-{partition} was cut by {LOST} offsets",
        Statement(Grade.PROVEN, f"The high watermark fell from {OLD_END} to {END} under leader epoch 3."),
        Bounds(LOST, LOST, LOST, Unit.OFFSETS),
        {"leader_epoch_before": 2, "leader_epoch": 3, "high_watermark_before": OLD_END, "high_watermark": END,
         "first_lost_offset": END, "leader_before": 2, "leader": 1},
    )  # fmt: skip


def ahead(story_ms: int) -> Finding:
    return _finding(
        Kind.COMMITTED_AHEAD, story_ms, 10, 0, str(OLD_END - AGAIN), 3,
        "order-service has committed beyond the end of orders-0",
        Statement(Grade.PROVEN, "The committed offset lies beyond the high watermark."),
        Bounds(LOST - AGAIN, LOST - AGAIN, LOST - AGAIN, Unit.OFFSETS),
        {"committed_offset": OLD_END - AGAIN, "high_watermark": END},
        group_id="order-service",
    )  # fmt: skip


def rewind(story_ms: int) -> Finding:
    return _finding(
        Kind.REWIND, story_ms, 20, 0, str(OLD_END - AGAIN), 3, "order-service went back on orders-0 after the cut",
        Statement(Grade.PROVEN, "The committed offset fell; the records in between may be read again."),
        Bounds(0, AGAIN, AGAIN, Unit.OFFSETS),
        {"committed_offset_before": OLD_END - AGAIN, "committed_offset": END - AGAIN},
        group_id="order-service",
    )  # fmt: skip


def duplicates(story_ms: int) -> Finding:
    return replace(
        _finding(
            Kind.DUPLICATE_WRITE, story_ms, 60, 1, "sent_again:7020:0", 3, "17 records of payments-1 stored twice",
            Statement(Grade.PROVEN, "The same message ids are stored at two offsets."),
            Bounds(17, 17, 17, Unit.RECORDS),
            {"first_offset": cluster.BASE_OFFSET + 2_000, "last_offset": cluster.BASE_OFFSET + 2_016},
        ),
        place=Place(cluster.CLUSTER_ID, "payments", cluster.PAYMENTS.topic_id, 1, None),
    )  # fmt: skip


def on_many(story_ms: int, partitions: int) -> Iterator[Finding]:
    """The election and the cut on so many partitions of orders, a few milliseconds apart."""
    for make in (unclean, truncated):
        for number in range(partitions):
            one = make(story_ms, number)
            yield replace(one, happened_at_ms=one.happened_at_ms + number)


def _finding(
    kind: Kind, story_ms: int, after_s: int, partition: int, anchor: str, severity: int, title: str,
    said: Statement, bounds: Bounds | None, evidence: Evidence, group_id: str | None = None,
) -> Finding:  # fmt: skip
    at_ms = elected_at(story_ms) + 1000 * after_s
    place = Place(cluster.CLUSTER_ID, "orders", cluster.ORDERS.topic_id, partition, group_id)
    return Finding(kind, place, anchor, severity, title, (said,), bounds, evidence, at_ms, at_ms + 30_000)
