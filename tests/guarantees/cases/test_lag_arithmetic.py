"""Cases of people whose lag was wrong: what is a number, what is a reason, and what is a finding."""

from dataclasses import replace

import pytest

from guarantees.findings import Kind
from guarantees.lag import Lag
from guarantees.unknown import Unknown
from tests.guarantees.builders import (
    GROUP,
    KEY,
    at,
    finding,
    findings,
    lag_of,
    producer,
    seen,
    steps,
)
from tests.guarantees.test_lag import AHEAD


def kinds(*rounds):
    return {found.kind for found in findings(*rounds)}


# C02: {S:0, H:1663, L:200, C:200}


def blocked(seconds, stable=200):
    return [
        seen(s, high=1663, stable=stable, committed=200, producers=(producer(200, last_second=s - 30),))
        for s in seconds
    ]


def test_case_C02_a_blocked_read_committed_group_has_no_lag_and_the_transaction_is_named():
    rounds = blocked(steps(0, 240, 60))
    frozen = finding(*rounds, kind=Kind.STABLE_OFFSET_FROZEN)

    assert lag_of(rounds[-1]) == Lag(purged=0, lag_hw=1463, lag_lso=0, blocked=1463, ahead=0)
    assert frozen.bounds.lower == frozen.bounds.upper == 1463
    assert (frozen.evidence["producer_id"], frozen.evidence["start_offset"]) == (7, 200)
    assert (frozen.evidence["held_since_ms"], frozen.last_seen_at_ms) == (at(0.02), at(240.02))
    assert frozen.evidence["last_timestamp_ms"] == at(210)
    assert "seen open for 240 s" in frozen.statements[2].text
    assert frozen.evidence["waiting_groups"] == [{"group_id": GROUP, "committed_offset": 200}]


def test_case_C02_a_group_that_waits_for_a_marker_is_not_called_slow_and_one_that_could_read_is():
    assert kinds(*blocked(steps(0, 240))) == {Kind.STABLE_OFFSET_FROZEN}
    assert kinds(*blocked(steps(0, 240), stable=1663)) == {Kind.GROUP_STALLED}


# C06: {S:0, H:3000000, C:3000000}, then S:3000000


def test_case_C06_a_topic_that_was_read_and_then_emptied_has_no_lag_and_no_finding():
    before, after = (seen(s, high=3_000_000, start=start, committed=3_000_000) for s, start in ((0, 0), (5, 3_000_000)))

    assert lag_of(after) == Lag(purged=0, lag_hw=0, lag_lso=0, blocked=0, ahead=0)
    assert not findings(before, after)


def test_case_C06_offsets_purged_before_they_were_committed_are_counted_apart_from_lag():
    before, after = (seen(s, high=3_000_000, start=start, committed=2_999_000) for s, start in ((0, 0), (5, 3_000_000)))
    expired = finding(before, after, kind=Kind.EXPIRED_UNREAD)

    assert lag_of(after) == Lag(purged=1000, lag_hw=0, lag_lso=0, blocked=0, ahead=0)
    assert (expired.bounds.lower, expired.bounds.upper, expired.anchor) == (0, 1000, "commit 2999000")
    assert not findings(after, seen(10, high=3_000_000, start=3_000_000, committed=2_999_000))


# C07: commits beyond the end on seven partitions, no owner

C07 = [(2020, 1611), (2128, 1667), (2239, 1653), (3787, 1678), (1917, 1622), (2370, 1684), (2388, 1821)]


def ownerless(second, committed, high, **given):
    return seen(second, high=high, committed=committed, members=(), **given)


@pytest.mark.parametrize(("committed", "high"), C07)
def test_case_C07_a_commit_beyond_the_end_is_said_so_and_never_a_negative_lag(committed, high):
    rounds = [ownerless(s, committed, high) for s in (0, 5)]
    ahead = finding(*rounds, kind=Kind.COMMITTED_AHEAD)

    assert lag_of(rounds[-1]) == Lag(purged=0, lag_hw=AHEAD, lag_lso=AHEAD, blocked=0, ahead=committed - high)
    assert ahead.bounds.lower == ahead.bounds.upper == committed - high
    assert "beyond the end of orders-0" in ahead.title
    assert len(ahead.evidence["possible_causes"]) == 3


@pytest.mark.parametrize(("committed", "high"), C07)
def test_case_C07_under_the_same_topic_id_and_a_new_epoch_the_log_was_cut(committed, high):
    before = ownerless(0, committed, committed, epoch=1)
    cut = [ownerless(s, committed, high, epoch=2) for s in (5, 10)]
    truncated = finding(before, *cut, kind=Kind.LOG_TRUNCATED)
    ahead = finding(before, *cut, kind=Kind.COMMITTED_AHEAD)

    assert truncated.bounds.lower == committed - high
    assert "an open finding shows one" in ahead.evidence["possible_causes"][0]


@pytest.mark.parametrize(("committed", "high"), C07)
def test_case_C07_under_another_topic_id_nothing_was_cut(committed, high):
    before = ownerless(0, committed, committed, topic_id="topic-id-0")
    anew = [ownerless(s, committed, high) for s in (5, 10)]
    ahead = finding(before, *anew, kind=Kind.COMMITTED_AHEAD)

    assert kinds(before, *anew) == {Kind.COMMITTED_AHEAD}
    assert any("created anew" in cause for cause in ahead.evidence["possible_causes"])
    assert not any("an open finding" in cause for cause in ahead.evidence["possible_causes"])


# C08: high watermark at 8.120, commit at 8.922, next high watermark at 18.1


def read(second, high, *, committed_second):
    round_ = seen(second, high=high, committed=659_257_652)
    late = replace(round_.commits[KEY], observed_at_ms=at(committed_second))
    return replace(round_, commits={KEY: late}, ended_at_ms=at(max(second, committed_second) + 0.05))


def test_case_C08_a_commit_read_after_the_high_watermark_has_no_lag_until_a_later_one():
    first = read(8.12, 659_256_972, committed_second=8.922)
    later = read(18.1, 659_260_000, committed_second=18.05)

    assert isinstance(lag_of(first).lag_hw, Unknown)
    assert isinstance(lag_of(first).ahead, Unknown)
    assert lag_of(later).lag_hw == 2348
    assert not findings(first, later)


def test_case_C08_only_the_order_of_reading_tells_it_from_a_commit_beyond_the_end():
    wrong = [read(s, 659_256_972, committed_second=s + 0.8) for s in (8.12, 18.12)]
    right = [read(s, 659_256_972, committed_second=s - 0.8) for s in (8.12, 18.12)]

    assert not findings(*wrong)
    assert finding(*right, kind=Kind.COMMITTED_AHEAD).bounds.lower == 680
