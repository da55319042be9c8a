"""Cases of people whose records were stamped with times that are none."""

from dataclasses import replace

from guarantees.findings import Grade, Kind
from guarantees.record_times import NoAge, record_age_ms
from guarantees.rules import odd_timestamps
from tests.guarantees.builders import T0, finding, findings, seen
from tests.guarantees.logs import batch, found_by, scan

MICROSECONDS = 1_516_838_400_000_000
FOUR_DAYS_AFTER_1970 = 332_800_244


def stamped(timestamp_ms):
    return found_by(odd_timestamps, [scan(replace(batch(0), max_timestamp_ms=timestamp_ms))])


def test_case_C53_microseconds_taken_for_milliseconds_have_no_age_and_a_flag_with_the_distance():
    (found,) = stamped(MICROSECONDS)

    assert record_age_ms(MICROSECONDS, T0) is NoAge.FUTURE
    assert found.evidence["ahead_by_ms"] == MICROSECONDS - T0
    assert f"in the future by {(MICROSECONDS - T0) / 1000:,.0f} s" in found.statements[0].text
    assert "keeps its segment" in found.statements[1].text


def test_case_C54_records_stamped_near_1970_are_flagged_before_they_vanish():
    (found,) = stamped(FOUR_DAYS_AFTER_1970)

    assert (found.severity, found.statements[1].grade) == (3, Grade.PROBABLE)
    assert "deletes its segment at the next check" in found.statements[1].text


def test_case_C54_a_log_start_that_jumps_to_the_end_is_a_hole_for_a_group_that_had_not_read_it():
    unread = finding(seen(0, high=5, committed=0), seen(300, high=5, start=5, committed=0), kind=Kind.EXPIRED_UNREAD)

    assert (unread.bounds.lower, unread.bounds.upper) == (0, 5)
    assert not findings(seen(0, high=1, no_commit=True), seen(300, high=1, start=1, no_commit=True))
