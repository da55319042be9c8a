"""For how much of a window a promise was kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guarantees.promise_time import MINUTE_MS, Stretch, promise_time
from guarantees.promises import Verdict

LENGTH = 10 * MINUTE_MS
BAD, WEAK, DARK = Verdict.VIOLATED, Verdict.DEGRADED, Verdict.UNKNOWN


def minutes(*stretches: tuple[float, float, Verdict], to_ms: int = LENGTH):
    known = [Stretch(round(a * MINUTE_MS), round(b * MINUTE_MS), verdict, "why") for a, b, verdict in stretches]
    time = promise_time(0, to_ms, known)
    return tuple(time.ms(one) / MINUTE_MS for one in (Verdict.OK, WEAK, BAD, DARK))


CASES = [
    ("nothing known against it", (), (10, 0, 0, 0)),
    ("an instant costs its minute", ((2.5, 2.5, BAD),), (9, 0, 1, 0)),
    ("both ends are widened to minutes", ((1.9, 3.1, BAD),), (7, 0, 3, 0)),
    ("two in one minute cost one", ((2.1, 2.2, BAD), (2.7, 2.8, BAD)), (9, 0, 1, 0)),
    ("a violation in the dark is a violation", ((2, 5, DARK), (3, 4, BAD)), (7, 0, 1, 2)),
    ("a lost margin is known although others are dark", ((0, 10, DARK), (3, 4, WEAK)), (0, 1, 0, 9)),
    ("a violation outweighs a lost margin", ((3, 5, WEAK), (3, 4, BAD)), (8, 1, 1, 0)),
    ("what lies outside the window counts for nothing", ((-5, -1, BAD), (11, 12, BAD)), (10, 0, 0, 0)),
    ("what reaches beyond it is cut", ((-5, 1, BAD), (9, 12, DARK)), (8, 0, 1, 1)),
]


@pytest.mark.parametrize(("stretches", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_minute_counts_for_the_worst_that_is_known_of_it(stretches, expected):
    assert minutes(*stretches) == expected


def test_unknown_time_is_kept_at_most_and_never_at_least():
    assert promise_time(0, LENGTH, [Stretch(0, 3 * MINUTE_MS, DARK, "why")]).kept_ms == (7 * MINUTE_MS, LENGTH)


def test_an_empty_window_has_no_time():
    assert minutes((0, 5, BAD), to_ms=0) == (0, 0, 0, 0)


SPANS = st.tuples(st.integers(-3, 12), st.integers(0, 6), st.sampled_from([BAD, WEAK, DARK]))


@given(st.lists(SPANS, max_size=12))
def test_shares_equal_a_count_of_minutes_one_by_one(spans):
    stretches = [(start, start + length, verdict) for start, length, verdict in spans]

    def worst(minute: int) -> Verdict:
        here = [v for a, b, v in stretches if a <= minute < max(b, a + 1)]
        return next((v for v in (BAD, WEAK, DARK) if v in here), Verdict.OK)

    counted = [worst(minute) for minute in range(10)]
    assert minutes(*stretches) == tuple(counted.count(one) for one in (Verdict.OK, WEAK, BAD, DARK))
