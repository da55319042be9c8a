from dataclasses import replace

import pytest

from guarantees.audits import DuplicateCause
from guarantees.findings import Bounds, Grade, Unit
from guarantees.rules import resent_batch
from tests.guarantees.logs import ABORT, PLACE, batch, found_by, marker, scan

WRAP = 2**31


def resent(*batches, **read):
    return found_by(resent_batch, [scan(*batches, **read)])


def exactly(records):
    return Bounds(records, records, records, Unit.RECORDS)


def test_a_batch_of_a_producer_without_idempotence_stored_twice_is_one_sent_again():
    (finding,) = resent(batch(10, 3, value="a", spans_ms=5), batch(13), batch(14, 3, value="a", spans_ms=5, leader=4))

    assert finding.anchor == "not_idempotent, leader epoch 4"
    assert (finding.severity, finding.grade, finding.bounds) == (3, Grade.PROVEN, exactly(3))
    assert finding.evidence["first_copy_offset"] == 10
    assert finding.evidence["offset"] == 14


@pytest.mark.parametrize(
    ("count", "spans_ms", "grade"),
    [(2, 1, Grade.PROVEN), (2, 0, Grade.PROBABLE), (1, 0, Grade.PROBABLE), (1, 5, Grade.PROBABLE)],
)
def test_only_records_of_several_milliseconds_prove_that_equal_bytes_are_a_resend(count, spans_ms, grade):
    (finding,) = resent(
        batch(0, count, value="a", spans_ms=spans_ms), batch(count, count, value="a", spans_ms=spans_ms)
    )

    assert finding.grade is grade


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(batch(1, value="b"), id="another payload"),
        pytest.param(batch(1, value="a", second=0.001), id="an equal payload a millisecond later"),
        pytest.param(batch(1, 2, value="a"), id="another number of records"),
        pytest.param(batch(1, value="a", records=0), id="emptied by compaction"),
        pytest.param(batch(1, value="a", pid=7, seq=0), id="by a producer with an id"),
        pytest.param(batch(1, value="a", append_time=True), id="stamped at append, the first was not"),
    ],
)
def test_what_differs_in_one_fact_is_not_sent_again(second):
    assert resent(batch(0, value="a"), second) == []


def test_stamping_at_append_changes_the_crc_and_not_the_verdict():
    first = batch(0, 2, value="a", spans_ms=5, append_time=True, append_second=1)
    again = batch(2, 2, value="a", spans_ms=5, append_time=True, append_second=9)
    (finding,) = resent(first, again)

    assert first.crc != again.crc
    assert (finding.grade, finding.statements[0].assumption) == (Grade.PROBABLE, resent_batch.ONE_PAYLOAD_A_TIME)


@pytest.mark.parametrize(("apart_s", "count"), [(120, 1), (120.001, 0)])
def test_a_retry_comes_within_the_delivery_timeout(apart_s, count):
    first, again = batch(0, value="a"), batch(1, value="a")

    assert len(found_by(resent_batch, [scan(first), scan(again, second=apart_s)])) == count


def test_an_answer_that_reaches_back_before_its_range_is_no_repeat():
    first = batch(0, 3, value="a")

    assert found_by(resent_batch, [scan(first), scan(first, batch(3), first=3)]) == []


def test_a_sequence_stored_twice_proves_that_the_leader_had_lost_the_producer():
    (finding,) = resent(
        batch(0, 5, pid=9, seq=0), batch(5, 5, pid=9, seq=5), batch(10, 5, pid=9, seq=5), batch(15, pid=9, seq=10)
    )

    assert finding.anchor == "same_sequence, producer 9, epoch 0"
    assert (finding.severity, finding.grade, finding.bounds) == (4, Grade.PROVEN, exactly(5))
    assert (finding.evidence["first_copy_offset"], finding.evidence["offset"]) == (5, 10)
    assert finding.evidence["cause"] == DuplicateCause.SAME_SEQUENCE


@pytest.mark.parametrize(
    ("base", "count", "repeated"),
    [(9, 1, 1), (10, 1, None), (8, 4, 2), (0, 10, 10), (0, 12, 10), (4, 2, 2), (11, 3, None)],
)
def test_only_sequences_that_were_stored_count_as_repeated(base, count, repeated):
    found = resent(batch(0, 10, pid=9, seq=0), batch(10, count, pid=9, seq=base))

    assert [finding.bounds for finding in found] == ([] if repeated is None else [exactly(repeated)])


def test_a_repeat_of_what_is_older_than_five_batches_is_found_without_its_first_copy():
    (finding,) = resent(*(batch(n, pid=9, seq=n) for n in range(8)), batch(8, pid=9, seq=2))

    assert finding.evidence["first_copy_offset"] is None


def test_sequences_before_the_first_one_seen_repeat_nothing_that_is_known():
    assert resent(batch(0, 5, pid=9, seq=50), batch(5, 5, pid=9, seq=45)) == []
    (finding,) = resent(batch(0, 5, pid=9, seq=50), batch(5, 6, pid=9, seq=45))
    assert finding.bounds == exactly(1)


@pytest.mark.parametrize(
    "batches",
    [
        pytest.param((batch(0, 5, pid=9, seq=WRAP - 5), batch(5, 5, pid=9, seq=0)), id="the sequence wraps to 0"),
        pytest.param((batch(0, 5, pid=9, seq=WRAP - 3), batch(5, 5, pid=9, seq=2)), id="a batch wraps in its middle"),
        pytest.param((batch(0, 5, pid=9, seq=0), batch(5, 5, pid=9, seq=0, records=0)), id="emptied by compaction"),
        pytest.param((batch(0, 5, pid=9, seq=0), batch(5, 5, pid=8, seq=0)), id="another producer"),
        pytest.param((batch(0, 5, pid=9, seq=0), batch(5, 5, pid=9, epoch=1, seq=0)), id="another epoch"),
        pytest.param((batch(0, pid=9, seq=0, tx=True), marker(1, ABORT, pid=9), marker(2, ABORT, pid=9)), id="markers"),
        pytest.param((marker(0, ABORT, pid=9), batch(1, pid=9, seq=0, tx=True)), id="data after a marker alone"),
    ],
)
def test_what_only_looks_like_a_repeated_sequence_is_silent(batches):
    assert resent(*batches) == []


def test_a_sequence_that_repeats_across_the_wrap_is_found():
    (finding,) = resent(batch(0, 5, pid=9, seq=WRAP - 3), batch(5, 5, pid=9, seq=WRAP - 3))

    assert finding.bounds == exactly(5)


def test_a_topic_made_anew_repeats_nothing():
    other = replace(PLACE, topic_id="another")
    first = batch(0, 5, pid=9, seq=0)

    assert found_by(resent_batch, [scan(first), scan(batch(5, 5, pid=9, seq=0), place=other)]) == []


def test_the_same_records_under_a_raised_epoch_are_one_duplicate():
    (finding,) = resent(
        batch(100, pid=9, seq=41, leader=17, value=77),
        batch(101, pid=9, epoch=1, seq=0, leader=18, value=77),
        batch(102, pid=9, epoch=1, seq=1, leader=18, value=78),
    )

    assert finding.anchor == "other_epoch, producer 9, epoch 1"
    assert (finding.severity, finding.grade, finding.bounds) == (3, Grade.PROBABLE, exactly(1))


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(batch(1, pid=9, epoch=1, seq=0, value=78), id="another value"),
        pytest.param(batch(1, pid=9, epoch=1, seq=0, value=77, tx=True), id="a transaction that tries again"),
        pytest.param(batch(1, pid=8, epoch=1, seq=0, value=77), id="another producer"),
        pytest.param(batch(1, pid=9, epoch=1, seq=0, value=77, second=1), id="another time"),
    ],
)
def test_a_raised_epoch_alone_is_no_duplicate(second):
    assert resent(batch(0, pid=9, seq=41, value=77, tx=second.is_transactional), second) == []


@pytest.mark.parametrize("epoch", [0, 1])
def test_the_same_records_under_an_epoch_that_fell_back_are_not_sent_again_under_a_raised_one(epoch):
    first, between = batch(0, pid=9, epoch=epoch, seq=0, value=77), batch(1, pid=9, epoch=epoch + 1, seq=0)

    assert resent(first, between, batch(2, pid=9, epoch=epoch, seq=0, value=77)) == []


def test_the_first_copy_is_one_of_the_same_epoch():
    (finding,) = resent(
        batch(0, 5, pid=9, seq=0), batch(5, 5, pid=9, epoch=1, seq=0), batch(10, 5, pid=9, epoch=1, seq=0)
    )

    assert finding.evidence["first_copy_offset"] == 5


def test_copies_of_one_cause_are_one_finding_and_a_second_evaluation_counts_none_twice():
    pairs = [batch(n, value=n // 2, spans_ms=0) for n in range(4)]
    first, second = resent(*pairs)

    both = resent_batch.joined(first, second)

    assert first.finding_id == second.finding_id
    assert (both.bounds, both.title) == (exactly(2), "orders-0: 2 records stored twice")
    assert both.evidence["first_copy_offset"] == 0
    assert resent_batch.joined(both, second) == both
    assert resent_batch.joined(both, first) == both
