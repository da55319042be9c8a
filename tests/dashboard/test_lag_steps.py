"""Which sources lag over a window is read from: coarse ones for long windows, and each only where the last one ends."""

import math

import pytest

from dashboard import lag_questions, queries, shapes
from dashboard.lag_questions import LagQuestions
from dashboard.lag_steps import LagSteps
from dashboard.queries import Question
from store.log import SegmentLog
from store.maintenance import roll_up
from store.segments import producer_name

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
T0 = 20_000 * DAY
AT = T0 + 12 * HOUR  # a bucket of three hours begins here
QUESTIONS = LagQuestions(*(Question((), name) for name in ("raw", "by_minute", "by_hour")))


def steps(length_ms, *, reads_raw=True, cells=60):
    return LagSteps(T0 - length_ms, T0, 5_000, cells, reads_raw)


@pytest.mark.parametrize(
    ("length_ms", "reads_raw", "sources", "bucket_ms"),
    [
        (15 * MINUTE, True, ("raw",), 20_000),
        (15 * MINUTE, False, ("by_minute",), MINUTE),
        (HOUR, True, ("by_minute", "raw"), MINUTE),
        (HOUR, False, ("by_minute",), MINUTE),
        (DAY, True, ("by_minute", "raw"), 24 * MINUTE),
        (7 * DAY, True, ("by_hour", "by_minute", "raw"), 3 * HOUR),
        (7 * DAY, False, ("by_hour", "by_minute"), 3 * HOUR),
    ],
)
def test_the_length_of_the_window_chooses_the_sources_and_the_bucket(length_ms, reads_raw, sources, bucket_ms):
    chosen = steps(length_ms, reads_raw=reads_raw)

    assert (chosen.sources, chosen.bucket_ms) == (sources, bucket_ms)


def asked(chosen, **newest):
    """What is asked where each source's newest period is as given; the spans as distances before the end."""
    spans = {}

    def ask(question, from_ms, to_ms):
        spans[question.sql] = T0 - from_ms
        assert to_ms == T0
        return [{"newest_ms": T0 - newest[question.sql]}] if question.sql in newest else []

    chosen.rows(QUESTIONS, ask)
    return spans


def test_each_source_is_read_from_where_the_coarser_one_ends():
    assert asked(steps(7 * DAY, cells=240), by_hour=2 * HOUR, by_minute=6 * MINUTE) == {
        "by_hour": 7 * DAY, "by_minute": HOUR, "raw": 5 * MINUTE
    }  # fmt: skip
    assert asked(steps(HOUR), by_minute=3 * MINUTE) == {"by_minute": HOUR, "raw": 2 * MINUTE}


def test_raw_samples_are_never_read_further_back_than_a_quarter_of_an_hour():
    assert asked(steps(DAY)) == {"by_minute": DAY, "raw": 15 * MINUTE}


def test_what_a_coarser_source_has_told_to_the_end_is_not_asked_again():
    assert asked(steps(HOUR), by_minute=MINUTE) == {"by_minute": HOUR}


def test_a_bucket_that_a_coarse_source_tells_in_part_is_told_on_by_the_finer_ones():
    """Buckets of three hours: the hour that is under way is in the same one as the two before it."""
    assert asked(steps(7 * DAY), by_hour=HOUR + 59 * MINUTE, by_minute=2 * MINUTE) == {
        "by_hour": 7 * DAY, "by_minute": 59 * MINUTE, "raw": MINUTE
    }  # fmt: skip


def test_the_newest_part_of_a_bucket_is_its_value_unless_another_part_is_unknown():
    parts = [("a", 5), ("a", 1_000_000), ("b", None), ("b", 7), ("c", 7), ("c", None), ("d", 3)]
    rows = [{"group_id": group_id, "at_ms": 0, "lag": lag} for group_id, lag in parts]

    assert shapes.trends(rows, 0, 20, 10) == {
        "a": (1_000_000, None), "b": (None, None), "c": (None, None), "d": (3, None)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "highest", "total"),
    [
        ([(90, 3, None), (50, 4, None)], 90, 4),
        ([(90, 3, "no answer"), (50, 4, None)], 90, None),
        ([(None, None, "no answer"), (50, 4, None)], 50, None),
        ([(50, 4, None), (None, None, "no answer")], 50, None),
    ],
)
def test_a_cell_of_two_parts_draws_the_highest_and_sums_the_last_unless_a_part_is_unknown(parts, highest, total):
    rows = [
        {"topic": "t", "partition": 0, "at_ms": 0, "lag": lag, "last": last, "unknown_reason": reason}
        for lag, last, reason in parts
    ]

    history = shapes.lag_history(rows, 0, 10, 10)

    assert history.cells.tolist() == [[highest]]
    assert [None if math.isnan(value) else value for value in history.total.tolist()] == [total]


@pytest.fixture
def risen(tmp_path):
    """An hour that is told by the hour, one by the minute, and a minute by its samples; lag rose in the second one."""
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    for at_ms in range(AT, AT + 2 * HOUR, 30_000):
        lag = 10 if at_ms < AT + HOUR + 5 * MINUTE else 1_000_000
        about = {"cluster_id": "c", "tick": at_ms, "topic": "t", "topic_id": "id", "partition": 0, "broker": 1}
        log.append("committed_offsets", [about | {"group_id": "g", "committed_offset": 0, "is_pending": False,
                                                  "requested_at": at_ms, "observed_at": at_ms}])  # fmt: skip
        log.append("partition_offsets", [about | {"log_start_offset": 0, "last_stable_offset": lag,
                                                  "high_watermark": lag, "log_start_observed_at": at_ms,
                                                  "observed_at": at_ms + 10}])  # fmt: skip
    log.close()
    while roll_up(tmp_path, AT + 2 * HOUR - MINUTE):
        pass
    return tmp_path


def test_lag_that_rose_within_the_hour_is_in_a_trend_and_a_chart_of_seven_days(risen):
    to_ms = AT + 2 * HOUR - MINUTE
    chosen = LagSteps(to_ms - 7 * DAY, to_ms, 30_000, 60, reads_raw=True)
    about = {"cluster_id": "c", "group_id": "g", "topics": ["t"], "step_ms": chosen.bucket_ms,
             "left_groups": [], "left_topics": []}  # fmt: skip

    def rows(questions):
        return chosen.rows(questions, lambda question, *span: queries.ask(risen, *span, question, about))

    window = chosen.from_ms, to_ms, chosen.bucket_ms
    (trend,) = shapes.trends(rows(lag_questions.LAG_TREND), *window).values()
    history = shapes.lag_history(rows(lag_questions.LAG_CELLS), *window)
    assert (chosen.bucket_ms, trend[-1]) == (3 * HOUR, 1_000_000)
    assert (history.cells[0, -1], history.total[-1]) == (1_000_000, 1_000_000)
