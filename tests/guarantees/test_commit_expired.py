import pytest

from guarantees.findings import Grade, Kind
from guarantees.thresholds import Thresholds
from tests.guarantees.builders import NOBODY, finding, findings, seen, state, steps
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

    assert (rewind.anchor, rewind.bounds.upper, rewind.evidence["was_absent"]) == ("10->1", 9, True)
    assert any("earliest" in one.text for one in rewind.statements)
    plain = finding(there(0), seen(15, high=11, committed=1), kind=Kind.REWIND)
    assert not any("earliest" in one.text for one in plain.statements)
