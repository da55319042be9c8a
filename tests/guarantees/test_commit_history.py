"""Which commits are kept, and which one each follows."""

from hypothesis import given
from hypothesis import strategies as st

from guarantees.commit_history import NOT_READ, commit_events
from guarantees.internal_records import Committed, Logged, OffsetCommit
from guarantees.places import GroupPartition

HERE, THERE = GroupPartition("g", "orders", 0), GroupPartition("g", "orders", 1)
MINUTE_MS = 60_000


def commit(at_ms, offset, place=HERE, log_offset=None, **changes):
    committed = None if offset is None else Committed(offset, None, "", at_ms, **changes)
    return Logged(0, at_ms if log_offset is None else log_offset, at_ms, None, OffsetCommit(place, committed))


def told(events):
    return [
        (None if e.committed is None else e.committed.offset, getattr(e.before, "offset", e.before), e.commits)
        for e in events
    ]


def test_the_last_commit_of_a_second_stands_for_those_before_it():
    records = [commit(1_000, 5), commit(1_500, 9), commit(1_999, 12), commit(2_000, 20)]

    known, events = commit_events({}, records)

    assert told(events) == [(12, NOT_READ, 3), (20, 12, 1)]
    assert known[HERE].offset == 20


def test_a_commit_that_fell_is_kept_with_the_one_before_it():
    _, events = commit_events({}, [commit(1_000, 5), commit(1_100, 9), commit(1_200, 2), commit(1_300, 30)])

    assert told(events) == [(9, NOT_READ, 2), (2, 9, 1), (30, 2, 1)]
    assert [event.is_backward for event in events] == [False, True, False]


def test_a_deletion_is_kept_and_so_is_what_follows_it():
    _, events = commit_events({}, [commit(1_000, 5), commit(1_100, None), commit(1_200, 7)])

    assert told(events) == [(5, NOT_READ, 1), (None, 5, 1), (7, None, 1)]


def test_repetitions_are_kept_once_a_minute():
    _, events = commit_events({}, [commit(at, 5) for at in range(0, 2 * MINUTE_MS, 5_000)])

    assert [event.record.at_ms for event in events] == [0, MINUTE_MS]


def test_partitions_do_not_stand_for_one_another_and_stay_in_the_order_of_the_log():
    _, events = commit_events({}, [commit(1_000, 5), commit(1_001, 3, THERE), commit(1_002, 6)])

    assert [(event.place, event.record.offset) for event in events] == [(THERE, 1_001), (HERE, 1_002)]


def test_what_an_earlier_reading_knew_is_what_the_next_one_follows():
    known, _ = commit_events({}, [commit(1_000, 5)])

    _, events = commit_events(known, [commit(1_900, 4)])

    assert told(events) == [(4, 5, 1)]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), max_size=40))
def test_whatever_is_left_out_only_moved_forward(steps):
    at_ms, records = 0, []
    for number, (offset, pause) in enumerate(steps):
        at_ms += pause * 300
        records.append(commit(at_ms, offset, log_offset=number))

    _, events = commit_events({}, records)

    kept = {event.record.offset for event in events}
    fallen = {
        number for number in range(1, len(records))
        if records[number].content.committed.offset < records[number - 1].content.committed.offset
    }  # fmt: skip
    assert fallen <= kept
    assert not records or max(e.committed.offset for e in events) == max(r.content.committed.offset for r in records)
    for earlier, later in zip(events, events[1:], strict=False):
        assert later.before.offset == earlier.committed.offset
