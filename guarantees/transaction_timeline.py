"""Transactional ids followed through the coordinator's records: what became of each transaction, and when.

Who ended a transaction is told by its epochs. The coordinator raises the epoch to abort a transaction that was fenced
or timed out; a client of transaction version 2 (KIP-890) raises it at each end itself, and leaves no such trace.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from guarantees.internal_records import Logged, LoggedTransaction, TransactionRecord, TransactionState
from guarantees.places import TopicPartition

SECOND_MS = 1_000
_RAISES_ITS_EPOCH = 2  # the transaction version from which on clients raise the epoch at each end
_ENDING = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})
_ENDED = frozenset({TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT})


class Step(StrEnum):
    """What happened to a transactional id."""

    INITIALISED = "initialised"
    BEGUN = "begun"
    ENDING = "ending"
    COMMITTED = "committed"
    ABORTED = "aborted"
    FENCED = "fenced"
    TIMED_OUT = "timed_out"
    EXPIRED = "expired"


WHY: Mapping[Step, str] = {
    Step.INITIALISED: "initTransactions: instances that came before are fenced",
    Step.BEGUN: "open when its log was read",
    Step.ENDING: "decided, and its markers were not all written when its log was read",
    Step.COMMITTED: "by its producer",
    Step.FENCED: "the coordinator raised the epoch before the timeout: another instance initialised the id, or an "
    "operator fenced it",
    Step.TIMED_OUT: "the coordinator raised the epoch once the transaction was older than its timeout",
    Step.EXPIRED: "the coordinator forgot the id",
}
_BY_ITS_PRODUCER = "by its producer: the epoch did not rise"
_NOT_TOLD_APART = "by its producer, or fenced: a client of transaction version 2 raises the epoch at each end itself"
_PERHAPS_TIMED_OUT = "older than its timeout; an abort by a producer of transaction version 2 would look the same"
_BEGIN_NOT_READ = "by whom is not known: its beginning was not read"


@dataclass(frozen=True, slots=True)
class TransactionStep:
    """`entry` is the newest record's; `partitions` None where none was read. `transactions`: how many it stands for.

    Times are the coordinator's, None where no record says them. `data_epoch` is the epoch the data was written under,
    `client_version` the transaction version of who wrote it; both None where the begin was not read.
    """

    transactional_id: str
    step: Step
    entry: LoggedTransaction | None
    record: Logged
    started_at_ms: int | None
    prepared_at_ms: int | None
    data_epoch: int | None
    client_version: int | None
    partitions: frozenset[TopicPartition] | None
    why: str
    transactions: int = 1


@dataclass(frozen=True, slots=True)
class FollowedId:
    """The newest records of an id's running transaction. `told`: the newest of them has become a step."""

    ongoing: Logged | None = None
    prepared: Logged | None = None
    told: bool = False


def transaction_steps(
    followed: Mapping[str, FollowedId], records: Iterable[Logged]
) -> tuple[dict[str, FollowedId], list[TransactionStep]]:
    """The ids with a transaction under way, and what happened, in the order of the log.

    Commits of one id in one second are one step.
    """
    ids, steps = dict(followed), list[TransactionStep]()
    for record in records:
        content = record.content
        if not isinstance(content, TransactionRecord):
            continue
        before = ids.get(content.transactional_id, FollowedId())
        after, step = _after(before, content, record)
        ids[content.transactional_id] = after
        if step is not None:
            steps.append(step)
        if _newest(after) is None:
            del ids[content.transactional_id]
    running = [_running(name, one) for name, one in ids.items() if not one.told]
    ids |= {step.transactional_id: replace(ids[step.transactional_id], told=True) for step in running}
    return ids, sorted([*_thinned(steps), *running], key=lambda step: (step.record.partition, step.record.offset))


def _after(before: FollowedId, content: TransactionRecord, record: Logged) -> tuple[FollowedId, TransactionStep | None]:
    entry, name = content.transaction, content.transactional_id
    if entry is None or entry.state is TransactionState.DEAD:
        return FollowedId(), _plain(name, Step.EXPIRED, entry, record, None)
    if entry.state is TransactionState.EMPTY:
        return FollowedId(), _plain(name, Step.INITIALISED, entry, record, None)
    if entry.state in _ENDED:
        return FollowedId(), _ended(name, before, entry, record)
    if entry.state in _ENDING:
        return replace(before, prepared=record, told=False), None
    is_same = before.ongoing is not None and _entry(before.ongoing).started_at_ms == entry.started_at_ms
    return FollowedId(ongoing=record, told=before.told and is_same), None


def _plain(
    name: str, step: Step, entry: LoggedTransaction | None, record: Logged, ongoing: LoggedTransaction | None
) -> TransactionStep:
    """A step that ends no transaction."""
    return TransactionStep(
        transactional_id=name,
        step=step,
        entry=entry,
        record=record,
        started_at_ms=None if entry is None else entry.started_at_ms,
        prepared_at_ms=entry.updated_at_ms if entry is not None and step is Step.ENDING else None,
        data_epoch=None if ongoing is None else ongoing.producer_epoch,
        client_version=None if ongoing is None else ongoing.client_version,
        partitions=None if entry is None else entry.partitions,
        why=WHY[step],
    )


def _ended(name: str, before: FollowedId, entry: LoggedTransaction, record: Logged) -> TransactionStep:
    prepared = None if before.prepared is None else _entry(before.prepared)
    ongoing = None if before.ongoing is None else _entry(before.ongoing)
    if entry.state is TransactionState.COMPLETE_COMMIT:
        step, why = Step.COMMITTED, WHY[Step.COMMITTED]
    else:
        step, why = _abort(ongoing, prepared or entry)
    listed = prepared or ongoing
    return TransactionStep(
        transactional_id=name,
        step=step,
        entry=entry,
        record=record,
        started_at_ms=(prepared or entry).started_at_ms,
        prepared_at_ms=None if prepared is None else prepared.updated_at_ms,
        data_epoch=None if ongoing is None else ongoing.producer_epoch,
        client_version=None if ongoing is None else ongoing.client_version,
        partitions=None if listed is None else listed.partitions,
        why=why,
    )


def _abort(ongoing: LoggedTransaction | None, aborted: LoggedTransaction) -> tuple[Step, str]:
    """Who aborted it, as far as the records tell."""
    if ongoing is None or (ongoing.producer_id, ongoing.started_at_ms) != (aborted.producer_id, aborted.started_at_ms):
        return Step.ABORTED, _BEGIN_NOT_READ
    is_overdue = (
        aborted.started_at_ms is not None and aborted.updated_at_ms - aborted.started_at_ms >= aborted.timeout_ms
    )
    if ongoing.client_version >= _RAISES_ITS_EPOCH:
        return (Step.TIMED_OUT, _PERHAPS_TIMED_OUT) if is_overdue else (Step.ABORTED, _NOT_TOLD_APART)
    if aborted.producer_epoch == ongoing.producer_epoch:
        return Step.ABORTED, _BY_ITS_PRODUCER
    step = Step.TIMED_OUT if is_overdue else Step.FENCED
    return step, WHY[step]


def _running(name: str, one: FollowedId) -> TransactionStep:
    """A transaction that was still under way when the reading ended."""
    record = _newest(one)
    assert record is not None
    ongoing = None if one.ongoing is None else _entry(one.ongoing)
    return _plain(name, Step.BEGUN if one.prepared is None else Step.ENDING, _entry(record), record, ongoing)


def _newest(one: FollowedId) -> Logged | None:
    return one.ongoing if one.prepared is None else one.prepared


def _entry(record: Logged) -> LoggedTransaction:
    assert isinstance(record.content, TransactionRecord)
    assert record.content.transaction is not None
    return record.content.transaction


def _thinned(steps: Iterable[TransactionStep]) -> list[TransactionStep]:
    """Of commits of one id that follow one another within a second, the last one, with their number."""
    kept: dict[tuple[str, int], TransactionStep] = {}
    newest: dict[str, tuple[str, int]] = {}
    for number, step in enumerate(steps):
        key = (step.transactional_id, number)
        last = kept.get(newest.get(step.transactional_id, key))
        if last is not None and _is_overtaken(last, step):
            del kept[newest[step.transactional_id]]
            step = replace(step, transactions=last.transactions + 1)
        kept[key] = step
        newest[step.transactional_id] = key
    return list(kept.values())


def _is_overtaken(last: TransactionStep, step: TransactionStep) -> bool:
    both_committed = last.step is Step.COMMITTED and step.step is Step.COMMITTED
    return both_committed and last.record.at_ms // SECOND_MS == step.record.at_ms // SECOND_MS
