"""Where old leader epochs end, asked only where it can tell something: after an election, and for old commits."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from collectors.rows import Row, known_or_reason
from guarantees.observations import EpochEnd, PartitionOffsets, Round
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.epoch_ends import EpochQuestion, FoundEnd, fetch_epoch_ends
from kafka_reader.metadata import Topology

TABLE = "epoch_ends"

# A recovering leader has answered too low (redpanda-data/redpanda#5435): only a second answer proves anything.
ANSWERS_NEEDED = 2
# A round asks no more than so many; the rest come in later rounds.
MOST_QUESTIONS = 2_000

Found = Mapping[EpochQuestion, FoundEnd]
# Leader epochs that commits on a partition name.
Named = Iterable[tuple[TopicPartition, int]]


class Leadership(NamedTuple):
    """The newest leader epoch in which a partition's offsets were answered."""

    topic_id: str | None
    leader_epoch: int


class Tried(NamedTuple):
    """How often a question was put, and how often it was answered."""

    times: int
    answers: int


@dataclass(frozen=True, slots=True)
class EpochsKnown:
    """What earlier rounds leave: who led, and what was asked of those who still lead."""

    led: Mapping[TopicPartition, Leadership] = field(default_factory=dict)
    tried: Mapping[EpochQuestion, Tried] = field(default_factory=dict)


def questions(
    known: EpochsKnown, partitions: Mapping[TopicPartition, PartitionOffsets], named: Named
) -> dict[EpochQuestion, int]:
    """The questions of a round with the leader to ask, one per partition: those after an election first."""
    chosen: dict[TopicPartition, tuple[EpochQuestion, int]] = {}
    for question in _due(known, partitions, named):
        leader = partitions[question.partition].broker
        if leader is not None and question.partition not in chosen:
            chosen[question.partition] = (question, leader)
        if len(chosen) == MOST_QUESTIONS:
            break
    return dict(chosen.values())


def _due(
    known: EpochsKnown, partitions: Mapping[TopicPartition, PartitionOffsets], named: Named
) -> Iterator[EpochQuestion]:
    yield from _after_elections(known, partitions)
    waiting = [
        *(question for question, tried in known.tried.items() if tried.answers < ANSWERS_NEEDED),
        *(question for question in _of_old_commits(partitions, named) if question not in known.tried),
    ]
    for question in sorted(waiting, key=lambda each: _turn(each, known.tried.get(each, Tried(0, 0)))):
        if _leads_in(question, partitions):
            yield question


def _turn(question: EpochQuestion, tried: Tried) -> tuple[bool, int, EpochQuestion]:
    """An answer is confirmed first; a question that nobody answers does not keep the others waiting."""
    return tried.answers == 0, tried.times, question


def _after_elections(
    known: EpochsKnown, partitions: Mapping[TopicPartition, PartitionOffsets]
) -> Iterator[EpochQuestion]:
    for partition, offsets in partitions.items():
        before, epoch = known.led.get(partition), offsets.leader_epoch
        if before is None or isinstance(epoch, Unknown) or before.topic_id != offsets.topic_id:
            continue
        if before.leader_epoch < epoch:
            yield EpochQuestion(partition, before.leader_epoch, epoch)


def _of_old_commits(partitions: Mapping[TopicPartition, PartitionOffsets], named: Named) -> set[EpochQuestion]:
    """Commits of an epoch that is over (KIP-320): what they point at may have been cut."""
    found = set()
    for partition, committed_epoch in named:
        offsets = partitions.get(partition)
        epoch = None if offsets is None else offsets.leader_epoch
        if isinstance(epoch, int) and committed_epoch < epoch:
            found.add(EpochQuestion(partition, committed_epoch, epoch))
    return found


def _leads_in(question: EpochQuestion, partitions: Mapping[TopicPartition, PartitionOffsets]) -> bool:
    offsets = partitions.get(question.partition)
    return offsets is not None and offsets.leader_epoch == question.current_leader_epoch


def collect(connections: Connections, asked: Mapping[EpochQuestion, int]) -> Found:
    """One answer per question."""
    by_leader: dict[int, list[EpochQuestion]] = {}
    for question, leader in asked.items():
        by_leader.setdefault(leader, []).append(question)
    return fetch_epoch_ends(connections, by_leader)


def known_after(before: EpochsKnown, observed: Round) -> EpochsKnown:
    """What the next round has to know; the stored rounds of before a restart leave the same."""
    led = dict(before.led)
    for partition, offsets in observed.partitions.items():
        now, known = offsets.leader_epoch, led.get(partition)
        if isinstance(now, int) and (known is None or known.topic_id != offsets.topic_id or known.leader_epoch < now):
            led[partition] = Leadership(offsets.topic_id, now)
    tried = dict(before.tried)
    for partition, ends in observed.epoch_ends.items():
        for end in ends:
            question = EpochQuestion(partition, end.asked_epoch, end.current_leader_epoch)
            times, answers = tried.get(question, Tried(0, 0))
            tried[question] = Tried(times + 1, answers + isinstance(end.end_offset, int))
    still = {each: how for each, how in tried.items() if led[each.partition].leader_epoch == each.current_leader_epoch}
    return EpochsKnown(led, still)


def observations(topology: Topology, found: Found) -> dict[TopicPartition, tuple[EpochEnd, ...]]:
    return {
        question.partition: (
            EpochEnd(
                topic_id=topology.topic_ids.get(question.partition.topic),
                asked_epoch=question.asked_epoch,
                answered_epoch=end.answered_epoch,
                end_offset=end.end_offset,
                current_leader_epoch=question.current_leader_epoch,
                broker=end.broker,
                observed_at_ms=end.observed_at_ms,
            ),
        )
        for question, end in found.items()
    }


def rows(cluster_id: str, tick: int, topology: Topology, found: Found) -> list[Row]:
    return [
        {
            "cluster_id": cluster_id,
            "tick": tick,
            "topic": question.partition.topic,
            "topic_id": topology.topic_ids.get(question.partition.topic),
            "partition": question.partition.partition,
            "asked_epoch": question.asked_epoch,
            **known_or_reason("answered_epoch", end.answered_epoch),
            **known_or_reason("end_offset", end.end_offset),
            "current_leader_epoch": question.current_leader_epoch,
            "broker": end.broker,
            "requested_at": end.requested_at_ms,
            "observed_at": end.observed_at_ms,
        }
        for question, end in found.items()
    ]
