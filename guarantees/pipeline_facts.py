"""What is known of a pipeline beyond its findings: the facts that a promise is inferred from and audited against."""

from collections.abc import Mapping
from dataclasses import dataclass

from guarantees.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Producers:
    """Whose batches the sampled records of a topic came in: how many records in all, with a producer id (idempotent
    producers alone have one), and in a transaction."""

    records: int
    idempotent: int
    transactional: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFacts:
    """A topic that a pipeline reads or writes. Of several partitions the weakest counts.

    `retention_ms` None: kept for ever (retention.ms = -1). `sampling_rate`: the share of its message ids that is kept.
    """

    name: str
    replication_factor: int | Unknown
    min_insync_replicas: int | Unknown
    unclean_leader_election: bool | Unknown
    retention_ms: int | None | Unknown
    cleanup_policy: str | Unknown
    producers: Producers | Unknown
    sampling_rate: float | Unknown


@dataclass(frozen=True, slots=True)
class Commits:
    """A group's commits on its source now: partitions with and without one, and how many could not be read."""

    partitions: int
    without_commit: int
    unknown: int
    unknown_reason: str | None


@dataclass(frozen=True, slots=True)
class Backlog:
    """What the group has not read: how many offsets, and how long the oldest of them has waited.

    The wait is between `waited_at_least_ms` (it was already there then) and `waited_at_most_ms` (all had been read
    then); None: no such sample.
    """

    unread: int
    waited_at_least_ms: int
    waited_at_most_ms: int | None


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction seen open: its id, the topics it writes, and whether it commits offsets of a group."""

    transactional_id: str
    topics: frozenset[str]
    commits_offsets: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineFacts:
    """`pending_commit_at_ms`: when a commit of the group last awaited a transaction's marker, None where none did.

    `commit_moves`: how often its commits moved, over how many ms. `transaction_version`: the cluster's feature
    (KIP-890). `refused`: signals of the newest round the broker refused, with its words.
    """

    source: TopicFacts
    sink: TopicFacts | None
    commits: Commits | Unknown
    pending_commit_at_ms: int | None | Unknown
    commit_moves: tuple[int, int] | Unknown
    backlog: Backlog | Unknown
    transactions: tuple[OpenTransaction, ...] | Unknown
    transaction_version: int | Unknown
    refused: Mapping[str, str] | Unknown

    @property
    def topics(self) -> tuple[TopicFacts, ...]:
        return (self.source,) if self.sink is None else (self.source, self.sink)
