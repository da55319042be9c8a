"""OffsetFetch: what groups have committed; all groups of a coordinator in one request (v8, KIP-709)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka.protocol.consumer import OffsetFetchRequest

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Answer, Connections, now_ms
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

# v8: several groups in one request. v10 speaks of topic ids instead of names and is not asked for.
OLDEST_VERSION = 8
NEWEST_VERSION = 9

UNSTABLE_OFFSET_COMMIT = 88
PENDING = Unknown("UNSTABLE_OFFSET_COMMIT: a transactional commit awaits its marker")


@dataclass(frozen=True, slots=True)
class FetchedCommit:
    """A group's commit of one partition: an offset, None where there is none, Unknown where it failed."""

    offset: int | Unknown | None
    leader_epoch: int | None
    is_pending: bool


@dataclass(frozen=True, slots=True)
class FetchedCommits:
    """All commits of one group, or why there are none to show."""

    partitions: Mapping[TopicPartition, FetchedCommit] | Unknown
    broker: int | None
    requested_at_ms: int | None
    observed_at_ms: int


def commits_request(group_ids: Iterable[str]) -> OffsetFetchRequest:
    """All partitions of all topics the groups have commits for.

    RequireStable: without it a commit that awaits its marker would show as the one before it. Topics the principal may
    not describe are left out of the answer without a word.
    """
    group = OffsetFetchRequest.OffsetFetchRequestGroup
    return OffsetFetchRequest(
        groups=[
            group(group_id=group_id, member_id=None, member_epoch=-1, topics=None) for group_id in sorted(group_ids)
        ],
        require_stable=True,
        min_version=OLDEST_VERSION,
        max_version=NEWEST_VERSION,
    )


def fetch_commits(
    connections: Connections, groups_by_coordinator: Mapping[int, Iterable[str]]
) -> dict[str, FetchedCommits]:
    """One entry per group; a coordinator that does not answer leaves its groups Unknown."""
    requests = {broker: commits_request(groups) for broker, groups in groups_by_coordinator.items()}
    answers = connections.send_all(requests)
    at_ms = now_ms()
    return {
        group_id: fetched
        for broker, answer in answers.items()
        for group_id, fetched in parse_commits(requests[broker], answer, broker, at_ms).items()
    }


def parse_commits(
    request: OffsetFetchRequest, answer: Answer | CollectionError, broker: int, at_ms: int
) -> dict[str, FetchedCommits]:
    """One entry per group asked about. `at_ms`: when the wait ended."""
    asked = [group.group_id for group in request.groups]
    if isinstance(answer, CollectionError):
        return dict.fromkeys(asked, FetchedCommits(unknown_after(answer), None, None, at_ms))
    given = {group.group_id: group for group in answer.response.groups}
    return {
        group_id: FetchedCommits(
            _partitions(given.get(group_id)), broker, answer.requested_at_ms, answer.observed_at_ms
        )
        for group_id in asked
    }


def _partitions(group: Any) -> dict[TopicPartition, FetchedCommit] | Unknown:
    if group is None:
        return Unknown("the coordinator's answer does not name the group")
    if group.error_code != 0:
        return unknown_because(group.error_code)
    return {
        TopicPartition(topic.name, part.partition_index): _commit(part)
        for topic in group.topics
        for part in topic.partitions
    }


def _commit(part: Any) -> FetchedCommit:
    if part.error_code == UNSTABLE_OFFSET_COMMIT:
        return FetchedCommit(PENDING, None, is_pending=True)
    if part.error_code != 0:
        return FetchedCommit(unknown_because(part.error_code), None, is_pending=False)
    if part.committed_offset < 0:
        return FetchedCommit(None, None, is_pending=False)
    epoch = part.committed_leader_epoch
    return FetchedCommit(part.committed_offset, epoch if epoch >= 0 else None, is_pending=False)
