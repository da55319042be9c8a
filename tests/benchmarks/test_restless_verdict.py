"""The verdict on a run with broken brokers: each reproach has a run that earns it, and one that does not."""

import pytest

from benchmarks.restless_verdict import (
    SETTLED_AFTER_MS,
    Answer,
    Away,
    Used,
    falsely_complete,
    growth,
    impossible_answers,
    incomplete_in_peace,
    late_ticks,
    missing_ticks,
)

AWAY = Away(broker=2, deed="killed", from_ms=10_000, to_ms=20_000, back_ms=25_000)


def row(tick=1, started_ms=0, ended_ms=100, asked=3, answered=3, signal="replica_offsets"):
    return {
        "tick": tick,
        "signal": signal,
        "started_ms": started_ms,
        "ended_ms": ended_ms,
        "asked": asked,
        "answered": answered,
    }


def test_a_round_between_others_that_is_not_stored_is_missing():
    assert missing_ticks([row(4), row(5), row(7)]) == [6]
    assert missing_ticks([row(4), row(5), row(6)]) == []


def test_a_round_is_late_more_than_two_intervals_after_the_one_before():
    assert late_ticks([row(1, 0), row(2, 4_000)], interval_s=2.0) == []
    assert late_ticks([row(1, 0), row(2, 4_001)], interval_s=2.0) == [2]


def test_a_round_begins_with_its_first_signal():
    assert late_ticks([row(1, 0), row(2, 9_000), row(2, 2_000)], interval_s=2.0) == []


@pytest.mark.parametrize(
    ("answer", "is_impossible"),
    [
        (Answer(2, 7, 10_001, 19_999), True),
        (Answer(1, 7, 10_001, 19_999), False),
        (Answer(2, None, 10_001, 19_999), False),
        (Answer(2, 7, 10_000, 19_999), False),
        (Answer(2, 7, 10_001, 20_000), False),
        (Answer(2, None, None, 19_999), False),
    ],
)
def test_only_a_known_answer_of_the_broker_that_was_away_all_the_while_is_impossible(answer, is_impossible):
    assert impossible_answers([answer], [AWAY]) == [answer] * is_impossible


def test_a_round_that_ran_without_a_broker_may_not_claim_every_answer():
    ran_without = {"started_ms": 10_001, "ended_ms": 19_999}

    assert falsely_complete([row(**ran_without)], "replica_offsets", [AWAY]) == [1]
    assert falsely_complete([row(**ran_without, answered=2)], "replica_offsets", [AWAY]) == []
    assert falsely_complete([row(**ran_without)], "configs", [AWAY]) == []
    assert falsely_complete([row(started_ms=10_001, ended_ms=20_000)], "replica_offsets", [AWAY]) == []


def test_what_lacks_answers_long_after_all_brokers_are_back_lacks_them_in_peace():
    settled_ms = AWAY.back_ms + SETTLED_AFTER_MS
    late = row(answered=2, started_ms=settled_ms, ended_ms=settled_ms + 1)

    assert incomplete_in_peace([late], [AWAY]) == [late]
    assert incomplete_in_peace([late | {"started_ms": settled_ms - 1}], [AWAY]) == []
    assert incomplete_in_peace([late | {"answered": 3}], [AWAY]) == []
    assert incomplete_in_peace([row(answered=2, ended_ms=9_000)], [AWAY]) == [row(answered=2, ended_ms=9_000)]


def test_growth_compares_the_last_quarter_with_the_second():
    used = [Used(float(n), n, 10) for n in range(8)]

    assert growth(used) == (Used(2.5, 2, 10), Used(6.5, 6, 10))
