"""Traps 7, 11 and 13 of the list in test_traps.py: each silent, and loud when its one excuse is gone."""

from guarantees.findings import Kind
from guarantees.rules import producer_recovered, resent_batch
from tests.guarantees.builders import findings
from tests.guarantees.logs import ABORT, COMMIT, batch, found_by, marker, scan
from tests.guarantees.test_commit_epochs import at_second
from tests.guarantees.test_transaction_ends import data, shown

LAST_SEQUENCE = 2**31 - 1


def test_trap_07_a_producer_that_raises_its_epoch_at_every_end_is_not_fenced():
    """The same ABORT marker, one epoch above its data: what a COMMIT marker before it showed is the difference."""

    def aborted(commit_epoch):
        return {
            one.kind
            for one in shown(
                data(0),
                marker(1, COMMIT, pid=7, epoch=commit_epoch),
                data(2, epoch=1),
                marker(3, ABORT, pid=7, epoch=2),
            )
        }

    assert not aborted(commit_epoch=1)
    assert Kind.PRODUCER_FENCED in aborted(commit_epoch=0)


def test_trap_07_a_raised_epoch_is_a_recovery_only_outside_transactions():
    def recovered(tx):
        first, second = batch(0, pid=9, seq=0, tx=tx), batch(1, pid=9, epoch=1, seq=0, tx=tx)
        return found_by(producer_recovered, [scan(first, second)])

    assert not recovered(tx=True)
    assert recovered(tx=False)


def test_trap_13_sequences_that_wrap_do_not_repeat():
    def resent(next_sequence):
        batches = (batch(0, 2, pid=9, seq=LAST_SEQUENCE - 1), batch(2, 2, pid=9, seq=next_sequence))
        return found_by(resent_batch, [scan(*batches)])

    assert not resent(0)
    assert resent(LAST_SEQUENCE)


def test_trap_13_a_batch_that_compaction_emptied_keeps_its_sequences_and_repeats_nothing():
    def resent(records):
        batches = (batch(0, 3, pid=9, seq=0), batch(3, 3, pid=9, seq=0, records=records))
        return found_by(resent_batch, [scan(*batches)])

    assert not resent(0)
    assert resent(3)


def test_trap_11_a_commit_that_moves_on_under_an_old_epoch_names_a_wrong_epoch_and_no_cut():
    """The end of the epoch was known while the commit lay before it: then the log held it, and it moved past."""

    def told(first):
        rounds = (at_second(0, first, end=163), at_second(5, 700, end=163), at_second(10, 700, end=163))
        return {one.kind for one in findings(*rounds)} & {Kind.COMMIT_IN_TRUNCATED_LOG, Kind.WRONG_COMMIT_EPOCH}

    assert told(first=160) == {Kind.WRONG_COMMIT_EPOCH}
    assert told(first=700) == {Kind.COMMIT_IN_TRUNCATED_LOG}
