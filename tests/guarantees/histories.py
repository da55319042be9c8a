"""A healthy cluster that is watched: everything legal may happen, also between two questions of one round."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from collectors.epoch_ends import EpochsKnown, known_after, questions
from guarantees.observations import (
    CommittedOffset,
    EpochEnd,
    GroupState,
    Member,
    OpenProducer,
    PartitionOffsets,
    PartitionState,
    ReplicaOffset,
    Round,
)
from guarantees.places import GroupPartition, TopicPartition
from guarantees.topic_settings import MIN_INSYNC_REPLICAS
from guarantees.unknown import Unknown
from kafka_reader.epoch_ends import EpochQuestion
from tests.guarantees.builders import CLUSTER, GROUP, TOPIC, TOPIC_ID, at, complete

PARTITIONS = (TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1))
FAILED = Unknown("no answer")
LONGEST_TRANSACTION_S = 8.0
LONGEST_SILENCE_S = 40.0
LONGEST_RESTART_S = 60.0

Action = tuple[str, int, int]


@dataclass
class Log:
    """One partition and the group's place in it. `epochs` are the leader epochs of its log with their first offsets."""

    log_start: int = 0
    high_watermark: int = 0
    epochs: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    leader: int = 1
    in_sync: tuple[int, ...] = (1, 2, 3)
    low_since: float = 0
    transaction_start: int | None = None
    transaction_since: float = 0
    producer_id: int = 100
    ends_with_marker: bool = False
    committed: int | None = None
    committed_at: float = 0
    stale_answer: tuple[int, int] | None = None
    is_recovering: bool = False

    @property
    def last_stable_offset(self) -> int:
        return self.high_watermark if self.transaction_start is None else self.transaction_start

    @property
    def epoch(self) -> int:
        return self.epochs[-1][0]

    def begin_epoch(self, leader: int) -> None:
        """LeaderEpochFileCache.assign: an epoch without records makes way for the next one."""
        epoch = self.epoch + 1
        self.epochs = [*(one for one in self.epochs if one[1] < self.high_watermark), (epoch, self.high_watermark)]
        self.leader = leader

    def cut(self, offsets: int, leader: int) -> None:
        """An unclean election: the new leader's log is shorter."""
        epoch, self.high_watermark = self.epoch, self.high_watermark - offsets
        self.epochs = [one for one in self.epochs if one[1] < self.high_watermark] or [(0, 0)]
        self.epochs.append((epoch, self.high_watermark))
        self.begin_epoch(leader)

    def age_out(self, log_start: int) -> None:
        """LeaderEpochFileCache.truncateFromStart: the epoch of the log start begins there."""
        self.log_start = log_start
        old = [one for one in self.epochs if one[1] <= log_start]
        self.epochs = [*((epoch, log_start) for epoch, _ in old[-1:]), *self.epochs[len(old) :]]

    def epoch_at(self, offset: int) -> int:
        return max((epoch for epoch, start in self.epochs if start <= offset), default=self.epochs[0][0])

    def end_of(self, asked: int) -> tuple[int, int]:
        """LeaderEpochFileCache.endOffsetFor, of an epoch that is not above the newest."""
        if asked == self.epoch:
            return asked, self.high_watermark
        later = [start for epoch, start in self.epochs if epoch > asked]
        known = [epoch for epoch, _ in self.epochs if epoch <= asked]
        return (known[-1] if known else asked), later[0]


@dataclass
class Cluster:
    """Two partitions, one group, a clock in seconds. Every method is something a healthy cluster does."""

    now: float = 0
    tick: int = 0
    logs: tuple[Log, Log] = field(default_factory=lambda: (Log(), Log()))
    members: list[str] = field(default_factory=lambda: ["m0"])
    born: int = 1
    coordinator: int = 1
    rebalancing: bool = False
    failing: set[str] = field(default_factory=set)
    pending: bool = False
    known: EpochsKnown = field(default_factory=EpochsKnown)

    def act(self, action: Action) -> None:
        name, partition, amount = action
        getattr(self, name)(self.logs[partition], amount)
        self.now += 0.05

    def produce(self, log: Log, amount: int) -> None:
        log.high_watermark += amount
        log.ends_with_marker = False

    def begin(self, log: Log, amount: int) -> None:
        if log.transaction_start is None:
            log.transaction_start, log.transaction_since = log.high_watermark, self.now
            log.producer_id += 1
            self.produce(log, amount + 1)

    def end(self, log: Log, amount: int = 0) -> None:
        if log.transaction_start is not None:
            log.transaction_start = None
            log.high_watermark += 1
            log.ends_with_marker = True

    def consume(self, log: Log, amount: int) -> None:
        """Reads on as a read_committed consumer does; one that commits the last record stays before the marker."""
        if self.members and not self.rebalancing:
            end = log.last_stable_offset - (1 if log.ends_with_marker and log.transaction_start is None else 0)
            start = max(log.committed or 0, log.log_start)
            log.committed = max(log.committed or 0, min(start + amount * 10, end))
            log.committed_at = self.now

    def elect(self, log: Log, amount: int) -> None:
        log.stale_answer = (log.epoch, log.high_watermark)
        log.begin_epoch(log.in_sync[amount % len(log.in_sync)])
        log.is_recovering = amount % 3 == 0

    def lag_behind(self, log: Log, amount: int) -> None:
        if len(log.in_sync) == 3:
            log.low_since = self.now
        log.in_sync = (log.leader, 1 + log.leader % 3)

    def catch_up(self, log: Log, amount: int) -> None:
        log.in_sync = (1, 2, 3)

    def expire(self, log: Log, amount: int) -> None:
        if log.committed is not None:
            log.age_out(max(log.log_start, min(log.committed, log.log_start + amount)))

    def join(self, log: Log, amount: int) -> None:
        self.members.append(f"m{self.born}")
        self.born += 1

    def leave(self, log: Log, amount: int) -> None:
        """In order: whatever was read is committed first."""
        if len(self.members) > 1:
            for one in self.logs:
                self.consume(one, 10**6)
            self.members.pop(0)

    def leave_all(self, log: Log, amount: int) -> None:
        """In order, and the group stays empty until somebody joins."""
        if self.members:
            for one in self.logs:
                self.consume(one, 10**6)
            self.members.clear()
            self.rebalancing = False

    def rebalance(self, log: Log, amount: int) -> None:
        self.rebalancing = bool(self.members)

    def settle(self, log: Log, amount: int) -> None:
        self.rebalancing = False

    def calm(self) -> None:
        """A member is there and reads, whatever happened before."""
        self.rebalancing = False
        if not self.members:
            self.join(self.logs[0], 0)

    def fail_over(self, log: Log, amount: int) -> None:
        self.coordinator = 1 + self.coordinator % 3

    def fail(self, log: Log, amount: int) -> None:
        self.failing.add(("commits", "offsets", "groups", "states", "start")[amount % 5])

    def wait_for_marker(self, log: Log, amount: int) -> None:
        self.pending = True

    def pause(self, log: Log, amount: int) -> None:
        """Nobody looks for a while; the cluster goes on."""
        self.now += 30 * amount
        self.keep_healthy()

    def keep_healthy(self) -> None:
        for log in self.logs:
            if self.now - log.transaction_since > LONGEST_TRANSACTION_S:
                self.end(log)
            if self.now - log.low_since > LONGEST_RESTART_S:
                log.in_sync = (1, 2, 3)
            if self.now - log.committed_at > LONGEST_SILENCE_S:
                self.calm()
                self.consume(log, 10**6)

    def look(self, phases: Sequence[Sequence[Action]]) -> Round:
        """One round, with actions before each of its four questions: log starts, commits, ends, the rest."""
        self.keep_healthy()
        started = self.now
        starts = {
            p: (FAILED if "start" in self.failing else log.log_start, at(self.now)) for p, log in self._all(phases[0])
        }
        commits = {GroupPartition(GROUP, p.topic, p.partition): self._commit(log) for p, log in self._all(phases[1])}
        offsets = {p: self._offsets(log, starts[p]) for p, log in self._all(phases[2])}
        states = {} if "states" in self.failing else {p: self._state(log) for p, log in self._all(phases[3])}
        ends = self._epoch_ends(offsets, commits)
        seen = Round(
            cluster_id=CLUSTER,
            tick=self.tick,
            started_at_ms=at(started),
            ended_at_ms=at(self.now + 0.01),
            partitions=offsets,
            replicas={p: self._replicas(log) for p, log in self._all()},
            epoch_ends=ends,
            commits=commits,
            states=states,
            groups={GROUP: self._group()},
            producers={p: self._producers(log) for p, log in self._all()},
            topic_settings={TOPIC: {MIN_INSYNC_REPLICAS: "2"}},
            coverage=(complete("transactions"), complete("partition_states")),
        )
        self.known = known_after(self.known, seen)
        self.failing, self.pending, self.tick = set(), False, self.tick + 1
        self.now = max(self.now + 0.1, started + 5)
        return seen

    def _all(self, actions: Iterable[Action] = ()) -> list[tuple[TopicPartition, Log]]:
        for action in actions:
            self.act(action)
        return list(zip(PARTITIONS, self.logs, strict=True))

    def _commit(self, log: Log) -> CommittedOffset:
        if "commits" in self.failing or self.pending:
            return CommittedOffset(TOPIC_ID, None if self.pending else FAILED, None, self.pending, at(self.now))
        epoch = log.epoch_at(log.committed - 1) if log.committed else None
        return CommittedOffset(TOPIC_ID, log.committed, epoch, False, at(self.now))

    def _epoch_ends(
        self, offsets: Mapping[TopicPartition, PartitionOffsets], commits: Mapping[GroupPartition, CommittedOffset]
    ) -> dict[TopicPartition, tuple[EpochEnd, ...]]:
        named = {
            (key.topic_partition, commit.committed_leader_epoch)
            for key, commit in commits.items()
            if commit.committed_leader_epoch is not None
        }
        asked = questions(self.known, offsets, named)
        logs = dict(self._all())
        return {each.partition: (self._epoch_end(logs[each.partition], each),) for each in asked}

    def _epoch_end(self, log: Log, asked: EpochQuestion) -> EpochEnd:
        """A replaced leader is fenced; one that recovers may answer too low, once."""
        is_fenced = asked.current_leader_epoch != log.epoch
        epoch, end = (FAILED, FAILED) if is_fenced else log.end_of(asked.asked_epoch)
        if log.is_recovering and isinstance(end, int):
            log.is_recovering, end = False, max(0, end - 5)
        return EpochEnd(TOPIC_ID, asked.asked_epoch, epoch, end, asked.current_leader_epoch, log.leader, at(self.now))

    def _replicas(self, log: Log) -> tuple[ReplicaOffset, ...]:
        return tuple(ReplicaOffset(TOPIC_ID, b, log.high_watermark, log.epoch, at(self.now)) for b in log.in_sync)

    def _offsets(self, log: Log, start: tuple[int | Unknown, int]) -> PartitionOffsets:
        epoch, high, stable = log.epoch, log.high_watermark, log.last_stable_offset
        if log.stale_answer is not None:
            (epoch, high), log.stale_answer = log.stale_answer, None
            stable = min(stable, high)
        if "offsets" in self.failing:
            return PartitionOffsets(TOPIC_ID, start[0], FAILED, FAILED, FAILED, None, start[1], at(self.now))
        return PartitionOffsets(TOPIC_ID, start[0], stable, high, epoch, log.leader, start[1], at(self.now))

    def _state(self, log: Log) -> PartitionState:
        return PartitionState(TOPIC_ID, log.leader, log.epoch, (1, 2, 3), log.in_sync, None, None, (), at(self.now))

    def _group(self) -> GroupState | Unknown:
        if "groups" in self.failing:
            return FAILED
        owned = {} if self.rebalancing else {m: set() for m in self.members}
        for number, partition in enumerate(PARTITIONS if owned else ()):
            owned[self.members[number % len(self.members)]].add(partition)
        members = tuple(Member(m, None, "client", "host", frozenset(owned.get(m, ()))) for m in self.members)
        word = "PreparingRebalance" if self.rebalancing else "Stable" if members else "Empty"
        return GroupState("classic", word, self.coordinator, members, None, None, at(self.now))

    def _producers(self, log: Log) -> tuple[OpenProducer, ...]:
        if log.transaction_start is None:
            return ()
        return (OpenProducer(log.producer_id, 0, 0, at(self.now), -1, log.transaction_start, at(self.now)),)


NAMES = (
    *("produce", "consume", "produce", "consume", "begin", "end", "elect", "lag_behind", "catch_up", "expire"),
    *("join", "leave", "leave_all", "join", "rebalance", "settle", "fail_over", "fail", "wait_for_marker", "pause"),
)
ACTIONS = st.tuples(st.sampled_from(NAMES), st.integers(0, 1), st.integers(1, 9))
PHASES = st.tuples(*[st.lists(ACTIONS, max_size=3)] * 4)
HISTORIES = st.lists(PHASES, min_size=2, max_size=25)


def watched(cluster: Cluster, history: Iterable[Sequence[Sequence[Action]]]) -> list[Round]:
    return [cluster.look(phases) for phases in history]
