"""What looks like a violation and is none: each trap silent, and loud again when the one fact that excuses it is gone.

Numbered as in the project's list of false positives. 7 (every transaction of a KIP-890 producer bumps its epoch), 11
(wrong committed epochs read as truncation) and 13 (sequence wrap) are in test_traps_of_logs.py.
"""

from dataclasses import replace

import pytest

from guarantees.audits import DuplicateCause
from guarantees.findings import FindingState, Grade, Kind
from guarantees.lag import NO_COMMIT, consumer_lag
from guarantees.memory import Memory
from guarantees.observations import Signal
from guarantees.promises import Guarantee, Pipeline, Verdict, judge
from guarantees.rules.duplicates import duplicate_findings
from guarantees.verdicts import judged_as
from guarantees.watch import observe, resume
from tests.guarantees.builders import (
    KEY,
    NOBODY,
    PARTITION,
    THRESHOLDS,
    commit,
    complete,
    finding,
    findings,
    member,
    offsets,
    producer,
    seen,
    state,
    steps,
    transaction,
)
from tests.guarantees.test_duplicates import GROUP as DUPLICATES
from tests.guarantees.test_losses import found as losses
from tests.guarantees.test_losses import lost
from tests.guarantees.test_verdicts import FULL, verdict

STALLED = Kind.GROUP_STALLED


def kinds(*rounds):
    return {one.kind for one in findings(*rounds)}


def test_trap_01_a_commit_read_after_the_high_watermark_is_not_ahead_of_it():
    def rounds(*, commit_first):
        found = []
        for second in (0, 5):
            one = seen(second, high=100, committed=150)
            read_at_ms = one.commits[KEY].observed_at_ms + (10 if commit_first else -10)
            found.append(
                replace(one, partitions={PARTITION: replace(one.partitions[PARTITION], observed_at_ms=read_at_ms)})
            )
        return found

    assert not kinds(*rounds(commit_first=False))
    assert kinds(*rounds(commit_first=True)) == {Kind.COMMITTED_AHEAD}


def test_trap_02_a_gap_that_transaction_markers_alone_can_make_is_no_work_left():
    def standing(high):
        return [seen(s, high=high, committed=100) for s in steps(0, 300)]

    assert not kinds(*standing(102))
    assert kinds(*standing(103)) == {STALLED}


def test_trap_03_a_partition_without_a_commit_has_no_lag_and_not_the_full_log():
    def standing(**committed):
        return [seen(s, high=500, **committed) for s in steps(0, 300)]

    assert consumer_lag(commit(None), offsets(500)).lag_hw == NO_COMMIT
    assert consumer_lag(commit(0), offsets(500)).lag_hw == 500
    assert not kinds(*standing(no_commit=True))
    assert kinds(*standing(committed=0)) == {STALLED}


def test_trap_04_a_commit_below_the_log_start_at_first_sight_is_an_old_story():
    def overtaken(start_before):
        return kinds(seen(0, high=900, start=start_before, committed=500), seen(5, high=900, start=700, committed=500))

    assert not overtaken(501)
    assert overtaken(500) == {Kind.EXPIRED_UNREAD}


def test_trap_05_offsets_that_restart_with_another_topic_id_did_not_go_back():
    def recreated(topic_id):
        return kinds(seen(0, high=900, committed=500), seen(5, high=900, committed=10, topic_id=topic_id))

    assert not recreated("topic-id-2")
    assert recreated("topic-id-1") == {Kind.REWIND}


def test_trap_06_a_group_asked_in_another_protocol_s_words_looks_dead_and_has_lost_no_member():
    def asked(word):
        return kinds(seen(0, high=900, committed=500), seen(5, high=900, committed=500, members=(), group_state=word))

    assert not asked("Dead")
    assert asked("Empty") == {Kind.POSSIBLE_REDELIVERY}


def test_trap_08_a_reader_held_back_by_the_stable_offset_is_not_a_slow_consumer():
    def waiting(stable):
        rounds = [seen(s, high=1663, stable=stable, committed=200) for s in steps(0, 240)]
        return kinds(*rounds) - {Kind.STABLE_OFFSET_FROZEN}

    assert not waiting(200)
    assert waiting(1663) == {STALLED}


def test_trap_09_offsets_set_while_nobody_is_in_the_group_are_an_operators_reset():
    def fell(members):
        return finding(
            seen(0, high=900, committed=500, members=members),
            seen(5, high=900, committed=300, members=members),
            kind=Kind.REWIND,
        )

    reset, rewind = fell(()), fell((member("m1", PARTITION),))
    assert (reset.severity, reset.title.startswith("operator reset")) == (1, True)
    assert (rewind.severity, rewind.title.startswith("rewind")) == (3, True)


def test_trap_10_a_replication_factor_below_the_minimum_is_a_matter_of_configuration():
    def one_in_sync(replicas):
        return kinds(*[seen(s, isr=state([1], replicas=replicas, second=s), min_isr=2) for s in (0, 5)])

    assert one_in_sync([1]) == {Kind.MIN_ISR_ABOVE_REPLICAS}
    assert one_in_sync([1, 2]) == {Kind.BELOW_MIN_ISR}


def test_trap_10_a_leader_from_the_eligible_replicas_was_elected_cleanly():
    def cut(eligible):
        return finding(
            seen(0, high=1500, isr=state([1], eligible=eligible)),
            seen(5, high=1100, epoch=1, broker=2, isr=state([2], leader=2, epoch=1, second=5)),
            kind=Kind.LOG_TRUNCATED,
        )

    assert cut([2]).evidence["is_unclean"] is False
    assert cut([3]).evidence["is_unclean"] is True


def test_trap_12_a_repeated_id_without_a_repeated_sequence_proves_nothing_about_the_broker():
    def duplicate(cause):
        (found,) = duplicate_findings([replace(DUPLICATES, cause=cause)], [], 0)
        return found

    by_id, by_sequence = duplicate(DuplicateCause.NOT_IDEMPOTENT), duplicate(DuplicateCause.SAME_SEQUENCE)
    assert (by_id.grade, by_id.severity, bool(by_id.statements[0].assumption)) == (Grade.PROBABLE, 3, True)
    assert (by_sequence.grade, by_sequence.severity) == (Grade.PROVEN, 4)


def test_trap_14_a_producers_wrong_clock_makes_no_transaction_overdue():
    def held(*, started, last_second):
        rounds = [
            seen(s, high=100, stable=90, transactions=(transaction(PARTITION, started=started),),
                 producers=(producer(90, last_second=last_second),))
            for s in steps(0, 60)
        ]  # fmt: skip
        return finding(*rounds, kind=Kind.STABLE_OFFSET_FROZEN).evidence["class"]

    assert held(started=20, last_second=-86_400) == "open"
    assert held(started=-400, last_second=-86_400) == "overdue"


def test_trap_15_a_partition_that_could_not_be_read_has_not_recovered():
    def after(committed):
        return finding(
            seen(0, high=900, committed=500),
            seen(5, high=900, committed=300),
            seen(10, high=900, committed=committed),
            kind=Kind.REWIND,
        )

    assert after(NOBODY).closed_reason is None
    assert after(500).closed_reason.startswith("recovered")


def test_trap_16_a_replaced_leaders_last_answer_is_no_truncation():
    def answered(epoch):
        return kinds(seen(0, high=1500, epoch=1), seen(5, high=1100, epoch=epoch))

    assert not answered(0)
    assert answered(2) == {Kind.LOG_TRUNCATED}


def test_trap_16_an_old_coordinators_commit_is_no_rewind():
    def answered(coordinator):
        before, after = seen(0, high=900, committed=500), seen(5, high=900, committed=300, coordinator=coordinator)
        return kinds(before, after, seen(10, high=900, committed=500, coordinator=coordinator))

    assert not answered(2)
    assert answered(1) == {Kind.REWIND}


def test_trap_17_a_group_that_commits_slowly_by_custom_is_not_stalled():
    """Two silences of 100 s, or of 50 s, before one of 150 s: a checkpoint's pace is known by then."""

    def paced(every_s):
        committed = {s: 10 + int(s // every_s) for s in steps(0, 2 * every_s)}
        rounds = [seen(s, high=10_000 + int(s), committed=c) for s, c in committed.items()]
        return kinds(*rounds, *[seen(2 * every_s + s, high=11_000 + int(s), committed=12) for s in steps(5, 150)])

    assert not paced(100)
    assert paced(50) == {STALLED}


def test_trap_18_a_commit_beyond_the_end_in_an_empty_group_is_first_of_all_a_translated_one():
    def ahead(members):
        rounds = [seen(s, high=100, committed=150, members=members) for s in (0, 5)]
        return finding(*rounds, kind=Kind.COMMITTED_AHEAD).evidence["possible_causes"][0]

    assert "MirrorMaker" in ahead(())
    assert "cut of the log" in ahead((member("m1", PARTITION),))


def test_trap_19_a_purge_up_to_the_commit_of_its_own_group_loses_nothing():
    def purged(start):
        return kinds(seen(0, high=900, committed=500), seen(5, high=900, start=start, committed=500))

    assert not purged(500)
    assert purged(501) == {Kind.EXPIRED_UNREAD}


def test_trap_20_a_share_group_delivers_again_by_design():
    def fell(group_type):
        return kinds(
            seen(0, high=900, committed=500, group_type=group_type),
            seen(5, high=900, committed=300, group_type=group_type),
        )

    assert not fell("share")
    assert fell("classic") == {Kind.REWIND}


def test_trap_21_late_is_not_lost():
    pipeline = Pipeline("billing", "orders", "payments", "invoices", Guarantee.AT_LEAST_ONCE)
    late, gone = losses(lost(5, 20, late=True)), losses(lost(5, 20, late=False))

    assert (late.state, judged_as(pipeline, late, 0)) == (FindingState.CLOSED, Verdict.OK)
    assert (gone.state, judged_as(pipeline, gone, 0)) == (FindingState.OPEN, Verdict.VIOLATED)


def test_trap_22_a_restart_of_the_monitor_is_no_rewind():
    first = seen(5, high=900, committed=300)

    def restarted(stored):
        memory, _ = resume(stored, [], THRESHOLDS)
        return {one.kind for one in observe(memory, first, THRESHOLDS)[1]}

    assert not restarted([])
    assert not restarted([replace(first, tick=0, started_at_ms=first.started_at_ms - 5_000)])
    assert restarted([seen(0, high=900, committed=500)]) == {Kind.REWIND}
    assert observe(Memory.empty(), first, THRESHOLDS)[1] == []


def test_trap_23_a_few_offsets_again_in_a_rebalance_are_counted_and_nobody_is_called():
    def fell(after):
        return finding(
            seen(0, high=900, committed=500, members=(member("m1", PARTITION),)),
            seen(5, high=900, committed=450, members=after),
            kind=Kind.REWIND,
        )

    assert fell((member("m1"), member("m2", PARTITION))).severity == 1
    assert fell((member("m1", PARTITION),)).severity == 3


def test_trap_24_an_idle_topic_stops_nobody():
    def standing(high):
        return kinds(*[seen(s, high=high, committed=500) for s in steps(0, 600)])

    assert not standing(500)
    assert standing(600) == {STALLED}


def test_trap_25_in_sync_replicas_that_flap_between_samples_give_bounds_and_one_sample_nothing():
    def below(last):
        low = [seen(s, isr=state([1], second=s)) for s in steps(5, last)]
        return findings(seen(0, isr=state()), *low, seen(last + 5, isr=state(second=last + 5)))

    assert not below(5)
    (found,) = below(10)
    assert (found.bounds.lower, found.bounds.estimate, found.bounds.upper) == (5, None, 15)


@pytest.mark.parametrize("signal", sorted(complete(one).signal for one in (Signal.COMMITTED_OFFSETS, Signal.GROUPS)))
def test_trap_26_what_is_not_permitted_is_not_seen_and_never_none(signal):
    refused = replace(complete(Signal(signal)), answered=0, refused=1)
    others = tuple(one for one in FULL.coverage if one.signal != signal)

    assert verdict(sight=replace(FULL, coverage=(*others, refused))).verdict is Verdict.UNKNOWN
    assert verdict(sight=replace(FULL, coverage=(*others, complete(Signal(signal))))).verdict is Verdict.OK


def test_trap_26_a_commit_that_may_not_be_read_any_more_is_not_gone():
    def after(**answer):
        return finding(
            seen(0, high=900, committed=500), seen(5, high=900, committed=300), seen(10, high=900, **answer),
            kind=Kind.REWIND,
        )  # fmt: skip

    assert after(committed=NOBODY).closed_reason is None
    assert "no commit here any more" in after(no_commit=True).closed_reason


def test_trap_27_the_usual_duplicate_of_a_restarted_producer_breaks_exactly_once_alone():
    (found,) = duplicate_findings([DUPLICATES], [], 0)

    assert (found.evidence["cause"], found.grade) == ("other_producer_id", Grade.PROBABLE)
    assert judge(found.kind, found.severity, Guarantee.AT_LEAST_ONCE) is Verdict.OK
    assert judge(found.kind, found.severity, Guarantee.EXACTLY_ONCE) is Verdict.VIOLATED


def test_trap_28_a_client_that_repairs_a_truncation_did_not_go_back():
    def repaired(epoch):
        before = seen(0, high=1500, committed=1500, commit_epoch=0)
        return kinds(before, seen(5, high=1500, committed=1100, commit_epoch=epoch))

    assert not repaired(1)
    assert repaired(0) == {Kind.REWIND}


def test_trap_28_a_static_member_that_came_back_has_not_left():
    def back(instance):
        before = seen(0, high=900, committed=500, members=(member("m1", PARTITION, instance=instance),))
        return kinds(before, seen(5, high=900, committed=500, members=(member("m2", PARTITION, instance=instance),)))

    assert not back("i")
    assert back(None) == {Kind.POSSIBLE_REDELIVERY}
