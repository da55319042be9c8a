"""What each group has committed, read after the log starts and before the end offsets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa

from collectors.columns import numbers_or_null, reasons, repeated, texts
from collectors.commit_places import Ints, Places, Reads
from collectors.commit_table import Commits, answers_of
from collectors.group_list import GroupList
from collectors.signals import Answered
from guarantees.observations import CommittedOffset
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.groups import CLASSIC, CONSUMER
from kafka_reader.metadata import Topology
from kafka_reader.offset_fetch import PENDING, FetchedCommits, fetch_commits, why_no_offset

TABLE = "committed_offsets"

NO_COMMIT = "no commit"

# Share groups keep their offsets elsewhere; their commits are not what a classic consumer's are.
TYPES_WITH_COMMITS = (CLASSIC, CONSUMER, "streams")

T = TypeVar("T")


def collect(connections: Connections, groups: GroupList) -> dict[str, FetchedCommits]:
    """All groups of a coordinator in one request."""
    asked: dict[int, list[str]] = {}
    for group in groups.listed.values():
        if group.group_type in TYPES_WITH_COMMITS:
            asked.setdefault(group.coordinator, []).append(group.group_id)
    return fetch_commits(connections, asked)


def with_unavailable(
    fetched: Mapping[str, FetchedCommits], groups: GroupList, observed_at_ms: int
) -> dict[str, FetchedCommits]:
    """Remembered groups too: their commits are unknown, not gone."""
    return dict(fetched) | {
        group_id: FetchedCommits(reason, None, None, observed_at_ms) for group_id, reason in groups.unavailable.items()
    }


def values(fetched: Mapping[str, FetchedCommits]) -> Answered:
    """Everything asked for: a pending commit is an answer."""
    unread = [commits.partitions for commits in fetched.values() if isinstance(commits.partitions, Unknown)]
    failed: list[Unknown] = []
    asked = len(unread)
    for columns in answers_of(fetched):
        asked += len(columns.error_code)
        whys = map(why_no_offset, columns.error_code[columns.error_code != 0].tolist())
        failed += [why for why in whys if why is not None and why is not PENDING]
    return Answered(asked, [*unread, *failed])


def observations(found: Commits, topology: Topology) -> dict[GroupPartition, CommittedOffset]:
    """Of every group each watched partition of the topics it reads; where it never committed, None."""
    places = found.places
    offsets: list[int | Unknown | None] = found.offset.tolist()
    pending = [False] * len(offsets)
    for row, why in found.unknown.items():
        offsets[row], pending[row] = why, why is PENDING
    topic_ids = _named([topology.topic_ids.get(topic) for topic in places.topics], places.topic)
    observed_at = _named([found.fetched[group_id].observed_at_ms for group_id in places.groups], places.group)
    epochs = [epoch if epoch >= 0 else None for epoch in found.leader_epoch.tolist()]
    made = map(CommittedOffset, topic_ids, offsets, epochs, pending, observed_at)
    return dict(zip(places.keys, made, strict=True))


def _named(names: Sequence[T], numbers: Ints) -> list[T]:
    named: list[T] = np.array([*names, None], object)[numbers].tolist()
    return named


def partitions_read(
    before: Reads,
    found: Commits,
    places_before: Places | None,
    assigned: Mapping[str, Iterable[TopicPartition]],
    watched: Iterable[TopicPartition],
) -> Reads:
    """What the next round knows of each group: replaced by what the coordinator said, kept while it says nothing.

    The very same value as before where nothing has changed, so that nobody has to compare it; of partitions that are
    `watched` the very same keys.
    """
    if found.places is places_before and all(
        before[group_id].issuperset(its) for group_id, its in assigned.items() if group_id in before
    ):
        return before
    shared = {partition: partition for partition in watched}
    reads = {
        group_id: before.get(group_id, frozenset())
        if isinstance(commits.partitions, Unknown)
        else frozenset(shared.get(each, each) for each in (*commits.partitions, *assigned.get(group_id, ())))
        for group_id, commits in found.fetched.items()
    }
    return before if reads == before else reads


def rows(cluster_id: str, tick: int, found: Commits, topology: Topology) -> pa.Table:
    places, size = found.places, len(found.offset)
    by_group = [found.fetched[group_id] for group_id in places.groups]
    group, topic = pa.array(places.group), places.topic
    return pa.table(
        {
            "cluster_id": repeated(cluster_id, size, pa.string()),
            "tick": repeated(tick, size, pa.int64()),
            "group_id": texts(places.groups, places.group),
            "topic": texts(places.topics, topic),
            "topic_id": texts([topology.topic_ids.get(name) for name in places.topics], topic),
            "partition": places.partition,
            "committed_offset": numbers_or_null(found.offset, found.is_unknown),
            "committed_offset_unknown": reasons(size, found.unknown, absent=NO_COMMIT),
            "committed_leader_epoch": numbers_or_null(found.leader_epoch, found.leader_epoch < 0),
            "is_pending": found.is_pending,
            "broker": pa.array([each.broker for each in by_group], pa.int64()).take(group),
            "requested_at": pa.array([each.requested_at_ms for each in by_group], pa.int64()).take(group),
            "observed_at": pa.array([each.observed_at_ms for each in by_group], pa.int64()).take(group),
        }
    )
