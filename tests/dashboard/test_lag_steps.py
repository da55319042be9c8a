"""Which sources lag over a window is read from: coarse ones for long windows, and each only where the last one ends."""

import pytest

from dashboard.lag_questions import LagQuestions
from dashboard.lag_steps import LagSteps
from dashboard.queries import Question

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
T0 = 20_000 * DAY
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
    """What is asked where each source's newest bucket is as given; the spans as distances before the end."""
    spans = {}

    def ask(question, from_ms, to_ms):
        spans[question.sql] = T0 - from_ms
        assert to_ms == T0
        return [{"at_ms": T0 - newest[question.sql]}] if question.sql in newest else []

    chosen.rows(QUESTIONS, ask)
    return spans


def test_each_source_is_read_from_where_the_coarser_one_ends():
    assert asked(steps(7 * DAY, cells=240), by_hour=2 * HOUR, by_minute=HOUR) == {"by_hour": 7 * DAY, "by_minute": HOUR}
    assert asked(steps(HOUR), by_minute=3 * MINUTE) == {"by_minute": HOUR, "raw": 2 * MINUTE}


def test_raw_samples_are_never_read_further_back_than_a_quarter_of_an_hour():
    assert asked(steps(DAY)) == {"by_minute": DAY, "raw": 15 * MINUTE}


def test_what_a_coarser_source_has_told_to_the_end_is_not_asked_again():
    assert asked(steps(HOUR), by_minute=MINUTE) == {"by_minute": HOUR}
