"""Whole findings of what batch headers and open transactions show."""

from collections.abc import Callable, Iterable, Mapping

from guarantees.findings import Finding
from guarantees.rules import producer_recovered, resent_batch
from tests.guarantees.builders import NOBODY, finding, producer, seen, transaction
from tests.guarantees.logs import ABORT, COMMIT, batch, marker
from tests.guarantees.test_missing_sequences import NEW, OLD, missing
from tests.guarantees.test_producer_recovered import FIRST, recovered
from tests.guarantees.test_resent_batch import resent
from tests.guarantees.test_sequence_gap import FIRST as BEFORE_THE_GAP
from tests.guarantees.test_sequence_gap import gaps
from tests.guarantees.test_stable_offset import ALL_ASKED, ELSEWHERE, FROZEN, held
from tests.guarantees.test_transaction_ends import FENCED, OTHER, PARTITION, data, described, restarted, shown


def only(findings: Iterable[Finding]) -> Finding:
    (found,) = findings
    return found


def resent_batch_without_idempotence() -> Finding:
    return only(resent(batch(10, 3, value="a", spans_ms=5), batch(13), batch(14, 3, value="a", spans_ms=5, leader=4)))


def resent_batch_of_one_record() -> Finding:
    return only(resent(batch(0, value="a"), batch(1, value="a")))


def resent_batch_of_the_same_sequences() -> Finding:
    return only(resent(batch(0, 5, pid=9, seq=0), batch(5, 5, pid=9, seq=5), batch(10, 7, pid=9, seq=5)))


def resent_batch_whose_first_copy_is_forgotten() -> Finding:
    return only(resent(*(batch(n, pid=9, seq=n) for n in range(8)), batch(8, pid=9, seq=1)))


def resent_batch_under_a_raised_epoch() -> Finding:
    return only(resent(batch(100, 2, pid=9, seq=41, leader=17, value=7), batch(102, 2, pid=9, epoch=1, seq=0, value=7)))


def resent_batches_of_one_producer() -> Finding:
    return resent_batch.joined(*resent(*(batch(n, pid=9, seq=n % 2) for n in range(4))))


def missing_sequences_under_a_new_leader() -> Finding:
    return only(missing(OLD, NEW))


def missing_sequences_under_the_same_leader() -> Finding:
    return only(missing(OLD, batch(101, 17, pid=2, seq=1, leader=3)))


def missing_sequences_of_an_unknown_producer() -> Finding:
    return only(missing(OLD, NEW, known=NOBODY))


def sequence_gap() -> Finding:
    return only(gaps(BEFORE_THE_GAP, batch(5, pid=9, seq=6)))


def producer_recovered_from_an_error() -> Finding:
    return only(recovered(FIRST, batch(1, pid=9, epoch=1, seq=0)))


def producers_recovered_after_an_election() -> Finding:
    before = (FIRST, batch(1, pid=8, seq=0))
    after = (batch(2, pid=9, epoch=1, seq=0, leader=1), batch(3, pid=8, epoch=1, seq=0, leader=1))
    return producer_recovered.joined(*recovered(*before, *after))


def producer_fenced() -> Finding:
    return only(shown(*FENCED))


def producers_that_fence_each_other() -> Finding:
    turns = [
        (data(2 * turn, epoch=2 * turn), marker(2 * turn + 1, ABORT, pid=7, epoch=2 * turn + 1)) for turn in range(4)
    ]
    return only(shown(*(one for turn in turns for one in turn)))


def unfenced_restart() -> Finding:
    return only(restarted())


def transaction_timed_out() -> Finding:
    return only(shown(data(0), marker(1, ABORT, pid=7, epoch=1, second=61), transactions=[described()], second=65))


def torn_transaction() -> Finding:
    others = (data(10), marker(11, COMMIT, pid=7, epoch=1))
    return only(shown(data(0, count=3), marker(3, ABORT, pid=7, epoch=1), others=others))


def torn_transaction_below_version_2() -> Finding:
    others = (data(10), marker(11, COMMIT, pid=7, second=2))
    described_on_both = [described(partitions=[PARTITION, OTHER])]
    return only(shown(data(0), marker(1, ABORT, pid=7, second=2), others=others, transactions=described_on_both))


def torn_transaction_written_late() -> Finding:
    return only(shown(data(0), marker(1, COMMIT, pid=7, epoch=1), data(2, seq=1)))


def stable_offset_frozen_by_a_hanging_transaction() -> Finding:
    silent = (producer(90, last_second=-841),)
    return finding(*held(60, high=91, transactions=ELSEWHERE, producers=silent), kind=FROZEN)


def stable_offset_frozen_by_a_transaction_that_nobody_knows() -> Finding:
    return finding(*held(60, transactions=(), coverage=ALL_ASKED), kind=FROZEN)


def stable_offset_frozen_without_the_leaders_answer() -> Finding:
    return finding(*held(30, producers=NOBODY), kind=FROZEN)


def stable_offset_frozen_without_any_answer() -> Finding:
    return finding(*held(30, producers=NOBODY, transactions=()), kind=FROZEN)


def stable_offset_that_was_frozen() -> Finding:
    ended = seen(15, high=101, stable=101, transactions=(transaction(PARTITION, state="CompleteCommit"),))
    return finding(*held(10), ended, kind=FROZEN)


WHOLE_BATCHES: Mapping[str, Callable[[], Finding]] = {
    each.__name__: each
    for each in (
        resent_batch_without_idempotence,
        resent_batch_of_one_record,
        resent_batch_of_the_same_sequences,
        resent_batch_whose_first_copy_is_forgotten,
        resent_batch_under_a_raised_epoch,
        resent_batches_of_one_producer,
        missing_sequences_under_a_new_leader,
        missing_sequences_under_the_same_leader,
        missing_sequences_of_an_unknown_producer,
        sequence_gap,
        producer_recovered_from_an_error,
        producers_recovered_after_an_election,
        producer_fenced,
        producers_that_fence_each_other,
        unfenced_restart,
        transaction_timed_out,
        torn_transaction,
        torn_transaction_below_version_2,
        torn_transaction_written_late,
        stable_offset_frozen_by_a_hanging_transaction,
        stable_offset_frozen_by_a_transaction_that_nobody_knows,
        stable_offset_frozen_without_the_leaders_answer,
        stable_offset_frozen_without_any_answer,
        stable_offset_that_was_frozen,
    )
}
