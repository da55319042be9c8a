from dataclasses import replace

import pytest

from guarantees.findings import Bounds, Grade, Kind, Unit
from guarantees.places import TopicPartition
from guarantees.thresholds import Thresholds
from tests.guarantees.builders import NOBODY, OWNER, at, finding, findings, member, seen, steps

STOPPED, STALLED = Kind.GROUP_STOPPED, Kind.GROUP_STALLED


def standing(last, *, first=0, high=lambda s: 200 + s, every=5, **given):
    return [seen(s, **{"high": int(high(s)), "committed": 100, **given}) for s in steps(first, last, every)]


def of_topics(*, commit, end):
    """A round whose commit and end were answered for other topic ids."""
    one = seen(0, high=200, committed=100, members=())
    return replace(
        one,
        commits={key: replace(each, topic_id=commit) for key, each in one.commits.items()},
        partitions={key: replace(each, topic_id=end) for key, each in one.partitions.items()},
    )


def liveness(*rounds):
    return [*findings(*rounds, kind=STOPPED), *findings(*rounds, kind=STALLED)]


def test_a_group_without_members_has_stopped_after_a_minute_of_growing_lag():
    assert not liveness(*standing(60, members=()))
    assert liveness(*standing(60, members=()), seen(60.001, high=300, committed=100, members=()))
    found = finding(*standing(65, members=()), kind=STOPPED)

    assert (found.severity, found.grade, found.anchor) == (2, Grade.PROVEN, "commit 100")
    assert found.bounds.lower == found.bounds.upper == 165
    assert found.statements[1].grade is Grade.PROBABLE


def test_a_group_with_members_has_stalled_after_two_minutes():
    assert not liveness(*standing(120))
    assert liveness(*standing(120), seen(120.001, high=400, committed=100))
    found = finding(*standing(125), kind=STALLED)

    assert found.evidence["owner"] == "m1"


def test_work_that_nobody_adds_to_stalls_a_group_too():
    assert finding(*standing(125, high=lambda s: 200), kind=STALLED)


SILENT = {
    "idle topic": standing(600, high=lambda s: 100),
    "one behind for ever (a marker)": standing(600, high=lambda s: 101),
    "two behind for ever": standing(600, high=lambda s: 102),
    "blocked by an open transaction": standing(600, stable=100),
    "abandoned: no members, no growth": standing(600, high=lambda s: 500, members=()),
    "stale subscription": standing(600, members=[member("m1", TopicPartition("other", 0))]),
    "nobody knows the members": standing(600, members=NOBODY),
    "looks dead": standing(600, members=(), group_state="Dead"),
    "looks dead since it was seen settled": [
        *standing(10),
        *standing(600, first=15, members=(), group_state="Dead"),
    ],
    "never committed": [seen(s, high=200 + s, no_commit=True) for s in steps(0, 600)],
    "end unknown": standing(600, high=lambda s: 200, stable=NOBODY),
    "log start unknown": standing(600, start=NOBODY),
    "all of the rest purged": standing(600, start=200, high=lambda s: 200),
    "one sample": standing(0),
    "share group": standing(600, group_type="share"),
    "never seen settled": standing(600, group_state="PreparingRebalance"),
}


@pytest.mark.parametrize("rounds", SILENT.values(), ids=SILENT.keys())
def test_silence_is_no_fault_where(rounds):
    assert not liveness(*rounds)


def test_only_time_with_work_left_counts():
    idle = standing(600, high=lambda s: 100, members=())

    assert not liveness(*idle, *standing(665, first=605, high=lambda s: s, members=()))
    assert liveness(*idle, *standing(670, first=605, high=lambda s: s, members=()))


def test_a_gap_between_rounds_counts_for_nothing():
    rounds = [*standing(30, members=()), *standing(4000, first=4000, members=())]

    assert not liveness(*rounds)
    assert not liveness(*rounds, *standing(4030, first=4005, members=()))
    assert liveness(*rounds, *standing(4035, first=4005, members=()))


def test_rounds_thirty_seconds_apart_leave_no_gap_and_longer_ones_do():
    assert liveness(*standing(90, every=30, members=()))
    assert not liveness(*standing(300.1, every=30.01, members=()))


UNREAD = {
    "the commit": {"committed": NOBODY, "members": ()},
    "the group": {"committed": 100, "members": NOBODY},
    "the stable offset": {"committed": 100, "members": (), "stable": NOBODY},
}


@pytest.mark.parametrize("unread", UNREAD.values(), ids=UNREAD.keys())
def test_what_could_not_be_read_in_a_round_does_not_start_the_count_anew(unread):
    assert liveness(*standing(30, members=()), seen(35, high=250, **unread), *standing(65, first=40, members=()))


@pytest.mark.parametrize("unread", UNREAD.values(), ids=UNREAD.keys())
def test_a_finding_waits_where_a_round_could_not_read(unread):
    rounds = standing(65, members=())
    opened, later = finding(*rounds, kind=STOPPED), finding(*rounds, seen(70, high=400, **unread), kind=STOPPED)

    assert replace(later, last_seen_at_ms=opened.last_seen_at_ms) == opened


def test_it_closes_when_the_commit_moves():
    rounds = standing(125)

    assert "moved to 101" in finding(*rounds, seen(130, high=400, committed=101), kind=STALLED).closed_reason


def test_it_closes_when_nothing_readable_is_left():
    rounds = standing(125, high=lambda s: 200)

    closed = finding(*rounds, seen(130, high=200, stable=102, committed=100), kind=STALLED)

    assert closed.closed_reason == "nothing readable is left"
    assert finding(*rounds, seen(130, high=200, stable=103, committed=100), kind=STALLED).closed_reason is None


def test_a_finding_that_lasts_says_what_is_unread_now():
    found = finding(*standing(130), kind=STALLED)

    assert found.bounds == Bounds(230, 230, 230, Unit.OFFSETS)
    assert found.evidence["unread"] == 230
    assert "230 offsets unread" in found.title
    assert "230 offsets unread" in found.statements[0].text
    assert found.last_seen_at_ms == at(130.01)
    assert "every 125 s" in found.statements[1].assumption


def test_members_that_come_back_keep_the_one_finding_until_the_commit_moves():
    rounds = [*standing(65, members=()), *standing(300, first=70)]
    (found,) = liveness(*rounds)

    assert (found.kind, found.closed_reason, found.evidence["members"]) == (STOPPED, None, 1)
    assert found.title == "payments stopped on orders-0: 400 offsets unread, owner m1"
    assert found.evidence["owner"] == "m1"


@pytest.mark.parametrize("members", [(), (OWNER,)], ids=["stopped", "stalled"])
def test_a_group_that_is_wont_to_commit_slowly_is_given_twice_its_custom(members):
    def checkpoints(number):
        return [seen(s, high=1000 + s, committed=10 * (int(s) // 100)) for s in steps(0, 100 * number)]

    def silent(last):
        return [seen(s, high=1000 + s, committed=30, members=members) for s in steps(305, last)]

    assert not liveness(*checkpoints(3), *silent(490))
    (found,) = liveness(*checkpoints(3), *silent(520))
    assert found.evidence["usual_silences_ms"] == [100_000, 100_000]


def test_without_members_the_longer_of_two_thresholds_counts_where_it_is_theirs():
    patient = Thresholds(stopped_after_s=130)

    assert not findings(*standing(130, members=()), kind=STOPPED, thresholds=patient)
    assert findings(*standing(135, members=()), kind=STOPPED, thresholds=patient)


def test_a_group_that_was_never_settled_has_stopped_without_an_owner():
    assert finding(*standing(65, members=(), group_state="PreparingRebalance"), kind=STOPPED).evidence["owner"] is None


def stood(committed, first, last):
    return [seen(s, high=3000 + s, committed=committed) for s in steps(first, last)]


def test_a_silence_that_ends_with_all_read_is_a_custom_too():
    """Silent for 100 s, then everything read at once, twice: 190 s of silence are within twice the custom."""
    history = []
    for start in (0, 100):
        history += [seen(start + s, high=1000 + start + s, committed=1000 + start - 100) for s in steps(0, 95)]
    history += [seen(200, high=1200, committed=1200)]
    silent = [seen(s, high=1000 + s, committed=1200) for s in steps(205, 390)]

    assert not liveness(*history, *silent)
    assert liveness(*history, *silent, *[seen(s, high=1000 + s, committed=1200) for s in steps(395, 420)])


def test_one_outage_does_not_make_the_rule_deaf():
    rounds = [*stood(0, 0, 1000), *stood(10, 1005, 1025), *stood(20, 1030, 1160)]

    assert [found.anchor for found in liveness(*rounds)] == ["commit 0", "commit 20"]


def test_a_group_that_commits_in_every_round_again_is_not_given_the_custom_of_its_outages():
    outages = [*stood(0, 0, 1000), *stood(10, 1005, 2000)]
    often = [seen(s, high=3000 + s, committed=int(s)) for s in steps(2005, 2020)]
    anchors = [found.anchor for found in liveness(*outages, *often, *stood(2020, 2025, 2150))]

    assert anchors == ["commit 0", "commit 10", "commit 2020"]


def test_the_partition_nobody_owns_of_a_topic_that_is_assigned_is_stalled_without_owner():
    other = member("m1", TopicPartition("orders", 1))

    assert finding(*standing(125, members=[other]), kind=STALLED).title.endswith("unread, no owner")
    assert "owner m1" in finding(*standing(125, members=[OWNER]), kind=STALLED).title


def test_a_silence_that_an_open_transaction_ended_is_no_custom():
    blocked = [standing(second, first=second, stable=100) for second in (105, 215)]
    rounds = [*standing(100), *blocked[0], *standing(210, first=110), *blocked[1]]

    assert not liveness(*rounds, *standing(340, first=220))
    assert liveness(*rounds, *standing(345, first=220))


NOT_YET = {
    "a marker's worth was left": seen(0, high=102, committed=100, members=()),
    "no log start was known": seen(0, high=200, start=NOBODY, committed=100, members=()),
    "no end was known": seen(0, high=NOBODY, committed=100, members=()),
    "no commit was known": seen(0, high=200, members=()),
    "another topic's commit": seen(0, high=200, committed=100, members=(), topic_id="topic-id-0"),
    "another topic's end": of_topics(commit="topic-id-1", end="topic-id-0"),
    "a commit on another topic than the end": of_topics(commit="topic-id-0", end="topic-id-1"),
}


@pytest.mark.parametrize("first", NOT_YET.values(), ids=NOT_YET.keys())
def test_a_silence_does_not_begin_where(first):
    """It begins with the next round."""
    assert not liveness(first, *standing(65, first=5, members=()))
    assert liveness(first, *standing(70, first=5, members=()))


def test_a_silence_does_not_go_on_in_a_topic_that_was_created_anew():
    anew = standing(125, first=65, members=(), topic_id="topic-id-2")

    assert not liveness(*standing(60, members=()), *anew)
    assert liveness(*standing(60, members=()), *standing(130, first=65, members=(), topic_id="topic-id-2"))
