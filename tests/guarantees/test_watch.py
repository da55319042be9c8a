"""The rules together: silent on every healthy history, sure of what was done to one, and the same after a restart."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guarantees.findings import Grade, Kind
from guarantees.lifecycle import changes, fold
from guarantees.memory import Memory
from guarantees.observations import Signal
from guarantees.watch import observe, resume
from tests.guarantees.builders import THRESHOLDS, TOPIC, complete, finding, findings, seen, state, steps, watch
from tests.guarantees.histories import HISTORIES, Cluster, watched

QUIET = ((), (), (), ())
WINDOW_MS = 900_000


@settings(max_examples=150)
@given(HISTORIES)
def test_a_healthy_history_gives_no_finding_but_possibilities_by_members_that_left(history):
    _, found = watch(watched(Cluster(), history))

    assert [one for one in found.values() if not came_and_went(one)] == []
    assert all(one.kind is Kind.FALLING_BEHIND for one in found.values()) or "leave" in str(history)


def came_and_went(found):
    """A member that left may have read what it did not commit; one that came and went unseen looks like a reset. And
    that a group falls behind is true of healthy ones too.
    """
    if found.kind is Kind.FALLING_BEHIND:
        return True
    is_possible_skip = found.kind is Kind.SKIPPED_FORWARD and found.severity == 1
    return found.grade is Grade.POSSIBLE and (found.kind is Kind.POSSIBLE_REDELIVERY or is_possible_skip)


@settings(max_examples=60)
@given(HISTORIES, st.integers(1, 5), st.integers(0, 1))
def test_a_commit_that_is_set_back_is_found_with_its_window(history, back, partition):
    cluster = Cluster()
    rounds = watched(cluster, history)
    log = cluster.logs[partition]
    cluster.calm()
    cluster.produce(log, 10)
    cluster.end(log)
    cluster.consume(log, 10**6)
    rounds += watched(cluster, [QUIET, QUIET])
    old = log.committed
    log.committed -= back
    rounds += watched(cluster, [QUIET])
    _, found = watch(rounds)

    (rewind,) = [one for one in found.values() if one.kind is Kind.REWIND]
    assert (rewind.place.topic, rewind.place.partition) == (TOPIC, partition)
    assert rewind.anchor == f"{old}->{old - back}"
    assert rewind.bounds.upper == old - max(old - back, log.log_start)


@settings(max_examples=60)
@given(HISTORIES, st.integers(1, 5), st.integers(0, 1))
def test_a_log_that_is_cut_is_found_with_what_is_gone_at_least(history, cut, partition):
    cluster = Cluster()
    rounds = watched(cluster, history)
    log = cluster.logs[partition]
    cluster.end(log)
    cluster.produce(log, 10)
    rounds += watched(cluster, [QUIET, QUIET])
    log.cut(cut, leader=1)
    rounds += watched(cluster, [QUIET])
    _, found = watch(rounds)

    (truncated,) = [one for one in found.values() if one.kind is Kind.LOG_TRUNCATED]
    assert truncated.place.partition == partition
    assert truncated.bounds.lower == cut


@settings(max_examples=60)
@given(HISTORIES, st.integers(1, 9), st.integers(0, 20), st.integers(0, 1))
def test_a_cut_that_new_records_hide_is_found_with_all_that_is_gone(history, cut, more, partition):
    cluster = Cluster()
    rounds = watched(cluster, history)
    log = cluster.logs[partition]
    cluster.end(log)
    cluster.produce(log, 10)
    rounds += watched(cluster, [QUIET, QUIET])
    log.is_recovering = False
    log.cut(cut, leader=1)
    cluster.produce(log, cut + more)
    rounds += watched(cluster, [QUIET, QUIET])
    _, found = watch(rounds)

    (truncated,) = [one for one in found.values() if one.kind is Kind.LOG_TRUNCATED]
    assert truncated.place.partition == partition
    assert truncated.bounds.lower == cut


@settings(max_examples=60)
@given(HISTORIES, st.integers(0, 9), st.integers(0, 1))
def test_an_unclean_election_is_found_and_what_it_cost(history, cut, partition):
    cluster = Cluster()
    rounds = watched(cluster, history)
    log = cluster.logs[partition]
    cluster.end(log)
    cluster.produce(log, 10)
    log.leader, log.in_sync, log.low_since = 1, (1, 2), cluster.now
    rounds += watched(cluster, [QUIET, QUIET])
    log.is_recovering = False
    log.cut(cut, leader=3)
    log.in_sync, log.low_since = (3,), cluster.now
    cluster.produce(log, cut)
    rounds += watched(cluster, [QUIET, QUIET])
    _, found = watch(rounds)

    (unclean,) = [one for one in found.values() if one.kind is Kind.UNCLEAN_ELECTION]
    assert unclean.place.partition == partition
    assert unclean.evidence["is_cut"] is (cut > 0)
    assert [one.bounds.lower for one in found.values() if one.kind is Kind.LOG_TRUNCATED] == [cut] * (cut > 0)


def keep_pending(cluster, log):
    rounds = []
    for _ in range(20):
        cluster.pending = True
        rounds += watched(cluster, [QUIET])
    return rounds


def commit_past_stable_offset(cluster, log):
    cluster.begin(log, 9)
    log.committed = log.high_watermark
    return watched(cluster, [QUIET])


def lose_commit(cluster, log):
    log.committed = None
    return watched(cluster, [QUIET])


def reset_forward(cluster, log):
    cluster.members.clear()
    for one in cluster.logs:
        one.committed_at = cluster.now  # nobody comes back for a while
    cluster.produce(log, 9)
    rounds = watched(cluster, [QUIET, QUIET])
    log.committed += 9
    return [*rounds, *watched(cluster, [QUIET])]


FAULTS = {
    Kind.COMMIT_PENDING: keep_pending,
    Kind.READ_PAST_STABLE_OFFSET: commit_past_stable_offset,
    Kind.COMMIT_EXPIRED: lose_commit,
    Kind.SKIPPED_FORWARD: reset_forward,
}


@pytest.mark.parametrize("kind", FAULTS)
@settings(max_examples=30)
@given(HISTORIES, st.integers(0, 1))
def test_a_fault_of_a_commit_is_found_in_any_history_where_it_can_be_seen(kind, history, partition):
    cluster = Cluster()
    rounds = watched(cluster, history)
    log = cluster.logs[partition]
    cluster.calm()
    cluster.produce(log, 10)
    cluster.end(log)
    cluster.consume(log, 10**6)
    log.ends_with_marker = False
    log.committed = log.high_watermark
    rounds += watched(cluster, [QUIET, QUIET, QUIET])
    _, before = watch(rounds)
    _, found = watch([*rounds, *FAULTS[kind](cluster, log)])

    new = [one for key, one in found.items() if one.kind is kind and key not in before]
    assert partition in [one.place.partition for one in new]


def written(rounds, restarts=frozenset(), window_ms=WINDOW_MS):
    """What is in the store after the rounds, with a restart before each of the given ones."""
    memory, histories = Memory.empty(), {}
    for number, one in enumerate(rounds):
        if number in restarts:
            stored = [r for r in rounds[:number] if r.ended_at_ms >= one.started_at_ms - window_ms]
            still_open = [h.finding for h in histories.values() if h.finding.closed_reason is None]
            memory, found = resume(stored, still_open, THRESHOLDS)
            histories = fold(changes(histories, found, rounds[number - 1].ended_at_ms), histories)
        memory, found = observe(memory, one, THRESHOLDS)
        histories = fold(changes(histories, found, one.ended_at_ms), histories)
    return histories


def as_written(histories):
    return {
        key: (h.finding.severity, h.finding.anchor, h.finding.bounds, h.finding.closed_reason, h.opened_at_ms)
        for key, h in histories.items()
    }


@settings(max_examples=40)
@given(HISTORIES, st.integers(1, 9), st.data())
def test_restarts_change_nothing_that_is_written_while_the_stored_rounds_reach_back(history, back, data):
    """Those of the last 15 minutes are read; pauses make a history longer than that."""
    cluster = Cluster()
    rounds = watched(cluster, history)
    cluster.calm()
    cluster.produce(cluster.logs[0], 20)
    cluster.end(cluster.logs[0])
    cluster.consume(cluster.logs[0], 10**6)
    rounds += watched(cluster, [QUIET, QUIET])
    cluster.logs[0].committed -= back
    cluster.logs[1].high_watermark += 5
    rounds += watched(cluster, [QUIET, QUIET])
    cluster.leave(cluster.logs[0], 0)
    rounds += watched(cluster, [QUIET, QUIET])
    restarts = data.draw(st.sets(st.integers(1, len(rounds) - 1), max_size=4))

    whole = written(rounds)
    assert any(h.finding.kind is Kind.REWIND for h in whole.values())
    assert as_written(written(rounds, restarts, window_ms=10**9)) == as_written(whole)


def test_an_interval_that_began_before_the_stored_rounds_goes_on_after_a_restart():
    low = [seen(s, isr=state([1], second=s)) for s in steps(0, 2000)]
    whole, restarted = written(low), written(low, {300, 301, 390})

    assert len(whole) == 1
    assert whole.keys() == restarted.keys()


def test_a_finding_that_closed_before_a_restart_is_not_written_again():
    low = [seen(s, isr=state([1], second=s)) for s in steps(0, 1500)]
    fine = [seen(s, isr=state([1, 2], second=s)) for s in steps(1505, 1600)]

    assert written([*low, *fine], {310}) == written([*low, *fine])


def test_the_last_stored_round_is_judged_again_because_a_crash_may_have_cut_it_off():
    rounds = [seen(0, high=900, committed=500), seen(5, high=900, committed=300)]
    _, found = resume(rounds, [], THRESHOLDS)

    assert [one.kind for one in found] == [Kind.REWIND]
    assert not resume([*rounds, seen(10, high=900, committed=500), seen(15, high=900, committed=500)], [], THRESHOLDS)[
        1
    ]


def test_an_open_finding_closes_after_a_restart_by_its_own_evidence():
    rewind = finding(seen(0, high=900, committed=500), seen(5, high=900, committed=300), kind=Kind.REWIND)
    memory, _ = resume([], [rewind], THRESHOLDS)
    _, found = observe(memory, seen(4000, high=900, committed=500), THRESHOLDS)

    assert found[0].finding_id == rewind.finding_id
    assert found[0].closed_reason.startswith("recovered")


def test_a_commit_still_ahead_after_a_restart_is_the_finding_of_before():
    ahead = finding(*[seen(s, high=100, committed=150 + s) for s in (0, 5)], kind=Kind.COMMITTED_AHEAD)
    memory, _ = resume([], [ahead], THRESHOLDS)
    memory, found = watch([seen(s, high=100, committed=s) for s in (4000, 4005)], memory)

    assert list(found) == list(memory.open) == [ahead.finding_id]


def test_stored_rounds_from_before_a_finding_do_not_close_it():
    before, after = seen(0, high=900, committed=500), seen(5, high=900, committed=300)
    rewind = finding(before, after, kind=Kind.REWIND)

    for stored in ([before], [before, after]):
        memory, found = resume(stored, [rewind], THRESHOLDS)
        assert list(memory.open.values()) == found == [rewind]


def test_findings_come_the_most_severe_first():
    rounds = (
        seen(0, high=1500, committed=1400, isr=state([1], second=0)),
        seen(5, high=1100, epoch=1, committed=1200, isr=state([1], second=5)),
    )
    _, found = observe(observe(Memory.empty(), rounds[0], THRESHOLDS)[0], rounds[1], THRESHOLDS)

    assert [one.severity for one in found] == sorted((one.severity for one in found), reverse=True)
    assert len(found) >= 2


def test_findings_of_a_topic_created_anew_close_after_two_rounds_of_its_new_id():
    rewind = (seen(0, high=900, committed=500), seen(5, high=900, committed=300))
    new = [seen(s, high=9, topic_id="topic-id-2", isr=state(topic_id="topic-id-2")) for s in (10, 15)]

    assert finding(*rewind, new[0], kind=Kind.REWIND).closed_reason is None
    assert "anew" in finding(*rewind, *new, kind=Kind.REWIND).closed_reason


def test_findings_of_a_deleted_topic_close_when_complete_metadata_names_it_no_more():
    rewind = (seen(0, high=900, committed=500), seen(5, high=900, committed=300))
    other = next(iter(Cluster().look(QUIET).states.items()))

    def without(second, *coverage):
        return replace(seen(second, coverage=coverage), states={type(other[0])("other", 0): other[1]})

    named = complete(Signal.PARTITION_STATES)
    assert finding(*rewind, without(60, named), kind=Kind.REWIND).closed_reason is None
    assert finding(*rewind, without(70), kind=Kind.REWIND).closed_reason is None
    assert finding(*rewind, without(70, named), kind=Kind.REWIND).closed_reason == "the topic is gone"


def test_observe_changes_nothing_it_was_given():
    memory, _ = watch([seen(0, high=900, committed=500)])
    kept = replace(memory, commits=dict(memory.commits), open=dict(memory.open))
    observe(memory, seen(5, high=900, committed=300), THRESHOLDS)

    assert memory == kept


def test_the_first_round_finds_nothing():
    assert not findings(seen(0, high=100, start=50, committed=10, stable=60, isr=state([1])))
