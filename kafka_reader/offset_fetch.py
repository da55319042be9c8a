"""OffsetFetch: what groups have committed; all groups of a coordinator in one request (v8, KIP-709)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kafka.protocol.consumer import OffsetFetchRequest

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import Answer, now_ms
from kafka_reader.commit_columns import CommitColumns, GroupSpans, decode
from kafka_reader.connection import Connections
from kafka_reader.errors import BrokerLateError, CollectionError, unknown_after, unknown_because
from kafka_reader.group_descriptions import NOT_NAMED
from kafka_reader.undecoded import Prepared, decoded

# v8: several groups in one request. v10 speaks of topic ids instead of names and is not asked for.
OLDEST_VERSION = 8
NEWEST_VERSION = 9

UNSTABLE_OFFSET_COMMIT = 88
# RequireStable (GroupCoordinatorService.fetchAllOffsets, 4.0 and later).
WAITS = "it may wait until what it wrote is replicated"
PENDING = Unknown("UNSTABLE_OFFSET_COMMIT: a transactional commit awaits its marker")


@dataclass(frozen=True, slots=True)
class FetchedCommit:
    """A group's commit of one partition: an offset, None where there is none, Unknown where it failed."""

    offset: int | Unknown | None
    leader_epoch: int | None
    is_pending: bool


class GroupCommits(Mapping[TopicPartition, FetchedCommit]):
    """All commits of one group: rows of its coordinator's answer, made into values one by one when looked at."""

    def __init__(self, columns: CommitColumns, spans: GroupSpans) -> None:
        self.columns = columns
        self.spans = spans

    def __getitem__(self, partition: TopicPartition) -> FetchedCommit:
        for topic, start, stop in self.spans.topics:
            if topic == partition.topic:
                for row in range(start, stop):
                    if self.columns.layout.partition[row] == partition.partition:
                        return commit(self.columns, row)
        raise KeyError(partition)

    def __iter__(self) -> Iterator[TopicPartition]:
        for topic, start, stop in self.spans.topics:
            for partition in self.columns.layout.partition[start:stop].tolist():
                yield TopicPartition(topic, partition)

    def __len__(self) -> int:
        return sum(span.stop - span.start for span in self.spans.topics)


@dataclass(frozen=True, slots=True)
class FetchedCommits:
    """All commits of one group, or why there are none to show."""

    partitions: GroupCommits | Unknown
    broker: int | None
    requested_at_ms: int | None
    observed_at_ms: int


def commits_request(group_ids: Iterable[str]) -> Prepared:
    """All partitions of all topics the groups have commits for.

    RequireStable: without it a commit that awaits its marker would show as the one before it. Topics the principal may
    not describe are left out of the answer without a word.
    """
    group, asked = OffsetFetchRequest.OffsetFetchRequestGroup, tuple(sorted(group_ids))
    request = OffsetFetchRequest(
        groups=[group(group_id=group_id, member_id=None, member_epoch=-1, topics=None) for group_id in asked],
        require_stable=True,
        min_version=OLDEST_VERSION,
        max_version=NEWEST_VERSION,
    )
    return Prepared(request, asked)


def fetch_commits(
    connections: Connections, groups_by_coordinator: Mapping[int, Iterable[str]]
) -> dict[str, FetchedCommits]:
    """One entry per group; a coordinator that does not answer leaves its groups Unknown."""
    requests = {
        broker: connections.prepared.get(commits_request, broker, groups)
        for broker, groups in groups_by_coordinator.items()
    }
    answers = connections.send_all(requests)
    at_ms = now_ms()
    return {
        group_id: fetched
        for broker, answer in answers.items()
        for group_id, fetched in parse_commits(requests[broker], answer, broker, at_ms).items()
    }


def parse_commits(
    request: Prepared, answer: Answer | CollectionError, broker: int, at_ms: int
) -> dict[str, FetchedCommits]:
    """One entry per group asked about. `at_ms`: when the wait ended."""
    columns = decoded(answer, f"broker {broker}", lambda data: decode(data, request.layout))
    if isinstance(answer, CollectionError) or isinstance(columns, CollectionError):
        return dict.fromkeys(request.asked, FetchedCommits(_why_none(columns), None, None, at_ms))
    request.layout = columns.layout
    return {
        group_id: FetchedCommits(_partitions(columns, group_id), broker, answer.requested_at_ms, answer.observed_at_ms)
        for group_id in request.asked
    }


def _why_none(error: CollectionError) -> Unknown:
    """A coordinator that is late may be well, and wait for a follower of its partition of __consumer_offsets."""
    return Unknown(f"{error}: {WAITS}") if isinstance(error, BrokerLateError) else unknown_after(error)


def _partitions(columns: CommitColumns, group_id: str) -> GroupCommits | Unknown:
    spans = columns.layout.groups.get(group_id)
    if spans is None:
        return NOT_NAMED
    return GroupCommits(columns, spans) if spans.error_code == 0 else unknown_because(spans.error_code)


def why_no_offset(error_code: int) -> Unknown | None:
    """What stands in place of an offset; None where the coordinator says that there is none."""
    if error_code == UNSTABLE_OFFSET_COMMIT:
        return PENDING
    return None if error_code == 0 else unknown_because(error_code)


def commit(columns: CommitColumns, row: int) -> FetchedCommit:
    """One row as a value."""
    error_code, offset, epoch = (
        int(c[row]) for c in (columns.error_code, columns.committed_offset, columns.leader_epoch)
    )
    if error_code != 0 or offset < 0:
        return FetchedCommit(why_no_offset(error_code), None, is_pending=error_code == UNSTABLE_OFFSET_COMMIT)
    return FetchedCommit(offset, epoch if epoch >= 0 else None, is_pending=False)
