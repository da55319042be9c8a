"""Cases of people who run Kafka: numbers that were shown wrong."""

import pytest

from guarantees.findings import Kind
from guarantees.lag import NO_COMMIT, Lag, consumer_lag
from guarantees.observations import Coverage, Signal
from guarantees.promises import Guarantee, Pipeline, Verdict
from guarantees.unknown import Unknown
from guarantees.verdicts import Sight, pipeline_verdict
from tests.guarantees.builders import commit, finding, findings, offsets, producer, seen, state, steps

AHEAD = Unknown("committed beyond the end of the log")


def test_case_C02_a_reader_behind_an_open_transaction_is_blocked_and_not_slow():
    rounds = [
        seen(s, high=1663, stable=200, committed=200, producers=(producer(200, last_second=s - 30),))
        for s in steps(0, 240, 60)
    ]
    lag = consumer_lag(commit(200), offsets(1663, stable=200))

    assert lag == Lag(purged=0, lag_hw=1463, lag_lso=0, blocked=1463, ahead=0)
    assert [one.kind for one in findings(*rounds)] == [Kind.STABLE_OFFSET_FROZEN]
    frozen = finding(*rounds, kind=Kind.STABLE_OFFSET_FROZEN)
    assert (frozen.bounds.upper, "240 s" in str(frozen.statements)) == (1463, True)


def test_case_C06_an_expired_and_fully_read_topic_has_no_lag_and_no_hole():
    full = 3_000_000
    rounds = seen(0, high=full, committed=full), seen(5, high=full, start=full, committed=full)

    assert consumer_lag(commit(full), offsets(full, start=full)) == Lag(0, 0, 0, 0, 0)
    assert not findings(*rounds)


def test_case_C06_what_was_not_committed_when_the_log_expired_is_a_hole():
    full, committed = 3_000_000, 2_999_000
    rounds = seen(0, high=full, committed=committed), seen(5, high=full, start=full, committed=committed)

    assert consumer_lag(commit(committed), offsets(full, start=full)) == Lag(1000, 0, 0, 0, 0)
    assert finding(*rounds, kind=Kind.EXPIRED_UNREAD).bounds.upper == 1000


PAIRS = [(2020, 1611), (2128, 1667), (2239, 1653), (3787, 1678), (1917, 1622), (2370, 1684), (2388, 1821)]


@pytest.mark.parametrize(("committed", "high"), PAIRS)
def test_case_C07_a_commit_beyond_the_end_is_said_and_never_a_negative_lag(committed, high):
    lag = consumer_lag(commit(committed), offsets(high))
    found = finding(*[seen(s, high=high, committed=committed, members=()) for s in (0, 5)], kind=Kind.COMMITTED_AHEAD)

    assert (lag.lag_hw, lag.ahead, found.bounds.lower) == (AHEAD, committed - high, committed - high)
    assert "a topic deleted and created anew under a commit in flight" in found.evidence["possible_causes"]


@pytest.mark.parametrize(("committed", "high"), PAIRS)
def test_case_C07_with_a_new_leader_epoch_it_is_a_cut(committed, high):
    rounds = seen(0, high=committed, committed=committed), seen(5, high=high, epoch=1, committed=committed)
    found = finding(*rounds, kind=Kind.LOG_TRUNCATED)

    assert found.bounds.lower == committed - high
    assert found.evidence["groups_beyond_end"] == [{"group_id": "payments", "committed_offset": committed}]


def test_case_C08_a_commit_read_after_the_end_gives_no_lag_and_no_finding():
    early = offsets(659_256_972, second=8.1)
    read = commit(659_257_652, second=8.912)

    assert read.observed_at_ms - early.observed_at_ms == 802
    assert consumer_lag(read, early).lag_hw == Unknown("the commit was read after the high watermark")
    assert consumer_lag(read, offsets(659_260_000, second=18.08)).lag_hw == 2348
    assert not findings(
        seen(8.912, high=659_257_652, committed=659_257_652), seen(18.1, high=659_260_000, committed=659_257_652)
    )


def test_case_C43_partitions_without_a_commit_have_no_lag_and_do_not_count_as_read():
    lags = [consumer_lag(commit(c), offsets(h)).lag_hw for h, c in ((3083, None), (0, None), (4388, 4388))]

    assert lags == [NO_COMMIT, NO_COMMIT, 0]


@pytest.mark.parametrize(
    ("wanted", "first", "start", "hole"), [(100, 101, 0, 0), (100, 150, 150, 50), (100, 101, None, None)]
)
def test_case_C51_only_a_commit_below_a_known_log_start_is_a_loss(wanted, first, start, hole):
    """The first record at a higher offset than wanted is no evidence; the log start is."""
    unknown = Unknown("no answer")
    purged = consumer_lag(commit(wanted), offsets(200, start=unknown if start is None else start)).purged
    later = seen(5, high=200, start=unknown if start is None else start, committed=wanted)

    assert first > wanted
    assert purged == (unknown if hole is None else hole)
    found = findings(seen(0, high=200, committed=wanted), later, kind=Kind.EXPIRED_UNREAD)
    assert [one.bounds.upper for one in found] == ([hole] if hole else [])


def test_case_C60_a_wanted_offset_below_the_log_start_is_a_hole_and_a_gap_above_it_is_none():
    hole = consumer_lag(commit(7_881_614), offsets(8_000_000, start=7_900_000))
    gap = consumer_lag(commit(13), offsets(16))

    assert (hole.purged, gap.purged) == (18_386, 0)
    rounds = seen(0, high=8_000_000, committed=7_881_614), seen(5, high=8_000_000, start=7_900_000, committed=7_881_614)
    assert finding(*rounds, kind=Kind.EXPIRED_UNREAD).bounds.upper == 18_386
    assert not findings(seen(0, high=16, committed=13), seen(5, high=16, committed=13), seen(10, high=16, committed=16))


def test_case_C61_an_idle_group_that_has_caught_up_is_fine_a_month_later():
    month = 31 * 86_400
    rounds = [seen(s, high=124_857, committed=c) for s, c in ((0, 124_848), (40, 124_857), (month, 124_857))]

    assert consumer_lag(commit(124_857), offsets(124_857)).lag_hw == 0
    assert not findings(*rounds)
    assert not findings(*[seen(s, high=124_857, committed=124_856) for s in steps(0, 600)])


def test_case_C75_zero_blank_and_beyond_the_end_are_three_things():
    def lag(committed, high):
        return consumer_lag(commit(committed), offsets(high))

    assert [lag(10, 10).lag_hw, lag(None, 0).lag_hw] == [0, NO_COMMIT]
    assert (lag(50, 40).lag_hw, lag(50, 40).ahead, lag(50, 60).lag_hw) == (AHEAD, 10, 10)
    grown = [seen(0, high=40, committed=50), seen(5, high=60, committed=50)]
    assert not findings(*grown)
    idle = finding(*[seen(s, high=40, committed=50) for s in steps(0, 20)], kind=Kind.COMMITTED_AHEAD)
    assert (idle.bounds.lower, idle.closed_reason) == (10, None)


def test_case_C47_half_of_the_answers_missing_is_unknown_and_never_zero_or_recovered():
    nobody = Unknown("no answer in time")
    coverage = tuple(
        Coverage(signal, 12_000, 6_000, 0, 6_000, "timed out", 0, 0)
        for signal in (
            Signal.LOG_START,
            Signal.COMMITTED_OFFSETS,
            Signal.END_OFFSETS,
            Signal.PARTITION_STATES,
            Signal.GROUPS,
        )
    )
    verdict = pipeline_verdict(
        Pipeline("p", "orders", "payments", None, Guarantee.AT_LEAST_ONCE),
        (),
        Sight(1000, 5.0, coverage, frozenset()),
        now_ms=1000,
        window_from_ms=0,
    )
    rounds = [
        seen(s, high=900 + int(s), committed=500)
        if s % 10 == 0
        else seen(s, high=nobody, committed=nobody, members=nobody)
        for s in steps(0, 200)
    ]

    assert verdict.verdict is Verdict.UNKNOWN
    assert "committed_offsets: 6000 of 12000 values answered: timed out" in [one.reason for one in verdict.unknowns]
    stalled = finding(*rounds, kind=Kind.GROUP_STALLED)
    assert stalled.closed_reason is None
    assert not findings(
        *rounds[:3], seen(15, high=nobody, committed=nobody), seen(20, high=920, committed=500, isr=state())
    )
