"""Small histories: one group, one topic, one partition, and only what a test is about."""

from collections.abc import Iterable, Mapping, Sequence

from guarantees.findings import Finding, Kind
from guarantees.lag import Lag, consumer_lag
from guarantees.memory import Memory
from guarantees.observations import (
    CommittedOffset,
    Coverage,
    EpochEnd,
    GroupState,
    Member,
    OpenProducer,
    PartitionOffsets,
    PartitionState,
    ReplicaOffset,
    Round,
    Signal,
    Transaction,
)
from guarantees.places import GroupPartition, TopicPartition
from guarantees.thresholds import Thresholds
from guarantees.topic_settings import MIN_INSYNC_REPLICAS
from guarantees.unknown import Unknown
from guarantees.watch import observe

T0 = 1_700_000_000_000
CLUSTER, TOPIC, TOPIC_ID, GROUP = "cluster-1", "orders", "topic-id-1", "payments"
PARTITION = TopicPartition(TOPIC, 0)
KEY = GroupPartition(GROUP, TOPIC, 0)
THRESHOLDS = Thresholds()
NOBODY = Unknown("no answer")


def at(second: float) -> int:
    return T0 + round(second * 1000)


def member(member_id: str, *partitions: TopicPartition, instance: str | None = None) -> Member:
    return Member(member_id, instance, "client", "host", frozenset(partitions))


OWNER = member("m1", PARTITION)


def group(
    members: Sequence[Member] = (OWNER,),
    *,
    state: str | None = None,
    kind: str = "classic",
    coordinator: int = 1,
    second: float = 0,
    epoch: int | None = None,
) -> GroupState:
    word = state or ("Stable" if members else "Empty")
    return GroupState(kind, word, coordinator, tuple(members), epoch, epoch, at(second))


def offsets(
    high: int | Unknown,
    *,
    stable: int | Unknown | None = None,
    start: int | Unknown = 0,
    epoch: int | Unknown = 0,
    broker: int = 1,
    second: float = 0,
    topic_id: str | None = TOPIC_ID,
) -> PartitionOffsets:
    last_stable = high if stable is None else stable
    return PartitionOffsets(topic_id, start, last_stable, high, epoch, broker, at(second), at(second + 0.02))


def commit(
    offset: int | Unknown | None,
    *,
    epoch: int | None = None,
    pending: bool = False,
    second: float = 0,
    topic_id: str | None = TOPIC_ID,
) -> CommittedOffset:
    return CommittedOffset(topic_id, offset, epoch, pending, at(second + 0.01))


def state(
    in_sync: Sequence[int] = (1, 2, 3),
    *,
    leader: int | None = 1,
    epoch: int = 0,
    replicas: Sequence[int] = (1, 2, 3),
    eligible: Sequence[int] | None = None,
    second: float = 0,
    topic_id: str = TOPIC_ID,
) -> PartitionState:
    elr = None if eligible is None else tuple(eligible)
    return PartitionState(topic_id, leader, epoch, tuple(replicas), tuple(in_sync), elr, None, (), at(second + 0.03))


def producer(start: int, *, producer_id: int = 7, epoch: int = 0, last_second: float = 0) -> OpenProducer:
    return OpenProducer(producer_id, epoch, 0, at(last_second), -1, start, at(last_second))


def transaction(
    *partitions: TopicPartition,
    started: float = 0,
    timeout_s: float = 60,
    producer_id: int = 7,
    state: str = "Ongoing",
) -> Transaction:
    timeout_ms = round(timeout_s * 1000)
    return Transaction("tx", producer_id, 0, state, timeout_ms, at(started), frozenset(partitions), 1, at(started))


def complete(signal: Signal, asked: int = 1) -> Coverage:
    return Coverage(signal, asked, asked, 0, 0, None, T0, T0)


def replica(broker: int, end: int, *, epoch: int = 0) -> ReplicaOffset:
    return ReplicaOffset(TOPIC_ID, broker, end, epoch, T0)


def epoch_end(
    asked: int,
    answered: int | Unknown,
    end: int | Unknown,
    *,
    current: int,
    broker: int = 1,
    second: float = 0,
    topic_id: str | None = TOPIC_ID,
) -> EpochEnd:
    return EpochEnd(topic_id, asked, answered, end, current, broker, at(second + 0.03))


def seen(
    second: float,
    *,
    high: int | Unknown | None = None,
    stable: int | Unknown | None = None,
    start: int | Unknown = 0,
    epoch: int | Unknown = 0,
    broker: int = 1,
    committed: int | Unknown | None = None,
    commit_epoch: int | None = None,
    no_commit: bool = False,
    pending: bool = False,
    members: Sequence[Member] | Unknown = (OWNER,),
    group_state: str | None = None,
    group_type: str = "classic",
    coordinator: int = 1,
    isr: PartitionState | None = None,
    min_isr: int = 2,
    replicas: tuple[ReplicaOffset, ...] = (),
    producers: tuple[OpenProducer, ...] | Unknown | None = None,
    transactions: tuple[Transaction, ...] = (),
    epoch_ends: tuple[EpochEnd, ...] = (),
    settings: Mapping[str, str] | None = None,
    coverage: tuple[Coverage, ...] = (),
    topic_id: str = TOPIC_ID,
) -> Round:
    """A round at a second; what is not given was not asked for."""
    has_commit = committed is not None or no_commit or pending
    described = (
        members
        if isinstance(members, Unknown)
        else group(members, state=group_state, kind=group_type, coordinator=coordinator, second=second + 0.04)
    )
    answer = offsets(
        NOBODY if high is None else high,
        stable=stable,
        start=start,
        epoch=epoch,
        broker=broker,
        second=second,
        topic_id=topic_id,
    )
    read = commit(committed, epoch=commit_epoch, pending=pending, second=second, topic_id=topic_id)
    return Round(
        cluster_id=CLUSTER,
        tick=round(second),
        started_at_ms=at(second),
        ended_at_ms=at(second + 0.05),
        partitions={PARTITION: answer},
        replicas={PARTITION: replicas} if replicas else {},
        commits={KEY: read} if has_commit else {},
        states={} if isr is None else {PARTITION: isr},
        groups={GROUP: described},
        transactions=transactions,
        producers={} if producers is None else {PARTITION: producers},
        epoch_ends={PARTITION: epoch_ends} if epoch_ends else {},
        topic_settings={TOPIC: {MIN_INSYNC_REPLICAS: str(min_isr), **(settings or {})}},
        coverage=coverage,
    )


def watch(
    rounds: Iterable[Round], memory: Memory | None = None, thresholds: Thresholds = THRESHOLDS
) -> tuple[Memory, dict[str, Finding]]:
    """The memory after the rounds, and the last state of everything that was found on the way."""
    memory = memory or Memory.empty()
    found: dict[str, Finding] = {}
    for one in rounds:
        memory, findings = observe(memory, one, thresholds)
        found.update({finding.finding_id: finding for finding in findings})
    return memory, found


def findings(*rounds: Round, kind: Kind | None = None, thresholds: Thresholds = THRESHOLDS) -> list[Finding]:
    """The last state of every finding of these rounds, in the order they were found."""
    _, found = watch(rounds, thresholds=thresholds)
    return [finding for finding in found.values() if kind is None or finding.kind is kind]


def finding(*rounds: Round, kind: Kind, thresholds: Thresholds = THRESHOLDS) -> Finding:
    """The one finding of a kind."""
    (only,) = findings(*rounds, kind=kind, thresholds=thresholds)
    return only


def lag_of(observed: Round) -> Lag:
    """What the round shows of the group's lag on the partition."""
    return consumer_lag(observed.commits[KEY], observed.partitions[PARTITION])


def steps(first: float, last: float, every: float = 5) -> list[float]:
    """Seconds of rounds, both ends included."""
    return [first + every * number for number in range(int((last - first) / every) + 1)]
