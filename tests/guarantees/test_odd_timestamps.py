from dataclasses import replace

import pytest

from guarantees.findings import Grade
from guarantees.header_watch import HeaderMemory, HeaderRound, observe_headers
from guarantees.record_times import AHEAD_AT_MOST_MS, EARLIEST_MS, NoAge, record_age_ms
from guarantees.rules import odd_timestamps
from guarantees.unknown import Unknown
from tests.guarantees.builders import T0, at
from tests.guarantees.logs import COMMIT, batch, found_by, marker, scan


@pytest.mark.parametrize(
    ("timestamp_ms", "age"),
    [
        (-1, NoAge.ABSENT),
        (0, NoAge.NEAR_1970),
        (EARLIEST_MS - 1, NoAge.NEAR_1970),
        (EARLIEST_MS, T0 - EARLIEST_MS),
        (T0 - 1, 1),
        (T0, 0),
        (T0 + 1, 0),
        (T0 + AHEAD_AT_MOST_MS, 0),
        (T0 + AHEAD_AT_MOST_MS + 1, NoAge.FUTURE),
    ],
)
def test_an_age_is_known_or_says_why_it_is_not(timestamp_ms, age):
    assert record_age_ms(timestamp_ms, T0) == age


def stamped(timestamp_ms, offset=0):
    return replace(batch(offset), max_timestamp_ms=timestamp_ms)


def odd(*batches, **read):
    return found_by(odd_timestamps, [scan(*batches, **read)])


FUTURE = T0 + AHEAD_AT_MOST_MS + 1


def test_a_batch_from_the_future_keeps_its_segment():
    (found,) = odd(stamped(FUTURE))

    assert (found.severity, found.anchor, found.bounds) == (2, "future", None)
    assert (found.evidence["ahead_by_ms"], found.evidence["offset"]) == (AHEAD_AT_MOST_MS + 1, 0)
    assert "in the future by 3,600 s" in found.statements[0].text
    assert [one.grade for one in found.statements] == [Grade.PROVEN, Grade.PROBABLE]


def test_a_batch_from_near_1970_is_deleted_at_the_next_check():
    (found,) = odd(stamped(332_800_244))

    assert (found.severity, found.anchor, found.evidence["ahead_by_ms"]) == (3, "near_1970", None)
    assert "at the next check" in found.statements[1].text


def test_a_topic_that_is_only_compacted_deletes_nothing_by_time():
    (found,) = odd(stamped(FUTURE), policy="compact")
    (unknown,) = odd(stamped(FUTURE), policy=Unknown("not permitted"))

    assert [one.grade for one in found.statements] == [Grade.PROVEN, Grade.PROVEN]
    assert found.statements[0].text == unknown.statements[0].text
    assert found.statements[1].text == "The topic is not deleted by time."
    assert unknown.statements[1].grade is Grade.PROBABLE


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(batch(0), id="an ordinary time"),
        pytest.param(stamped(-1), id="no timestamp"),
        pytest.param(stamped(FUTURE - 1), id="a clock an hour ahead"),
        pytest.param(replace(stamped(FUTURE), is_log_append_time=True), id="stamped by the broker"),
        pytest.param(replace(marker(0, COMMIT, pid=9), max_timestamp_ms=FUTURE), id="a marker"),
        pytest.param(replace(stamped(FUTURE), records=0), id="emptied by compaction"),
    ],
)
def test_nothing_is_odd_about(one):
    assert not odd(one)


def rounds(*scans):
    memory, last = HeaderMemory(), {}
    for one in scans:
        memory, found = observe_headers(memory, HeaderRound((one,), (), one.observed_at_ms))
        last |= {finding.finding_id: finding for finding in found}
    return [finding for finding in last.values() if finding.kind == "odd_timestamps"]


def test_more_of_them_are_one_finding_that_counts_batches_and_the_two_classes_are_two():
    first, second = scan(stamped(FUTURE)), scan(stamped(FUTURE + 9_000, 1), stamped(5, 2), second=5)
    future, old = rounds(first, second)

    assert (future.evidence["batches"], future.evidence["offset"], future.evidence["last_offset"]) == (2, 0, 1)
    assert future.evidence["last_max_timestamp_ms"] == FUTURE + 9_000
    assert (future.title, future.statements) == (odd(stamped(FUTURE))[0].title, odd(stamped(FUTURE))[0].statements)
    assert (future.happened_at_ms, future.last_seen_at_ms) == (at(0), at(5))
    assert old.anchor == "near_1970"


def test_a_range_that_is_read_again_after_a_restart_counts_nothing_twice():
    first = scan(stamped(FUTURE))
    memory, (known,) = observe_headers(HeaderMemory(), HeaderRound((first,), (), at(0)))
    again = HeaderMemory(findings=memory.findings)
    after, _ = observe_headers(again, HeaderRound((first,), (), at(0)))

    assert after.findings[known.finding_id] == known
