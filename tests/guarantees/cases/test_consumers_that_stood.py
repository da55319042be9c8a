"""Cases of consumers that stood: before a hole in the log, at its end, or with their offsets kept elsewhere."""

import pytest

from guarantees.findings import Kind
from guarantees.lag import NO_COMMIT
from spark_jobs.ranges import Part, PartNow, plan
from tests.guarantees.builders import (
    CLUSTER,
    GROUP,
    NOBODY,
    OWNER,
    TOPIC,
    TOPIC_ID,
    at,
    finding,
    findings,
    lag_of,
    seen,
    steps,
    watch,
)

PART = Part(CLUSTER, TOPIC, TOPIC_ID, 0)


def planned(wanted, log_start, end=200):
    """What our own reader of records, which keeps its place itself, makes of a log it wants to go on reading."""
    now = PartNow(PART, 1, log_start, end, end, 0, at(0))
    return plan([now], {PART: wanted}, budget_bytes=10**9, bytes_per_offset={})


# C51: a gap between the wanted offset 100 and the first record

WANTED = [(0, 0), (150, 50), (100, 0), (101, 1)]


@pytest.mark.parametrize(("log_start", "hole"), WANTED)
def test_case_C51_only_a_known_log_start_above_the_wanted_offset_is_a_hole(log_start, hole):
    """Offset 100 is wanted; the first record there is may well lie higher."""
    found = planned(100, log_start)

    assert [purged.offsets for purged in found.purged] == ([hole] if hole else [])
    assert not found.waiting


def test_case_C51_an_unknown_log_start_is_no_hole_but_a_reason_to_wait():
    found = planned(100, NOBODY)

    assert not found.purged
    assert found.waiting == {PART: NOBODY.reason}


@pytest.mark.parametrize(("log_start", "hole"), [*WANTED, (NOBODY, 0)])
def test_case_C51_a_group_that_wants_an_offset_has_lost_only_what_the_log_start_passed(log_start, hole):
    """Under read_committed the group skips what markers and aborted data use: plain gaps, not losses."""
    rounds = seen(0, high=200, committed=100), seen(5, high=200, start=log_start, committed=100)
    found = findings(*rounds)

    assert [(f.kind, f.bounds.lower, f.bounds.upper) for f in found] == (
        [(Kind.EXPIRED_UNREAD, 0, hole)] if hole else []
    )


# C60: Spark keeps its offsets in its checkpoint; a hole where retention has passed it, else a plain gap


@pytest.mark.parametrize(
    ("wanted", "log_start", "end", "hole"), [(7_881_614, 7_900_000, 8_000_000, 18_386), (13, 0, 16, 0)]
)
def test_case_C60_a_wanted_offset_below_the_log_start_is_a_hole_and_a_marker_is_none(wanted, log_start, end, hole):
    purged = planned(wanted, log_start, end).purged

    assert [(p.first_offset, p.next_offset) for p in purged] == ([(wanted, log_start)] if hole else [])
    assert sum(p.offsets for p in purged) == hole


def test_case_C60_a_group_that_never_commits_has_no_lag_and_no_finding():
    rounds = [seen(s, high=8_000_000, start=int(7_000_000 + 10_000 * s), no_commit=True) for s in steps(0, 100)]

    assert lag_of(rounds[-1]).lag_hw == NO_COMMIT
    assert not findings(*rounds)


# C61: two commits in July with lag 0, evaluated a month later

FIRST_S, SECOND_S, MONTH_LATER_S = 0, 39.808, 2_700_000


def idle(high, second=MONTH_LATER_S, committed=124_857):
    """Commits 124848 and 124857 at the end of the log, then silence of a month, then rounds over five minutes."""
    early = seen(FIRST_S, high=124_848, committed=124_848), seen(SECOND_S, high=124_857, committed=committed)
    return [*early, *(seen(second + s, high=high(s), committed=committed, members=()) for s in steps(0, 300))]


def test_case_C61_a_group_that_is_caught_up_has_not_stopped_however_long_ago_it_committed():
    assert not findings(*idle(lambda _: 124_857))


def test_case_C61_a_last_commit_one_below_the_end_is_no_stop_either():
    assert not findings(*idle(lambda _: 124_857, committed=124_856))


def test_case_C61_the_same_group_has_stopped_once_the_log_grows():
    stopped = finding(*idle(lambda s: 124_860 + int(s)), kind=Kind.GROUP_STOPPED)

    assert (stopped.anchor, stopped.bounds.upper, stopped.closed_reason) == ("commit 124857", 303, None)


# C64: a crash loop below the log start, then a reset by hand

HOLE = 11_100_000 - 11_090_427


def crash_loop(first=0):
    return [
        seen(s, high=11_200_000, start=11_100_000, committed=11_090_427, members=(OWNER,) if n % 2 == 0 else ())
        for n, s in enumerate(steps(first, first + 30))
    ]


def reset(second):
    return [seen(second + s, high=11_200_000, start=11_100_000, committed=11_100_000, members=()) for s in (0, 5)]


def holes(*rounds):
    return findings(*rounds, kind=Kind.EXPIRED_UNREAD)


def test_case_C64_the_hole_between_commit_and_log_start_is_shown_while_members_come_and_go():
    rounds = crash_loop()
    memory, _ = watch(rounds)
    lag = lag_of(rounds[0])

    assert (lag.purged, lag.lag_hw) == (HOLE, 100_000)
    assert [len(r.groups[GROUP].members) for r in rounds] == [1, 0, 1, 0, 1, 0, 1]
    assert memory.groups[GROUP].rebalance.cause == "1 member joined"


def test_case_C64_a_hole_that_was_there_at_first_sight_is_not_called_a_new_loss():
    assert not holes(*crash_loop())


def test_case_C64_a_hole_that_was_seen_to_open_is_a_finding_until_the_operators_reset():
    before = seen(0, high=11_100_000, start=11_000_000, committed=11_090_427)
    (open_hole,) = holes(before, *crash_loop(5))
    (closed_hole,) = holes(before, *crash_loop(5), *reset(40))

    assert (open_hole.severity, open_hole.bounds.lower, open_hole.bounds.upper) == (4, 0, HOLE)
    assert open_hole.closed_reason is None
    assert closed_hole.closed_reason == "the group moved on to 11,100,000; the hole stays unread"
    assert closed_hole.bounds == open_hole.bounds
    assert not findings(before, *crash_loop(5), *reset(40), kind=Kind.REWIND)
