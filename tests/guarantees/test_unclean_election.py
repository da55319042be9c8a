from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from guarantees.unknown import Unknown
from tests.guarantees.builders import epoch_end, finding, findings, seen, state

UNCLEAN = Kind.UNCLEAN_ELECTION
REASSURED = "nothing that was seen is missing"


def led(second, in_sync, epoch, leader, *, high=1500, last_known=None, **given):
    ends, committed = given.pop("ends", ()), given.pop("committed", None)
    is_led = state(in_sync, epoch=epoch, leader=leader, second=second, **given)
    known = replace(is_led, last_known_eligible_leader_replicas=last_known)
    return seen(second, high=high, epoch=epoch, broker=leader, isr=known, epoch_ends=ends, committed=committed)


BEFORE = led(0, [1], 4, 1)
AFTER = led(5, [3], 5, 3)


def test_a_leader_alone_in_sync_that_was_outside_before_was_elected_uncleanly_or_had_caught_up():
    found = finding(BEFORE, AFTER, kind=UNCLEAN)

    assert (found.severity, found.grade, found.anchor, found.bounds) == (2, Grade.POSSIBLE, "leader epoch 5", None)
    assert "unless it caught up" in found.statements[0].text
    assert found.statements[1].grade is Grade.NOT_OBSERVABLE
    assert (found.evidence["in_sync_replicas_before"], found.evidence["leader"]) == ([1], 3)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (led(0, [1, 3], 4, 1), AFTER),
        (led(0, [1], 4, 1, eligible=[3]), AFTER),
        (led(0, [], 4, None, eligible=[3]), AFTER),
        (led(0, [], 4, None), AFTER),
        (BEFORE, led(5, [3, 2], 5, 3)),
        (led(0, [1], 4, 1, replicas=[1, 2]), AFTER),
        (BEFORE, led(5, [3], 5, None)),
        (BEFORE, led(5, [3], 4, 3)),
        (BEFORE, led(5, [3], 3, 3)),
        (BEFORE, led(5, [3], 5, 3, topic_id="topic-id-2")),
    ],
    ids=[
        "in sync",
        "eligible",
        "eligible when nobody led",
        "nobody asked who was eligible",
        "others in sync: it may have caught up before",
        "assigned since: a reassignment moves leaders in order",
        "no leader yet",
        "same epoch",
        "old metadata",
        "made anew",
    ],
)
def test_what_is_no_unclean_election(before, after):
    assert not findings(before, after, kind=UNCLEAN)


def test_an_election_from_the_last_known_leader_is_only_possible_harm():
    """Seen live without loss: what a killed broker had written survives in the page cache."""
    nobody = led(0, [], 4, None, eligible=[], last_known=(3,))
    other = led(0, [], 4, None, eligible=[], last_known=(2,))
    found = finding(nobody, AFTER, kind=UNCLEAN)

    assert (found.grade, found.severity) == (Grade.POSSIBLE, 2)
    assert "last known leader" in found.statements[0].text
    assert finding(other, AFTER, kind=UNCLEAN).grade is Grade.PROBABLE


def checked(second, answered, end, **given):
    return led(second, [3], 5, 3, ends=(epoch_end(4, answered, end, current=5, second=second),), **given)


def test_it_is_grave_once_a_cut_is_shown_and_names_who_committed_beyond_it():
    rounds = (BEFORE, checked(5, 4, 1400, committed=1450), checked(10, 4, 1400, committed=1450))
    found = finding(*rounds, kind=UNCLEAN)

    assert (found.severity, found.evidence["is_cut"], found.evidence["first_lost_offset"]) == (4, True, 1400)
    assert found.grade is Grade.PROBABLE, "a replica that had caught up would lack nothing"
    assert "unless" not in found.statements[0].text
    assert "did not change between" in found.statements[0].assumption
    assert "payments (1,450)" in found.statements[1].text
    assert found.statements[1].grade is Grade.PROVEN
    assert len(findings(*rounds, kind=Kind.LOG_TRUNCATED)) == 1


def with_setting(observed, enabled):
    return replace(observed, topic_settings={"orders": {"unclean.leader.election.enable": enabled}})


def test_it_says_whether_the_topic_allows_unclean_elections():
    said = [finding(BEFORE, after, kind=UNCLEAN).evidence for after in (with_setting(AFTER, "true"), AFTER)]
    assert [one["unclean_leader_election_enable"] for one in said] == [True, None]


def test_where_unclean_elections_are_forbidden_the_leader_had_caught_up_between_two_samples():
    assert not findings(BEFORE, with_setting(AFTER, "false"), kind=UNCLEAN)


def test_the_last_known_leader_may_be_elected_although_unclean_elections_are_forbidden():
    before, after = led(0, [], 4, None, eligible=[], last_known=[2]), led(5, [2], 5, 2)
    assert finding(before, with_setting(after, "false"), kind=UNCLEAN).grade is Grade.POSSIBLE


def test_a_commit_up_to_the_new_end_is_not_named():
    found = finding(BEFORE, checked(5, 4, 1400, committed=1400), checked(10, 4, 1400, committed=1400), kind=UNCLEAN)

    assert found.evidence["groups_beyond_end"] == []


def test_a_group_whose_commit_is_unknown_when_a_cut_is_shown_is_named_as_not_observable():
    unknown = Unknown("broker 1 did not answer")
    rounds = (BEFORE, checked(5, 4, 1400, committed=1450), checked(10, 4, 1400, committed=unknown))

    found = finding(*rounds, kind=UNCLEAN)

    assert (found.evidence["groups_beyond_end"], found.evidence["groups_unknown"]) == ([], 1)
    assert found.statements[-1].grade is Grade.NOT_OBSERVABLE
    assert "Whether 1 group committed beyond 1,400" in found.statements[-1].text
    assert "payments" in found.statements[-1].text


def test_it_says_so_when_nothing_is_missing_and_closes_when_every_replica_follows():
    rounds = (BEFORE, checked(5, 4, 1500), checked(10, 4, 1500))

    open_still = finding(*rounds, led(15, [3, 1], 5, 3), kind=UNCLEAN)
    assert (open_still.closed_reason, open_still.severity, open_still.evidence["is_cut"]) == (None, 2, False)
    assert REASSURED in finding(*rounds, led(15, [3, 1, 2], 5, 3), kind=UNCLEAN).closed_reason


def test_without_an_answer_it_waits_a_minute_and_then_says_that_the_loss_is_not_known():
    unanswered = (BEFORE, AFTER, led(15, [1, 2, 3], 5, 3))

    assert finding(*unanswered, led(65, [1, 2, 3], 5, 3), kind=UNCLEAN).closed_reason is None
    assert "not known" in finding(*unanswered, led(66, [1, 2, 3], 5, 3), kind=UNCLEAN).closed_reason


def test_an_answer_about_an_older_epoch_does_not_say_that_nothing_is_missing():
    older = [led(s, [3], 5, 3, ends=(epoch_end(3, 3, 1500, current=5, second=s),), high=1600) for s in (10, 15)]
    rounds = (led(0, [1], 3, 1), led(5, [1], 4, 1, high=1550), *older)

    assert finding(*rounds, kind=UNCLEAN).evidence["is_cut"] is None


def test_what_the_leader_of_a_later_epoch_says_is_about_another_election():
    later = [led(s, [3, 1], 6, 1, ends=(epoch_end(5, 5, 1500, current=6, second=s),)) for s in (10, 15)]

    assert finding(BEFORE, AFTER, *later, kind=UNCLEAN).evidence["is_cut"] is None


def test_what_was_cut_stays_lost_when_it_closes():
    rounds = (BEFORE, checked(5, 4, 1400), checked(10, 4, 1400), led(15, [1, 2, 3], 5, 3))

    assert "stays lost" in finding(*rounds, kind=UNCLEAN).closed_reason
