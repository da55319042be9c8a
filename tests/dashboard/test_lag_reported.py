"""Lag over time in a report: what is called the highest is it, and a part that nobody rolled up is not bridged."""

from types import SimpleNamespace

import pytest

from dashboard.reports import lag_over_time, questions
from dashboard.reports.document import Line, Table
from guarantees.promises import Guarantee, Pipeline
from guarantees.thresholds import Thresholds

HOUR = 3_600_000
FROM_MS = 1_764_000_000_000 // (13 * HOUR) * 13 * HOUR
PIPELINE = Pipeline("p", "orders", "g", None, Guarantee.AT_LEAST_ONCE)


def look(rows, length_h, *, starts_later_ms=0, made_later_ms=HOUR, interval_ms=5_000):
    answers = {questions.GROUP_LAG_BY_HOUR: rows, questions.GROUP_LAG_BY_MINUTE: rows}
    return SimpleNamespace(
        from_ms=FROM_MS + starts_later_ms, to_ms=FROM_MS + length_h * HOUR,
        made_ms=FROM_MS + length_h * HOUR + made_later_ms, settings=SimpleNamespace(thresholds=Thresholds()),
        stored=SimpleNamespace(interval_ms=interval_ms), ask=lambda question, **about: answers.get(question, []),
    )  # fmt: skip


def unit(at_ms, lag, lag_max=None, why=None):
    return {"at_ms": at_ms, "lag": lag, "lag_max": lag_max or lag, "unknown_reason": why}


def hours(*numbers, lag=5):
    return [unit(FROM_MS + number * HOUR, lag) for number in numbers]


def parts(looked):
    found = list(lag_over_time.parts(looked, PIPELINE))
    (line,) = [one for one in found if isinstance(one, Line)]
    table = next(one for one in found if isinstance(one, Table) and one.name == "lag_over_time")
    return line.alt, [(row[1], row[3]) for row in table.rows]


@pytest.mark.parametrize(("length_h", "unit_words"), [(1, "a minute"), (48, "an hour")])
def test_the_highest_total_is_that_of_the_ends_and_the_highest_of_a_partition_is_told_beside_it(length_h, unit_words):
    alt, _ = parts(look([unit(FROM_MS, 5, 1_000_000), unit(FROM_MS + HOUR, 3)], length_h))

    assert f"highest at the end of {unit_words}: 5 offsets; of one partition: 1,000,000 offsets." in alt
    assert "at most" not in alt


def test_a_total_that_was_never_known_is_said_to_be_so():
    alt, _ = parts(look([unit(FROM_MS, None, 7, "no commit")], 1))

    assert "highest at the end of a minute: never known; of one partition: 7 offsets." in alt


def test_a_point_of_which_hours_are_missing_is_unknown_and_a_whole_one_is_not():
    month = 31 * 24
    _, points = parts(look(hours(0, 1, 2, *range(13, 26)), month))

    assert points[0] == (None, lag_over_time.NO_ROLL_UP)
    assert points[1] == (5, None)


def test_a_point_at_the_edge_of_the_window_needs_the_hours_in_the_window_alone():
    month = 31 * 24  # 57 points of 13 hours and one of 3
    late = parts(look(hours(*range(4, 13), *range(741, 744)), month, starts_later_ms=4 * HOUR - 1))[1]

    assert (late[0], late[-1]) == ((5, None), (5, None))
    assert parts(look(hours(*range(5, 13)), month, starts_later_ms=4 * HOUR))[1][0] == (None, lag_over_time.NO_ROLL_UP)
    assert parts(look(hours(741, 742), month))[1][-1] == (None, lag_over_time.NO_ROLL_UP)


def test_a_slow_cluster_leaves_minutes_empty_and_no_point_unknown():
    every_other = [unit(FROM_MS + number * 60_000, 5) for number in range(0, 24 * 60, 2)]

    assert {why for _, why in parts(look(every_other, 24, interval_ms=120_000))[1]} == {None}
    assert {why for _, why in parts(look(every_other, 24))[1]} == {lag_over_time.NO_ROLL_UP}


def test_what_was_not_over_when_the_report_was_made_makes_no_point_unknown():
    month = 31 * 24
    all_but_the_last = hours(*range(month - 1))

    assert parts(look(all_but_the_last, month, made_later_ms=0))[1][-1] == (5, None)
    assert parts(look(all_but_the_last, month))[1][-1] == (None, lag_over_time.NO_ROLL_UP)
