import pytest

from guarantees.findings import Grade, Kind
from guarantees.watch import observe, resume
from tests.guarantees.builders import NOBODY, THRESHOLDS, at, finding, findings, seen, steps
from tests.guarantees.test_watch import written

BEHIND = Kind.FALLING_BEHIND


def slow(last, *, first=0, lag=lambda s: 100 + int(s), commit=lambda s: 1000 + int(s), every=5, **given):
    """A group that commits in every round, and the lag it leaves."""
    return [seen(s, **{"committed": commit(s), "high": commit(s) + lag(s), **given}) for s in steps(first, last, every)]


def test_a_group_whose_commits_leave_more_and_more_falls_behind_after_two_minutes():
    assert not findings(*slow(120), kind=BEHIND)
    found = finding(*slow(125), kind=BEHIND)

    assert (found.severity, found.grade, found.anchor) == (1, Grade.PROVEN, "commit 1005")
    assert found.bounds.lower == found.bounds.upper == 225
    assert (found.evidence["first_lag"], found.evidence["commits"], found.happened_at_ms) == (105, 24, at(5.01))


def once_per(period, *levels):
    """Commits that far apart, each followed by so much lag."""
    return [
        seen(s, committed=1000 + 1000 * n, high=1000 + 1000 * n + lag)
        for n, lag in enumerate(levels)
        for s in steps(n * period, n * period + period - 5)
    ]


@pytest.mark.parametrize(
    ("rounds", "is_found"),
    [
        (once_per(100, 10, 20, 30, 40, 50), True),
        (once_per(100, 10, 20, 30, 40), False),
        (once_per(100, 10, 20, 30, 40, 39), False),
        (once_per(100, 10, 20, 30, 40, 40), False),
        (once_per(100, 10, 20, 20, 21, 21, 22), False),
        (once_per(100, 10, 20, 20, 21, 21, 22, 23), True),
        (once_per(30, 10, 20, 30, 40, 50), False),
    ],
    ids=["grows", "too few commits", "fell in the end", "stands", "markers may explain it", "just more", "too short"],
)
def test_a_trend_takes_three_commits_that_leave_more_two_minutes_and_more_than_markers(rounds, is_found):
    assert bool(findings(*rounds, kind=BEHIND)) is is_found


def caught_up_at_65(second):
    return 1000 + int(second) + (500 if second >= 65 else 0)


SILENT = {
    "read all in between": slow(180, lag=lambda s: 0 if s == 65 else 100 + int(s), commit=caught_up_at_65),
    "no members": slow(200, members=()),
    "end unknown": slow(200, stable=NOBODY),
    "blocked by an open transaction": [
        seen(s, committed=1000 + int(s), stable=1000 + int(s), high=1200 + 2 * int(s)) for s in steps(0, 200)
    ],
    "share group": slow(200, group_type="share"),
    "never commits anything else": [seen(s, committed=1000, high=1100 + int(s)) for s in steps(0, 100)],
}


@pytest.mark.parametrize("rounds", SILENT.values(), ids=SILENT.keys())
def test_it_does_not_fall_behind_where(rounds):
    assert not findings(*rounds, kind=BEHIND)


def test_a_round_that_could_not_be_read_does_not_break_the_trend():
    rounds = slow(125)
    rounds[10] = seen(50, committed=NOBODY, high=1200)

    assert findings(*rounds, kind=BEHIND)


def test_it_grows_with_the_lag_and_closes_with_the_first_commit_that_leaves_less():
    lasting = finding(*slow(140), kind=BEHIND)
    over = finding(*slow(140), seen(145, committed=1145, high=1145 + 239), kind=BEHIND)

    assert (lasting.bounds.lower, lasting.evidence["commits"], lasting.closed_reason) == (240, 27, None)
    assert "240 offsets unread" in lasting.title
    assert "105 have become 240" in lasting.statements[0].text
    assert over.closed_reason == "the lag fell to 239"
    assert over.finding_id == lasting.finding_id


def test_it_closes_when_all_is_read():
    assert finding(*slow(130), seen(135, committed=1360, high=1361), kind=BEHIND).closed_reason == "the lag fell to 1"


def test_it_closes_when_nobody_is_left():
    left = seen(135, committed=1130, high=1400, members=())

    assert finding(*slow(130), left, kind=BEHIND).closed_reason == "the group has no members any more"


def test_a_commit_that_stands_still_supersedes_it():
    standing = [seen(s, committed=1130, high=1130 + 230 + int(s)) for s in steps(135, 270)]
    found = finding(*slow(130), *standing, kind=BEHIND)

    assert found.closed_reason == "superseded: the commit stands still"
    assert finding(*slow(130), *standing, kind=Kind.GROUP_STALLED).closed_reason is None


def test_a_restart_changes_nothing_even_where_the_stored_rounds_begin_later_than_the_growth():
    rounds = slow(1500)
    whole, restarted = written(rounds), written(rounds, {30, 290})

    assert len(whole) == 1
    assert [one.finding for one in restarted.values()] == [one.finding for one in whole.values()]


def test_after_a_restart_without_rounds_it_waits_for_two_commits():
    opened = finding(*slow(125), kind=BEHIND)
    memory, _ = resume([], [opened], THRESHOLDS)
    memory, (first,) = observe(memory, slow(130, first=130)[0], THRESHOLDS)
    _, (second,) = observe(memory, slow(135, first=135)[0], THRESHOLDS)

    assert [one.evidence["lag"] for one in (opened, first, second)] == [225, 225, 235]
