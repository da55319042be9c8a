"""The checker's verdict on what clients met, beside the ground truth: where the two disagree the lab is wrong. Pure.

The checker is told nothing of the fault. A finding that says something of records has the anomaly of Jepsen that the
clients must have met if it is true; where no such finding is true they must have met none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from guarantees.findings import Kind
from lab.checker.history import History, Operation, Outcome, Poll, Record, Send
from lab.checker.log_anomalies import (
    aborted_reads,
    duplicates,
    inconsistent_offsets,
    lost_writes,
    precommitted_reads,
    unseen,
)
from lab.checker.order_anomalies import backwards, poll_steps, send_steps, skips, steps_within_polls, steps_within_sends
from lab.injected import Demand, Injected

# Reads every topic from its first record to its stable end when a fault is over.
FINAL_READER = "final reader"


class Anomaly(StrEnum):
    """Jepsen's names. What the final reader has not seen is lost: nothing is left for it to read."""

    DUPLICATE = "duplicate"
    LOST_WRITE = "lost-write"
    ABORTED_READ = "G1a"
    ABORTED_AT_SINK = "G1a at the sink"  # the read is known by what the reader wrote
    POLL_SKIP = "poll-skip"
    NONMONOTONIC_POLL = "nonmonotonic-poll"
    # No fault of the lab makes one of these.
    INCONSISTENT_OFFSETS = "inconsistent-offsets"
    PRECOMMITTED_READ = "precommitted-read"
    NONMONOTONIC_SEND = "nonmonotonic-send"
    BACKWARDS_IN_A_POLL = "int-nonmonotonic-poll"
    BACKWARDS_IN_A_SEND = "int-nonmonotonic-send"


# What each kind of finding counts, in records: extra copies, records gone, read again, passed over, read and aborted.
_MET_BECAUSE_OF: Mapping[Kind, Anomaly] = {
    Kind.DUPLICATE_WRITE: Anomaly.DUPLICATE,
    Kind.RESENT_BATCH: Anomaly.DUPLICATE,
    Kind.LOST_WRITE: Anomaly.LOST_WRITE,
    Kind.LOG_TRUNCATED: Anomaly.LOST_WRITE,
    Kind.TAIL_TRUNCATED: Anomaly.LOST_WRITE,
    Kind.POSSIBLE_REDELIVERY: Anomaly.NONMONOTONIC_POLL,
    Kind.REWIND: Anomaly.NONMONOTONIC_POLL,
    Kind.SKIPPED_FORWARD: Anomaly.POLL_SKIP,
    Kind.EXPIRED_UNREAD: Anomaly.POLL_SKIP,
    Kind.READ_PAST_STABLE_OFFSET: Anomaly.ABORTED_READ,
    Kind.ABORTED_AT_SINK: Anomaly.ABORTED_AT_SINK,
}
_OF_A_GROUP = {Anomaly.NONMONOTONIC_POLL, Anomaly.POLL_SKIP, Anomaly.ABORTED_READ}


@dataclass(frozen=True, slots=True)
class LogKey:
    """A partition of a topic; a topic that was deleted and created anew is another one."""

    topic: str
    partition: int
    created: int = 1


@dataclass(frozen=True, slots=True)
class Met:
    """Which anomaly, on which topic; `group_id` where it is one of a reader's own."""

    anomaly: Anomaly
    topic: str
    group_id: str | None = None

    def __str__(self) -> str:
        return f"{self.anomaly} on {self.topic}{'' if self.group_id is None else f' by {self.group_id}'}"


def met(history: History, expiring: Iterable[str] = ()) -> Counter[Met]:
    """Every anomaly, in records. Keys are `LogKey`s. `expiring`: topics whose records the broker deletes in order."""
    found: Counter[Met] = Counter()
    for anomaly, key in (*_of_logs(history), *_of_what_is_left(history, set(expiring))):
        found[Met(anomaly, key.topic)] += 1
    for group_id in dict.fromkeys(each.process for each in history if any(each.polls())):
        if group_id != FINAL_READER:
            for anomaly, key in _of_group(_seen_by(history, group_id)):
                found[Met(anomaly, key.topic, str(group_id))] += 1
    return found


def lost_on_the_way(history: History, source: str, sink: str) -> Counter[Met]:
    """Acknowledged records of the source that the sink does not hold: a history of ids, whatever their offsets."""
    sends = [_of_ids(each, source) for each in history]
    of_id = {send.record.value: send.key for each in sends for send in each.sends()}
    arrived = [record.value for each in _seen_by(history, FINAL_READER) for record in _polled_of(each, sink)]
    polls = Operation(
        FINAL_READER, Outcome.OK, tuple(Poll({of_id[v]: (Record(None, v),)}) for v in arrived if v in of_id)
    )
    missing = unseen([*sends, polls])
    return Counter({Met(Anomaly.LOST_WRITE, source): len({value for values in missing.values() for value in values})})


def aborted_on_the_way(history: History, source: str, sink: str) -> Counter[Met]:
    """Ids of the source that no transaction committed and the sink holds."""
    by_outcome: dict[bool, set[object]] = {True: set(), False: set()}
    for each in history:
        by_outcome[each.outcome is Outcome.FAIL] |= {send.record.value for send in _of_ids(each, source).sends()}
    arrived = {record.value for each in _seen_by(history, FINAL_READER) for record in _polled_of(each, sink)}
    return Counter({Met(Anomaly.ABORTED_AT_SINK, source): len((by_outcome[True] - by_outcome[False]) & arrived)})


def within(history: History, ends: Mapping[LogKey, int]) -> list[Operation]:
    """Without the sends past these offsets: what is still on its way is not lost."""
    return [Operation(each.process, each.outcome, tuple(_due(each, ends)), each.keys) for each in history]


def true(injected: Iterable[Injected]) -> dict[Met, range]:
    """What the ground truth says the clients met: at least what is demanded, at most all that may be said."""
    least: Counter[Met] = Counter()
    most: Counter[Met] = Counter()
    for each in (expected for one in injected for expected in one.expected):
        if (anomaly := _MET_BECAUSE_OF.get(each.kind)) is not None and each.count is not None:
            where = Met(anomaly, each.topic, each.group_id if anomaly in _OF_A_GROUP else None)
            least[where] += 0 if each.demand is Demand.NONE else each.count
            most[where] += each.count
    return {where: range(least[where], most[where] + 1) for where in most}


def disagreements(found: Mapping[Met, int], expected: Mapping[Met, range]) -> list[str]:
    """A sentence for each."""
    return [
        f"{where}: clients met {found.get(where, 0):,}, the ground truth says {_said(expected.get(where, range(1)))}"
        for where in dict.fromkeys([*found, *expected])
        if found.get(where, 0) not in expected.get(where, range(1))
    ]


def in_words(found: Mapping[Met, int]) -> tuple[str, ...]:
    """How many records met which anomaly, over all topics and groups."""
    sums: Counter[Anomaly] = Counter()
    for where, count in found.items():
        sums[where.anomaly] += count
    return tuple(f"{anomaly} {count:,}" for anomaly, count in sums.items() if count)


Concerned = Iterator[tuple[Anomaly, LogKey]]


def _of_logs(history: History) -> Concerned:
    for duplicate in duplicates(history):
        yield from ((Anomaly.DUPLICATE, duplicate.key) for _ in duplicate.offsets[1:])
    yield from ((Anomaly.INCONSISTENT_OFFSETS, each.key) for each in inconsistent_offsets(history))
    yield from ((Anomaly.PRECOMMITTED_READ, each.key) for each in precommitted_reads(history))
    apart = _copies_apart(history)
    yield from ((Anomaly.NONMONOTONIC_SEND, step.key) for step in backwards(send_steps(apart)))
    yield from ((Anomaly.BACKWARDS_IN_A_SEND, step.key) for step in backwards(steps_within_sends(apart)))
    yield from ((Anomaly.BACKWARDS_IN_A_POLL, step.key) for step in backwards(steps_within_polls(apart)))


def _of_what_is_left(history: History, expiring: set[str]) -> Concerned:
    last = _seen_by(history, FINAL_READER)
    lost = {(each.key, each.value) for each in lost_writes(last)}
    lost |= {(key, value) for key, values in unseen(last).items() for value in values}
    # What is no more, as a topic that was deleted, cannot be read.
    is_left = {key for each in last for key in each.polled()}
    yield from ((Anomaly.LOST_WRITE, key) for key, _ in lost if key in is_left and key.topic not in expiring)


def _of_group(history: History) -> Concerned:
    steps = list(poll_steps(_copies_apart(history)))
    for step in skips(steps):
        yield from ((Anomaly.POLL_SKIP, step.key) for _ in step.skipped)
    for step in backwards(steps):
        yield from ((Anomaly.NONMONOTONIC_POLL, step.key) for _ in range(1 - step.delta))
    yield from ((Anomaly.ABORTED_READ, each.key) for each in aborted_reads(history))


def _seen_by(history: History, process: object) -> list[Operation]:
    """All sends, and what one process polled: two readers in one history would excuse each other's losses."""
    return [each for each in history if each.process == process or any(each.sends())]


def _copies_apart(history: History) -> list[Operation]:
    """Every stored copy as a value of its own: a reader that meets the second one has not gone back to the first."""
    return [
        Operation(each.process, each.outcome, tuple(_apart(action) for action in each.actions), each.keys)
        for each in history
    ]


def _apart(action: Send | Poll) -> Send | Poll:
    if isinstance(action, Send):
        return Send(action.key, _copy(action.record))
    return Poll({key: tuple(_copy(record) for record in records) for key, records in action.records_by_key.items()})


def _copy(record: Record) -> Record:
    return Record(record.offset, (record.value, record.offset))


def _of_ids(operation: Operation, topic: str) -> Operation:
    sends = (Send(send.key, Record(None, send.record.value)) for send in operation.sends() if send.key.topic == topic)
    return Operation(operation.process, operation.outcome, tuple(sends))


def _polled_of(operation: Operation, topic: str) -> Sequence[Record]:
    return [record for key, records in operation.polled().items() if key.topic == topic for record in records]


def _due(operation: Operation, ends: Mapping[LogKey, int]) -> Iterator[Send | Poll]:
    for action in operation.actions:
        is_past = isinstance(action, Send) and (action.record.offset or 0) >= ends.get(action.key, 0)
        if not is_past:
            yield action


def _said(counts: range) -> str:
    return f"{counts.start:,}" if len(counts) == 1 else f"{counts.start:,} to {counts.stop - 1:,}"
