"""Headers range by range: findings grow, settle and survive restarts, and healthy producers give none."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guarantees import header_traces
from guarantees.findings import Bounds, Kind, Unit
from guarantees.header_watch import SETTLED_AFTER_MS, HeaderMemory, HeaderRound, observe_headers, remembered
from guarantees.lifecycle import changes, fold
from tests.guarantees.builders import at
from tests.guarantees.logs import ABORT, batch, marker, scan
from tests.guarantees.producers import FAULTS, Log


def watched(scans, memory=None):
    """The memory after the scans, one a round, and every change on the way."""
    memory, found = memory or HeaderMemory(), []
    for one in scans:
        memory, changed = observe_headers(memory, HeaderRound((one,), (), one.observed_at_ms))
        found += changed
    return memory, found


TWICE = [batch(n, value=n // 2, spans_ms=0) for n in range(6)]


def test_a_finding_grows_range_by_range_under_one_identity():
    memory, found = watched(scan(*TWICE[n : n + 2], second=n) for n in (0, 2, 4))

    assert len({finding.finding_id for finding in found}) == 1
    assert [finding.bounds.estimate for finding in found] == [1, 2, 3]
    assert next(iter(memory.findings.values())).bounds == Bounds(3, 3, 3, Unit.RECORDS)


def test_a_finding_settles_when_nothing_is_added_and_opens_again_with_what_it_had():
    quiet = scan(first=2, following=2, second=2 + SETTLED_AFTER_MS / 1000)
    memory, _ = watched([scan(*TWICE[:2], second=1)])
    same, none = watched([replace(quiet, observed_at_ms=at(1) + SETTLED_AFTER_MS)], memory)
    assert none == []
    memory, (closed,) = watched([quiet], same)
    assert closed.closed_reason == "settled: nothing further for 600 s"
    _, (again,) = watched([scan(*TWICE[2:4], second=700)], memory)

    assert (again.closed_reason, again.bounds.estimate) == (None, 2)


@pytest.mark.parametrize("restart", [1, 2, 3])
def test_a_restart_neither_opens_a_finding_twice_nor_counts_a_copy_twice(restart):
    scans = [scan(*TWICE[n : n + 2], second=n) for n in (0, 2, 4)]
    memory, found = watched(scans[:restart])
    histories = fold(changes({}, found, at(restart)))
    rounds = [HeaderRound((one,), (), one.observed_at_ms) for one in scans[:restart]]
    again, unwritten = remembered(rounds, [history.finding for history in histories.values()])
    _, later = watched(scans[restart:], again)
    histories = fold(changes(histories, later, at(9)), histories)

    assert (again, unwritten) == (memory, [])
    assert [history.finding.bounds.estimate for history in histories.values()] == [3]


def test_what_a_crash_kept_from_being_written_is_found_again():
    one = scan(*TWICE[:2], second=1)
    _, unwritten = remembered([HeaderRound((one,), (), one.observed_at_ms)], [])

    assert [finding.bounds.estimate for finding in unwritten] == [1]


def test_a_fencing_is_not_told_from_a_timeout_where_the_coordinators_answers_are_gone():
    log = scan(
        batch(0, pid=7, seq=0, tx=True), marker(1, ABORT, pid=7, epoch=1), batch(2, pid=7, epoch=2, seq=0, tx=True)
    )
    observed = HeaderRound((log,), (), at(0))

    assert len(observe_headers(HeaderMemory(), observed)[1]) == 1
    memory, unwritten = remembered([observed], [])
    assert (memory.findings, unwritten) == ({}, [])


def test_a_range_that_does_not_follow_begins_anew():
    memory, _ = watched([scan(batch(0, pid=9, seq=0)), scan(batch(5, pid=9, seq=5))])

    (trace,) = memory.partitions.values()
    assert (trace.first_offset, trace.next_offset) == (5, 6)


def test_what_is_remembered_of_a_producer_and_a_partition_is_bounded(monkeypatch):
    monkeypatch.setattr(header_traces, "KEPT_PRODUCERS", 3)
    memory, found = watched([scan(*(batch(n, pid=n, seq=0) for n in range(5))), scan(batch(5, pid=0, seq=9))])
    (trace,) = memory.partitions.values()

    assert (list(trace.producers), trace.has_forgotten, found) == ([3, 4, 0], True, [])
    memory, _ = watched([scan(*(batch(n, pid=1, seq=n) for n in range(9)))])
    (trace,) = memory.partitions.values()
    assert [one.base_offset for one in trace.producers[1].batches] == [4, 5, 6, 7, 8]


def steps(*without):
    names = sorted(set(Log.STEPS) - set(without))
    return st.lists(st.tuples(st.sampled_from(names), st.integers(0, 3)), max_size=25)


def without_times(memory):
    return {key: replace(one, happened_at_ms=0, last_seen_at_ms=0) for key, one in memory.findings.items()}


@settings(max_examples=150)
@given(steps(), st.lists(st.integers(0, 60), max_size=4))
def test_healthy_producers_give_no_finding_however_their_log_is_read(history, cuts):
    log = Log()
    log.run(history)

    _, found = watched(log.scans(cuts))

    assert found == []


@settings(max_examples=60)
@given(steps(), st.lists(st.integers(0, 60), max_size=4))
def test_the_same_is_found_in_one_range_and_in_many(history, cuts):
    log = Log()
    log.run([*history, *((fault, 0) for fault in FAULTS)])

    whole, pieces = watched(log.scans([]))[0], watched(log.scans(cuts))[0]

    assert without_times(whole) == without_times(pieces)
    assert len(whole.findings) >= len(FAULTS)


@settings(max_examples=25)
@pytest.mark.parametrize(("fault", "kind"), sorted(FAULTS.items()))
@given(before=steps("compact"), after=steps("compact"))
def test_each_injected_fault_is_found_in_any_healthy_log(fault, kind, before, after):
    log = Log()
    log.run([*before, (fault, 0), *after])

    memory, _ = watched(log.scans([len(log.batches) // 2]))

    assert [finding.kind for finding in memory.findings.values()] == [Kind(kind)]


def test_a_batch_that_comes_twice_in_one_range_is_one():
    same = batch(0, 3, pid=9, seq=0)
    _, found = watched([scan(same, same, batch(3, pid=9, seq=3))])

    assert found == []
