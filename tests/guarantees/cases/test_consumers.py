"""Cases of people who run Kafka: what consumers did, as far as it can be seen from outside."""

from dataclasses import replace

from guarantees.audits import LossAudit, LostId
from guarantees.findings import Bounds, Grade, Kind, Unit
from guarantees.rebalances import rebalance
from guarantees.rules.losses import loss_episodes, loss_findings
from guarantees.thresholds import Thresholds
from tests.guarantees.builders import (
    OWNER,
    PARTITION,
    finding,
    findings,
    group,
    member,
    seen,
    state,
    steps,
    watch,
)
from tests.guarantees.test_new_partition_skipped import BEFORE as THREE_PARTITIONS
from tests.guarantees.test_new_partition_skipped import GROWN, added
from tests.guarantees.test_stale_subscription import ELSEWHERE

M1, M2 = member("m1", PARTITION), member("m2", PARTITION)


def test_case_C03_a_commit_that_stays_pending_is_pending_and_not_missing():
    found = findings(*[seen(s, high=900, pending=True, isr=state()) for s in steps(0, 1140, 60)])

    assert [one.kind for one in found] == [Kind.COMMIT_PENDING]
    assert (found[0].grade, found[0].severity, found[0].bounds.lower) == (Grade.PROVEN, 3, 1140)
    assert "is pending since 2023-11-14" in found[0].statements[0].text


def test_case_C11_a_group_at_the_end_after_its_leader_moved_has_skipped_the_backlog():
    """The out-of-range answer itself is in no sample: the change of leader while the commit stood stands for it."""
    rounds = [
        seen(s, high=100_000, committed=c, epoch=e, broker=b, isr=state(epoch=e, leader=b, second=s))
        for s, c, e, b in ((0, 5, 28, 1), (30, 5, 29, 2), (60, 100_000, 29, 2))
    ]
    (found,) = findings(*rounds)

    assert (found.kind, found.severity, found.anchor) == (Kind.SKIPPED_FORWARD, 4, "5->100000")
    assert (found.bounds.lower, found.bounds.upper) == (0, 99_995)


def test_case_C16_a_manual_commit_below_the_last_one_is_a_rewind_of_an_active_group():
    series = (1285125, 1285080, 1285085, 1285090, 1285095)
    rounds = [seen(5 * n, high=1_300_000, committed=c, commit_epoch=0) for n, c in enumerate(series)]
    found = finding(*rounds, kind=Kind.REWIND)

    assert (found.anchor, found.bounds.upper, found.severity) == ("1285125->1285080", 45, 3)
    assert (found.evidence["is_operator_reset"], found.closed_reason) == (False, None)


def test_case_C19_the_old_owners_commit_sets_the_partition_back():
    series = ((10, M1), (25, M2), (41, M2), (10, M2), (12, M2))
    rounds = [seen(5 * n, high=50, committed=c, members=[m]) for n, (c, m) in enumerate(series)]
    found = finding(*rounds, kind=Kind.REWIND)

    assert (found.anchor, found.bounds.upper) == ("41->10", 31)
    assert found.evidence["rebalance"]["cause"] == "1 member left, 1 member joined"
    moved = finding(*rounds, kind=Kind.POSSIBLE_REDELIVERY)
    assert (moved.evidence["member_id"], moved.evidence["new_member_id"]) == ("m1", "m2")


AUDIT = LossAudit("p", "c", "orders", "t", "payments", "sink", 1.0, 600.0, True, ((0, 50),), 900_000)


def test_case_C20_one_id_below_the_commit_that_never_reached_the_sink_is_one_lost_record():
    committed, inputs, outputs = 8, range(10), set(range(7))
    lost = [LostId(str(o), o, 0, 1000, is_late=False) for o in inputs if o < committed and o not in outputs]
    (found,) = loss_findings(
        loss_episodes(AUDIT, {0: lost}, lambda count: Bounds(count, count, count, Unit.MESSAGE_IDS))
    )

    assert [one["offset"] for one in found.evidence["lost"]] == [committed - 1]
    assert (found.bounds.upper, found.grade) == (1, Grade.PROVEN)
    assert not findings(*[seen(s, high=10, committed=committed) for s in (0, 5)])


def test_case_C21_out_of_order_work_is_repeated_from_the_commit_and_nothing_is_lost():
    """That 5, 6 and 7 were repeated shows in the sink alone: from outside they are up to the end."""
    rounds = [seen(0, high=8, committed=1, members=[M1]), seen(5, high=8, committed=4, members=[M2])]
    (found,) = findings(*rounds)

    assert (found.kind, found.grade) == (Kind.POSSIBLE_REDELIVERY, Grade.POSSIBLE)
    assert (found.bounds.lower, found.bounds.upper) == (0, 7)
    assert found.statements[-1].grade is Grade.NOT_OBSERVABLE
    assert found.bounds.upper >= len([5, 6, 7])


def test_case_C23_a_member_that_joins_is_a_rebalance_and_what_both_read_is_not_observable():
    """Repeats of the overlap show in the sink alone; nobody left, so no window is claimed."""
    before, after = group([M1]), group([member("m1"), M2], second=5)
    found = rebalance(before, after)

    assert (found.cause, len(found.joined)) == ("1 member joined", 1)
    assert (found.moved[0].old_member, found.moved[0].new_member) == ("m1", "m2")
    assert not findings(
        seen(0, high=44, committed=40, members=[M1]), seen(5, high=44, committed=40, members=[member("m1"), M2])
    )


def test_case_C41_a_group_of_the_new_protocol_is_stable_and_one_that_looks_dead_has_unknown_members():
    three = [member("m1", PARTITION), member("m2"), member("m3")]
    _, dead = watch([seen(s, high=900 + s, committed=500, members=(), group_state="Dead") for s in steps(0, 200)])
    memory, _ = watch([seen(0, high=9, committed=9, members=three, group_type="consumer")])

    assert not dead
    assert (memory.groups["payments"].state.state, len(memory.groups["payments"].state.members)) == ("Stable", 3)


def test_case_C45_the_commit_of_a_topic_the_group_left_is_stale_and_no_lag():
    rounds = [seen(s, high=500 + int(s * 40), committed=500, members=[ELSEWHERE]) for s in steps(0, 210)]
    (found,) = findings(*rounds)

    assert (found.kind, found.severity, found.bounds.lower) == (Kind.STALE_SUBSCRIPTION, 1, 0)
    assert "is not lag" in found.statements[1].text


def test_case_C46_a_member_without_commits_is_neither_lag_nor_a_finding():
    rounds = [seen(s, high=328, no_commit=True) for s in steps(0, 600)]
    memory, found = watch(rounds)

    assert not found
    assert (len(memory.groups["payments"].state.members), dict(memory.commits)) == (1, {})


def test_case_C49_an_expired_commit_is_warned_of_proven_gone_and_named_as_the_cause_of_the_rereading():
    short = Thresholds(offsets_retention_s=120)
    empty = [seen(s, high=11, committed=10, members=(), isr=state()) for s in (5, 100, 110)]
    rounds = [seen(0, high=11, committed=10, isr=state()), *empty]
    warned = finding(*rounds, kind=Kind.COMMIT_EXPIRED, thresholds=short)
    assert warned.severity == 2
    assert not findings(*rounds[:-1], kind=Kind.COMMIT_EXPIRED, thresholds=short)

    rounds.append(seen(130, high=11, no_commit=True, members=(), group_state="Dead", isr=state()))
    gone = finding(*rounds, kind=Kind.COMMIT_EXPIRED, thresholds=short)
    assert (gone.finding_id, gone.severity, gone.grade) == (warned.finding_id, 3, Grade.PROVEN)
    assert "It expired" in gone.statements[1].text

    rounds += [seen(195, high=11, committed=1, isr=state()), seen(200, high=11, committed=11, isr=state())]
    reread = finding(*rounds, kind=Kind.REWIND, thresholds=short)
    assert (reread.anchor, reread.bounds.upper, reread.evidence["was_absent"]) == ("10->1", 9, True)


def test_case_C50_what_a_new_partition_held_before_its_first_commit_may_have_been_skipped():
    found = findings(THREE_PARTITIONS, GROWN, added(300, 120, None), added(360, 125, 120))

    assert [(one.kind, one.bounds.upper) for one in found] == [(Kind.NEW_PARTITION_SKIPPED, 120)]


def test_case_C63_repeats_without_a_change_of_owner_claim_nothing():
    """The second delivery of 881 shows in the sink alone."""
    states = (None, "PreparingRebalance", None)
    rounds = [
        seen(5 * n, high=883, committed=881 + n // 2, members=[M1], group_state=word) for n, word in enumerate(states)
    ]

    assert not findings(*rounds)


def test_case_C64_a_crash_loop_below_the_log_start_is_a_hole_that_an_operator_ends():
    flapping = [
        seen(10 + 5 * n, start=11_100_000, high=11_200_000, committed=11_090_427, members=[OWNER] if n % 2 else ())
        for n in range(6)
    ]
    rounds = [seen(0, start=11_000_000, high=11_200_000, committed=11_090_427), *flapping]
    rounds += [
        seen(s, start=11_100_000, high=11_200_000, committed=c, members=())
        for s, c in ((40, 11_090_427), (45, 11_090_427), (50, 11_100_000))
    ]
    hole = finding(*rounds, kind=Kind.EXPIRED_UNREAD)
    reset = finding(*rounds, kind=Kind.SKIPPED_FORWARD)

    assert (hole.bounds.upper, "moved on to 11,100,000" in hole.closed_reason) == (9573, True)
    assert (reset.evidence["trigger"], reset.severity, reset.bounds.upper) == ("operator_reset", 1, 9573)


def test_case_C68_a_share_group_that_delivers_again_is_no_rewind():
    """Whether 361 and 366 were archived or accepted is in no admin answer."""
    rounds = [
        seen(5 * n, high=400, committed=c, group_type="share") for n, c in enumerate((361, 366, 362, 368, 390, 361))
    ]

    assert not findings(*rounds)
    assert findings(*[replace(one, groups={"payments": group()}) for one in rounds], kind=Kind.REWIND)


def test_case_C74_rebalances_that_move_nothing_leave_repeats_unclaimed():
    """Repeats of one owner show in the sink alone; the commit creeps, and it never falls."""
    words = (None, "PreparingRebalance", None, "PreparingRebalance", None, "PreparingRebalance", None)
    rounds = [
        seen(5 * n, high=110, committed=100 + n // 3, members=[M1], group_state=word) for n, word in enumerate(words)
    ]

    assert not findings(*rounds)


def test_case_C31_a_mirrors_literal_offset_lies_ahead_of_the_empty_target():
    rounds = [seen(s, high=0, committed=100, members=()) for s in (0, 5)]
    found = finding(*rounds, kind=Kind.COMMITTED_AHEAD)

    assert (found.bounds.lower, found.evidence["members"], found.severity) == (100, 0, 3)
    assert found.evidence["possible_causes"][0].endswith("(MirrorMaker 2)")
    assert "Up to 100 records still to be written" in found.statements[1].text
    assert not findings(seen(0, start=100, high=100, committed=100), seen(5, start=100, high=100, committed=100))


def test_case_C32_a_translation_past_the_target_is_ahead_and_a_conservative_one_is_silent():
    """How much a conservative translation repeats after failover shows only once the group runs there."""
    naive = finding(*[seen(s, high=110, committed=130, members=()) for s in (0, 5)], kind=Kind.COMMITTED_AHEAD)
    conservative = [seen(s, high=110, committed=80, members=()) for s in (0, 5)]

    assert (naive.bounds.lower, naive.evidence["members"]) == (20, 0)
    assert not findings(*conservative)
