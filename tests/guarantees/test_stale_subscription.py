from dataclasses import replace

import pytest

from guarantees.findings import Bounds, Grade, Kind, Unit
from guarantees.places import TopicPartition
from tests.guarantees.builders import OWNER, finding, findings, member, seen, steps
from tests.guarantees.test_watch import written

STALE = Kind.STALE_SUBSCRIPTION
ELSEWHERE = member("m1", TopicPartition("payments", 0))
SAME_TOPIC = member("m1", TopicPartition("orders", 1))


def left(last, *, grows=1, committed=500, **given):
    given = {"members": [ELSEWHERE], **given}
    return [seen(s, high=900 + int(s * grows), committed=committed, **given) for s in steps(0, last)]


def test_a_commit_of_a_topic_nobody_reads_any_more_is_no_lag():
    found = finding(*left(125), kind=STALE)

    assert (found.severity, found.grade, found.anchor) == (1, Grade.PROVEN, "commit 500")
    assert (found.bounds, found.evidence["members"]) == (Bounds(0, None, 525, Unit.OFFSETS), 1)
    assert not findings(*left(125), kind=Kind.GROUP_STALLED)


SILENT = {
    "not for long enough": left(120),
    "a member reads the topic": left(125, members=[SAME_TOPIC]),
    "a member reads the partition": left(125, members=[OWNER]),
    "the group is empty": left(125, members=()),
    "the group rebalances": left(125, group_state="PreparingRebalance"),
    "members without any assignment say nothing": left(125, members=[member("m1")]),
    "the log does not grow": left(125, grows=0),
    "the group rebalances now": [*left(120), left(125, group_state="PreparingRebalance")[-1]],
    "the group was never described": [replace(one, groups={}) for one in left(125)],
}


@pytest.mark.parametrize("rounds", SILENT.values(), ids=SILENT.keys())
def test_no_stale_subscription_where(rounds):
    assert not findings(*rounds, kind=STALE)


CLOSES = {
    "a member reads it": ({"committed": 500, "members": [OWNER]}, "a member reads the topic again"),
    "the commit moved": ({"committed": 501, "members": [ELSEWHERE]}, "the commit moved to 501"),
    "the group is empty": ({"committed": 500, "members": ()}, "the group has no members any more"),
    "nothing changed": ({"committed": 500, "members": [ELSEWHERE]}, None),
}


@pytest.mark.parametrize(("last", "reason"), CLOSES.values(), ids=CLOSES.keys())
def test_it_closes_when_the_topic_is_read_or_nobody_can_say(last, reason):
    assert finding(*left(125), seen(130, high=2000, **last), kind=STALE).closed_reason == reason


def test_it_is_the_same_finding_after_a_restart():
    assert written(left(200), {10, 30}).keys() == written(left(200)).keys()


def test_its_upper_bound_grows_with_the_log():
    found = finding(*left(130), kind=STALE)

    assert (found.bounds.upper, found.evidence["unread"]) == (530, 530)
