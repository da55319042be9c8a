"""What became of transactions, told by the records of their coordinator in the order brokers of version 4.2 write."""

import pytest

from guarantees.internal_records import Logged, LoggedTransaction, TransactionRecord, TransactionState
from guarantees.places import TopicPartition
from guarantees.transaction_timeline import Step, transaction_steps

EMPTY, ONGOING = TransactionState.EMPTY, TransactionState.ONGOING
PREPARE_COMMIT, COMMITTED = TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT
PREPARE_ABORT, ABORTED = TransactionState.PREPARE_ABORT, TransactionState.COMPLETE_ABORT
ORDERS = frozenset({TopicPartition("orders", 0)})
TIMEOUT_MS = 60_000


def entry(state, at_ms, *, epoch=0, started=1_000, version=0, producer_id=5, name="tx"):
    has_partitions = state in (ONGOING, PREPARE_COMMIT, PREPARE_ABORT)
    transaction = LoggedTransaction(
        producer_id=producer_id,
        producer_epoch=epoch,
        timeout_ms=TIMEOUT_MS,
        state=state,
        partitions=ORDERS if has_partitions else frozenset(),
        updated_at_ms=at_ms,
        started_at_ms=None if state is EMPTY else started,
        client_version=version,
    )
    return Logged(0, at_ms, at_ms, None, TransactionRecord(name, transaction))


def told(*records):
    return transaction_steps({}, records)[1]


def test_a_committed_transaction_is_told_by_its_end_with_the_times_of_its_begin():
    (step,) = told(entry(ONGOING, 1_000), entry(ONGOING, 1_100), entry(PREPARE_COMMIT, 1_200), entry(COMMITTED, 1_210))

    assert (step.step, step.started_at_ms, step.prepared_at_ms, step.record.at_ms) == (
        Step.COMMITTED, 1_000, 1_200, 1_210)  # fmt: skip
    assert (step.partitions, step.data_epoch, step.transactions) == (ORDERS, 0, 1)


def test_an_open_transaction_is_told_once_and_then_by_its_end():
    ids, first = transaction_steps({}, [entry(ONGOING, 1_000)])
    ids, second = transaction_steps(ids, [entry(ONGOING, 1_100)])
    ids, third = transaction_steps(ids, [entry(PREPARE_COMMIT, 1_200)])
    ids, fourth = transaction_steps(ids, [entry(COMMITTED, 1_300)])

    assert [[step.step for step in steps] for steps in (first, second, third, fourth)] == [
        [Step.BEGUN], [], [Step.ENDING], [Step.COMMITTED]]  # fmt: skip
    assert ids == {}


def test_a_client_that_aborts_keeps_its_epoch():
    (step,) = told(entry(ONGOING, 1_000), entry(PREPARE_ABORT, 1_100), entry(ABORTED, 1_110))

    assert (step.step, step.why) == (Step.ABORTED, "by its producer: the epoch did not rise")


FENCED = (entry(ONGOING, 1_000), entry(PREPARE_ABORT, 1_100, epoch=1, version=2),
          entry(ABORTED, 1_110, epoch=1, version=2), entry(EMPTY, 1_600, epoch=2))  # fmt: skip


def test_a_coordinator_that_raises_the_epoch_before_the_timeout_fences():
    fenced, initialised = told(*FENCED)

    assert (fenced.step, fenced.data_epoch, fenced.entry.producer_epoch) == (Step.FENCED, 0, 1)
    assert fenced.client_version == 0
    assert initialised.step is Step.INITIALISED


def test_a_coordinator_that_raises_the_epoch_after_the_timeout_timed_it_out():
    overdue_ms = 1_000 + TIMEOUT_MS

    (step,) = told(
        entry(ONGOING, 1_000), entry(PREPARE_ABORT, overdue_ms, epoch=1), entry(ABORTED, overdue_ms + 10, epoch=1)
    )

    assert step.step is Step.TIMED_OUT


@pytest.mark.parametrize(
    ("after_ms", "step", "says"),
    [(100, Step.ABORTED, "or fenced"), (TIMEOUT_MS, Step.TIMED_OUT, "would look the same")],
)
def test_of_a_client_that_raises_its_epoch_itself_it_is_said_what_cannot_be_told_apart(after_ms, step, says):
    end_ms = 1_000 + after_ms
    (found,) = told(
        entry(ONGOING, 1_000, version=2),
        entry(PREPARE_ABORT, end_ms, epoch=1, version=2),
        entry(ABORTED, end_ms + 1, epoch=1, version=2),
    )

    assert found.step is step
    assert says in found.why


@pytest.mark.parametrize(
    "before",
    [[], [entry(ONGOING, 500, started=400)], [entry(ONGOING, 1_000, producer_id=4)]],
    ids=["not read", "another transaction", "another producer id"],
)
def test_who_aborted_a_transaction_whose_begin_was_not_read_is_not_known(before):
    *_, step = told(*before, entry(PREPARE_ABORT, 1_100, epoch=1), entry(ABORTED, 1_110, epoch=1))

    assert (step.step, step.why) == (Step.ABORTED, "by whom is not known: its beginning was not read")


def test_an_end_alone_tells_no_partitions():
    (step,) = told(entry(COMMITTED, 1_210))

    assert (step.step, step.partitions, step.prepared_at_ms) == (Step.COMMITTED, None, None)


def test_an_id_that_expired_is_told():
    (step,) = told(Logged(0, 1, 1_000, None, TransactionRecord("tx", None)))

    assert (step.step, step.entry) == (Step.EXPIRED, None)


def test_commits_of_an_id_in_one_second_are_one_step_and_others_are_not():
    def transaction(at_ms, name="tx", end=(PREPARE_COMMIT, COMMITTED)):
        states = (ONGOING, *end)
        return [entry(state, at_ms + number, started=at_ms, name=name) for number, state in enumerate(states)]

    steps = told(
        *transaction(1_000), *transaction(1_100), *transaction(1_150, "other"),
        *transaction(1_200, end=(PREPARE_ABORT, ABORTED)), *transaction(1_300), *transaction(2_000),
    )  # fmt: skip

    assert [(step.transactional_id, step.step, step.transactions) for step in steps] == [
        ("tx", Step.COMMITTED, 2), ("other", Step.COMMITTED, 1), ("tx", Step.ABORTED, 1),
        ("tx", Step.COMMITTED, 1), ("tx", Step.COMMITTED, 1),
    ]  # fmt: skip
