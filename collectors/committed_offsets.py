"""What each group has committed, read after the log starts and before the end offsets."""

from collections.abc import Iterable, Iterator, Mapping

from collectors.group_list import GroupList
from collectors.rows import Row, known_or_reason
from guarantees.observations import CommittedOffset
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.groups import CLASSIC, CONSUMER
from kafka_reader.metadata import Topology
from kafka_reader.offset_fetch import FetchedCommit, FetchedCommits, fetch_commits

TABLE = "committed_offsets"

NO_COMMIT = "no commit"

# Share groups keep their offsets elsewhere; their commits are not what a classic consumer's are.
TYPES_WITH_COMMITS = (CLASSIC, CONSUMER, "streams")

# Partitions a group is known to read, by group: from earlier commits and assignments.
Reads = Mapping[str, frozenset[TopicPartition]]


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


def observations(
    fetched: Mapping[str, FetchedCommits], reads: Reads, watched: frozenset[TopicPartition], topology: Topology
) -> dict[GroupPartition, CommittedOffset]:
    """Of every group each watched partition of the topics it reads; where it never committed, None."""
    return {
        GroupPartition(group_id, partition.topic, partition.partition): CommittedOffset(
            topic_id=topology.topic_ids.get(partition.topic),
            committed_offset=commit.offset,
            committed_leader_epoch=commit.leader_epoch,
            is_pending=commit.is_pending,
            observed_at_ms=commits.observed_at_ms,
        )
        for group_id, commits in fetched.items()
        for partition, commit in _commits(commits, reads.get(group_id, frozenset()), watched)
    }


def _commits(
    commits: FetchedCommits, reads: frozenset[TopicPartition], watched: frozenset[TopicPartition]
) -> Iterator[tuple[TopicPartition, FetchedCommit]]:
    if isinstance(commits.partitions, Unknown):
        unknown = FetchedCommit(commits.partitions, None, is_pending=False)
        yield from ((partition, unknown) for partition in sorted(reads & watched))
        return
    topics = {partition.topic for partition in (*commits.partitions, *reads)}
    never = FetchedCommit(None, None, is_pending=False)
    for partition in sorted(watched):
        if partition.topic in topics:
            yield partition, commits.partitions.get(partition, never)


def values(fetched: Mapping[str, FetchedCommits]) -> Iterator[object]:
    """Everything asked for: a pending commit is an answer."""
    for commits in fetched.values():
        if isinstance(commits.partitions, Unknown):
            yield commits.partitions
        else:
            yield from (None if commit.is_pending else commit.offset for commit in commits.partitions.values())


def partitions_read(
    before: Reads, fetched: Mapping[str, FetchedCommits], assigned: Mapping[str, Iterable[TopicPartition]]
) -> dict[str, frozenset[TopicPartition]]:
    """What the next round knows of each group: replaced by what the coordinator said, kept while it says nothing."""
    return {
        group_id: before.get(group_id, frozenset())
        if isinstance(commits.partitions, Unknown)
        else frozenset(commits.partitions) | frozenset(assigned.get(group_id, ()))
        for group_id, commits in fetched.items()
    }


def rows(
    cluster_id: str,
    tick: int,
    commits: Mapping[GroupPartition, CommittedOffset],
    fetched: Mapping[str, FetchedCommits],
) -> list[Row]:
    return [
        {
            "cluster_id": cluster_id,
            "tick": tick,
            "group_id": key.group_id,
            "topic": key.topic,
            "topic_id": commit.topic_id,
            "partition": key.partition,
            **known_or_reason("committed_offset", commit.committed_offset, absent=NO_COMMIT),
            "committed_leader_epoch": commit.committed_leader_epoch,
            "is_pending": commit.is_pending,
            "broker": fetched[key.group_id].broker,
            "requested_at": fetched[key.group_id].requested_at_ms,
            "observed_at": commit.observed_at_ms,
        }
        for key, commit in commits.items()
    ]
