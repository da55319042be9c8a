"""Commits as their coordinators wrote them, of the groups and topics that are watched."""

from collections.abc import Iterable, Mapping
from functools import cache

from collectors.log_rows import believed, place
from collectors.rows import Row, known_or_reason
from guarantees.commit_history import CommitEvent
from guarantees.internal_records import Committed, Logged, OffsetCommit
from guarantees.lag import NO_COMMIT
from guarantees.unknown import Unknown
from settings import ClusterSettings

TABLE = "commits"
_METADATA_LENGTH = 200


def watched(settings: ClusterSettings, records: Iterable[Logged]) -> list[Logged]:
    """Commits of the groups and topics that are watched; few names come many times."""
    watches_group, watches_topic = cache(settings.watches_group), cache(settings.watches_topic)
    return [
        record
        for record in records
        if isinstance(record.content, OffsetCommit)
        and watches_group(record.content.place.group_id)
        and watches_topic(record.content.place.topic)
    ]


def rows(cluster_id: str, found: Iterable[CommitEvent], read_at_ms: Mapping[int, int]) -> list[Row]:
    """`read_at_ms`: when each partition of the log was read."""
    return [_row(cluster_id, event, read_at_ms[event.record.partition]) for event in found]


def _row(cluster_id: str, event: CommitEvent, read_at_ms: int) -> Row:
    before, now = event.before, event.committed
    return {
        "cluster_id": cluster_id,
        "group_id": event.place.group_id,
        "topic": event.place.topic,
        "topic_id": None if now is None else now.topic_id,
        "partition": event.place.partition,
        **known_or_reason(
            "previous_offset", before.offset if isinstance(before, Committed) else before, absent=NO_COMMIT.reason
        ),
        "previous_committed_at": None
        if before is None or isinstance(before, Unknown)
        else believed(before.committed_at_ms, read_at_ms),
        "committed_offset": None if now is None else now.offset,
        "committed_leader_epoch": None if now is None else now.leader_epoch,
        "metadata": None if now is None else now.metadata[:_METADATA_LENGTH],
        "committed_at": believed(event.record.at_ms if now is None else now.committed_at_ms, read_at_ms),
        "commits": event.commits,
        "producer_id": event.record.producer_id,
        **place(event.record, read_at_ms),
    }
