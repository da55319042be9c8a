from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from guarantees.thresholds import Thresholds
from tests.guarantees.builders import GROUP, NOBODY, at, finding, findings, group, seen, state, steps
from tests.guarantees.test_watch import written

EXPIRED = Kind.COMMIT_EXPIRED
SHORT = Thresholds(offsets_retention_s=120)


def there(second, **given):
    return seen(second, **{"high": 11, "committed": 10, "members": (), "isr": state(), **given})


def gone(second, **given):
    return seen(second, **{"high": 11, "no_commit": True, "members": (), "isr": state(), **given})


def expired(*rounds):
    return finding(*rounds, kind=EXPIRED, thresholds=SHORT)


def test_a_commit_that_is_gone_is_proven_and_why_is_not():
    found = expired(there(0), gone(5))

    assert (found.severity, found.grade, found.anchor, found.bounds) == (3, Grade.PROVEN, "commit 10", None)
    assert found.statements[1].grade is Grade.NOT_OBSERVABLE
    assert "operator" in found.statements[1].text


def test_it_probably_expired_where_the_group_was_seen_empty_for_the_retention():
    def cause(last):
        return expired(*[there(s) for s in steps(0, last)], gone(last + 5)).statements[1].grade

    assert [cause(last) for last in (115, 120)] == [Grade.NOT_OBSERVABLE, Grade.PROBABLE]


def test_a_warning_comes_in_the_last_fifth_of_the_retention_and_becomes_the_loss():
    def rounds(last):
        return [there(s) for s in steps(0, last)]

    assert not findings(*rounds(95), kind=EXPIRED, thresholds=SHORT)
    warned = expired(*rounds(100))
    assert (warned.severity, warned.grade, warned.closed_reason) == (2, Grade.PROBABLE, None)
    lost = expired(*rounds(100), gone(125))
    assert (lost.finding_id, lost.severity, lost.grade) == (warned.finding_id, 3, Grade.PROVEN)


SILENT = {
    "pending": (there(0), seen(5, high=11, pending=True, members=(), isr=state())),
    "not answered": (there(0), seen(5, high=11, committed=NOBODY, members=(), isr=state())),
    "not asked": (there(0), seen(5, high=11, members=(), isr=state())),
    "the group cannot be described": (there(0), gone(5, members=NOBODY)),
    "another coordinator": (there(0), gone(5, coordinator=2)),
    "the topic is not in the metadata": (there(0), gone(5, isr=None)),
    "the topic was made anew": (there(0), gone(5, topic_id="topic-id-2", isr=state(topic_id="topic-id-2"))),
    "there never was a commit": (gone(0), gone(5)),
}


@pytest.mark.parametrize("rounds", SILENT.values(), ids=SILENT.keys())
def test_no_commit_expired_where(rounds):
    assert not findings(*rounds, kind=EXPIRED, thresholds=SHORT)


def test_a_group_without_members_whose_commits_move_is_not_empty():
    rounds = [there(s, committed=10 if s < 60 else 11) for s in steps(0, 150)]

    assert not findings(*rounds, kind=EXPIRED, thresholds=SHORT)
    assert findings(*rounds, there(160, committed=11), kind=EXPIRED, thresholds=SHORT)


CLOSES = {
    "members came back": ([there(s) for s in steps(0, 100)], seen(105, high=11, committed=10), "in use again"),
    "its commit moved": ([there(s) for s in steps(0, 100)], there(105, committed=11), "in use again"),
    "committed again": ([there(0), gone(5)], seen(10, high=11, committed=11), "committed again, at 11"),
    "still gone": ([there(0), gone(5)], gone(10), None),
    "told by another coordinator": ([there(0), gone(5)], there(10, committed=11, coordinator=2), None),
    "told of another topic": ([there(0), gone(5)], there(10, committed=11, topic_id="topic-id-2", isr=None), None),
    "not asked": ([there(0), gone(5)], replace(there(10), commits={}), None),
    "unread": ([there(0), gone(5)], seen(10, high=11, committed=NOBODY, members=()), None),
}


@pytest.mark.parametrize(("rounds", "last", "reason"), CLOSES.values(), ids=CLOSES.keys())
def test_it_closes_when_the_group_commits_or_is_used_again(rounds, last, reason):
    closed = expired(*rounds, last).closed_reason

    assert closed is None if reason is None else reason in closed


def test_it_is_the_same_finding_after_a_restart():
    rounds = [there(0), gone(5), gone(10), seen(15, high=11, committed=4, isr=state())]

    assert written(rounds, {2, 3}).keys() == written(rounds).keys()


def test_what_is_committed_after_an_absence_below_the_old_commit_is_a_rewind_of_its_own_cause():
    rewind = finding(there(0), gone(5), gone(10), seen(15, high=11, committed=1), kind=Kind.REWIND)

    assert (rewind.anchor, rewind.bounds.upper, rewind.evidence["was_absent"]) == ("10->1", 10, True)
    assert any("earliest" in one.text for one in rewind.statements)
    purged = finding(there(0), gone(5), gone(10), seen(15, high=11, start=4, committed=6), kind=Kind.REWIND)
    assert purged.bounds.upper == 6, "from the log start on"
    plain = finding(there(0), seen(15, high=11, committed=1), kind=Kind.REWIND)
    assert not any("earliest" in one.text for one in plain.statements)


def without_group(second):
    """The coordinators answer, and do not list the group."""
    listed = there(second)
    return replace(listed, commits={}, groups={"other": group(second=second)})


def test_a_commit_goes_with_its_group_as_far_as_rights_show():
    rounds = [*(there(s) for s in steps(0, 115)), without_group(120)]
    assert not findings(*rounds, kind=EXPIRED, thresholds=Thresholds()), "one round may miss a group that moves"
    found = expired(*rounds, without_group(125))

    assert (found.severity, found.grade, found.anchor) == (3, Grade.PROBABLE, "commit 10")
    assert "right to describe" in found.statements[0].assumption
    assert found.statements[1].grade is Grade.PROBABLE
    assert found.evidence["absent_since_ms"] == at(125.05)


def test_a_group_that_is_gone_is_told_once_and_a_warning_becomes_the_loss():
    warned = [there(s) for s in steps(0, 100)]
    gone_for_long = [without_group(s) for s in steps(105, 120)]

    (found,) = findings(*warned, *gone_for_long, kind=EXPIRED, thresholds=SHORT)
    assert found.finding_id == expired(*warned).finding_id
    assert (found.severity, found.evidence["absent_since_ms"], found.last_seen_at_ms) == (3, at(110.05), at(110.05))


GROUP_SILENT = {
    "its coordinator did not answer": there(5, members=NOBODY),
    "no group is known at all": replace(there(5), commits={}, groups={}),
    "its topic is not in the metadata": replace(without_group(5), states={}),
}


@pytest.mark.parametrize("after", GROUP_SILENT.values(), ids=GROUP_SILENT.keys())
def test_a_group_is_not_called_gone_where(after):
    assert not findings(there(0), after, kind=EXPIRED)


def test_a_group_that_comes_back_under_its_name_begins_a_new_history():
    back = seen(15, high=11, committed=3, isr=state())
    rounds = (there(0, committed=10), without_group(5), without_group(10), back)

    assert [one.kind for one in findings(*rounds)] == [EXPIRED, Kind.REWIND]
    assert expired(*rounds).closed_reason == "the group committed again, at 3"


def test_the_warning_says_when_the_commit_expires():
    found = expired(*[there(s) for s in steps(0, 100)])

    assert found.evidence["expires_at_ms"] == at(120.04)
    assert "2023-11-14 22:15:20" in found.statements[0].text


def test_emptiness_counts_from_when_the_collectors_first_saw_it():
    """A restart forgets the rounds, not since when the group is as it is."""
    rounds = [there(s) for s in (0, 5)]
    old = [replace(r, groups={GROUP: replace(r.groups[GROUP], unchanged_since_ms=at(-115))}) for r in rounds]

    assert not findings(*rounds, kind=EXPIRED, thresholds=SHORT)
    assert expired(*old).evidence["group_empty_since_ms"] == at(-115)


STILL_WARNED = {
    "pending": there(105, committed=None, pending=True),
    "none, but the topic is not in the metadata": gone(105, isr=None),
}


@pytest.mark.parametrize("last", STILL_WARNED.values(), ids=STILL_WARNED.keys())
def test_a_warning_does_not_become_the_loss_where_the_answer_is(last):
    assert expired(*[there(s) for s in steps(0, 100)], last).evidence["absent_since_ms"] is None


def test_a_loss_is_told_once_by_its_first_absence():
    assert expired(there(0), gone(5), gone(10)).evidence["absent_since_ms"] == at(5.01)


def test_a_group_that_looks_dead_when_its_commit_is_gone_was_empty_before():
    found = expired(there(0), there(5), gone(10, group_state="Dead"))

    assert (found.evidence["group_empty_since_ms"], found.evidence["expires_at_ms"]) == (at(0.04), at(120.04))


@pytest.mark.parametrize("groups", [{}, {GROUP: group(), "other": group()}], ids=["never described", "with members"])
def test_when_a_commit_would_have_expired_is_not_known_of_a_group_not_seen_empty(groups):
    found = expired(*(replace(one, groups=groups) for one in (there(0), gone(5))))

    assert (found.evidence["group_empty_since_ms"], found.evidence["expires_at_ms"]) == (None, None)


def test_a_commit_of_the_new_protocol_ages_by_itself_and_is_no_younger_than_the_emptiness_of_its_group():
    found = expired(*[there(s, group_type="consumer") for s in steps(0, 100)])

    assert found.evidence["expires_at_ms"] == found.evidence["group_empty_since_ms"] + 120_000 == at(120.04)


def test_a_group_that_became_a_share_group_has_no_commits_that_expire():
    found = expired(there(0), there(5, group_type="share"), without_group(10), without_group(15))

    assert (found.evidence["group_empty_since_ms"], found.evidence["expires_at_ms"]) == (at(0.04), None)


@pytest.mark.parametrize(("early_ms", "grade"), [(0, Grade.PROBABLE), (1, Grade.NOT_OBSERVABLE)])
def test_it_expired_if_the_group_was_empty_for_exactly_the_retention(early_ms, grade):
    since_ms = at(5.01 - 120) + early_ms
    before = there(0)
    empty = replace(before, groups={GROUP: replace(before.groups[GROUP], unchanged_since_ms=since_ms)})

    assert expired(empty, gone(5)).statements[1].grade is grade
