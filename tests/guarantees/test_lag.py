import pytest

from guarantees.lag import NO_COMMIT, PENDING_COMMIT, Lag, consumer_lag
from guarantees.unknown import Unknown
from tests.guarantees.builders import NOBODY, commit, offsets

AHEAD = Unknown("committed beyond the end of the log")

# committed; log start, stable offset, high watermark -> purged, lag_hw, lag_lso, blocked, ahead
CASES = {
    "behind": (10, 0, 15, 15, Lag(0, 5, 5, 0, 0)),
    "caught up": (15, 0, 15, 15, Lag(0, 0, 0, 0, 0)),
    "open transaction": (10, 0, 10, 15, Lag(0, 5, 0, 5, 0)),
    "inside an open transaction": (12, 0, 10, 15, Lag(0, 3, 0, 3, 0)),
    "marker": (10, 0, 11, 11, Lag(0, 1, 1, 0, 0)),
    "beyond the end": (50, 0, 10, 10, Lag(0, AHEAD, AHEAD, 0, 40)),
    "deleted up to the end": (3, 10, 10, 10, Lag(7, 0, 0, 0, 0)),
    "below the log start": (2, 8, 10, 10, Lag(6, 2, 2, 0, 0)),
    "log start unknown": (2, NOBODY, 10, 10, Lag(NOBODY, NOBODY, NOBODY, 0, 0)),
    "stable offset unknown": (2, 0, NOBODY, 10, Lag(0, 8, NOBODY, NOBODY, 0)),
    "high watermark unknown": (2, 0, 5, NOBODY, Lag(0, NOBODY, NOBODY, NOBODY, NOBODY)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_lag_is_a_number_or_says_why_not(case):
    committed, start, stable, high, expected = case

    assert consumer_lag(commit(committed), offsets(high, stable=stable, start=start)) == expected


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (commit(None), NO_COMMIT),
        (commit(None, pending=True), PENDING_COMMIT),
        (commit(NOBODY), NOBODY),
        (NOBODY, NOBODY),
    ],
    ids=["no commit", "pending", "failed", "not read"],
)
def test_without_a_commit_every_number_says_why(read, reason):
    assert consumer_lag(read, offsets(10)) == Lag(reason, reason, reason, reason, reason)


def test_without_offsets_every_number_says_why():
    assert consumer_lag(commit(3), NOBODY) == Lag(NOBODY, NOBODY, NOBODY, NOBODY, NOBODY)


def test_a_commit_of_an_earlier_topic_has_no_lag():
    assert isinstance(consumer_lag(commit(3, topic_id="topic-id-0"), offsets(10)).lag_hw, Unknown)
    assert consumer_lag(commit(3, topic_id=None), offsets(10)).lag_hw == 7


def test_a_commit_read_after_the_high_watermark_is_neither_ahead_nor_clamped():
    lag = consumer_lag(commit(12, second=1), offsets(10))

    assert isinstance(lag.ahead, Unknown)
    assert isinstance(lag.lag_hw, Unknown)
    assert consumer_lag(commit(8, second=1), offsets(10)).lag_hw == 2
