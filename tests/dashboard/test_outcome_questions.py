"""Of which minutes all batch headers were read: what the page says of them, against what was read of a history."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard import outcome_questions, queries
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard.story_headers import SILENT_S, START_MS, Partition, at, tell

ALWAYS = tuple(range(0, 300, 3))  # written every three seconds


def seen(data_dir, minutes, step_ms=60_000):
    """The minutes that are said to be read, counted from the first."""
    since_ms = START_MS + (minutes - 1) * 60_000
    about = {"cluster_id": "c", "step_ms": step_ms, "since_ms": since_ms, "silent_ms": SILENT_S * 1_000}
    rows = queries.ask(data_dir, START_MS, at(minutes * 60), outcome_questions.BUCKETS_SEEN, about)
    return [(row["at_ms"] - START_MS) // 60_000 for row in rows]


def told(*partitions, minutes=5, away=(), step_ms=60_000):
    """The minutes said to be read; none of them may lack anything."""
    with tempfile.TemporaryDirectory() as folder:
        log = SegmentLog(Path(folder), producer_name("host", "collect"))
        unread = tell(log, Path(folder), minutes, partitions, away)
        log.close()
        said = seen(Path(folder), minutes, step_ms)
    assert not unread & {minute + more for minute in said for more in range(step_ms // 60_000)}
    return said


def seconds(*spans):
    return [second for start, end in spans for second in range(start, end)]


@pytest.mark.parametrize(
    ("partition", "said"),
    [
        # Nothing is missed.
        (Partition(ALWAYS), [0, 1, 2, 3, 4]),
        (Partition([7]), [0, 1, 2, 3, 4]),
        (Partition([]), [0, 1, 2, 3, 4]),
        # Refused, and read later.
        (Partition(ALWAYS, refused=seconds((70, 130))), [0, 1, 2, 3, 4]),
        # Refused to the end: nothing is known since the last sample of a minute whose log was read to its end.
        (Partition(ALWAYS, refused=seconds((122, 300))), [0]),
        (Partition([7, 150], refused=seconds((20, 300))), [0]),
        (Partition([7], refused=seconds((20, 300))), [0, 1, 2, 3, 4]),
        # Slow, and never done: what was written until 03:24 was read.
        (Partition([*[1] * 4, *ALWAYS[20:]], at_most=1), [0, 1]),
        # Slow from 01:01 on, then refused, which lasts.
        (Partition([*seconds((0, 50)), *[65] * 90], at_most=6, refused=seconds((130, 300))), []),
        (Partition([*seconds((0, 50)), *[125] * 90], at_most=6, refused=seconds((190, 300))), [0]),
        # Slow, and done at last.
        (Partition([61] * 60, at_most=2), [0, 1, 2, 3, 4]),
        # Retention took what was not read yet.
        (Partition([5, *[125] * 80, 250], at_most=2, purged={190: 70}), [0, 4]),
        # The log was cut, and grew again before anybody looked.
        (Partition([*[5] * 9, 131, 132], cut={130: 4}), [0, 1, 3, 4]),
        (Partition([*[5] * 9, 131, 132], cut={130: 4}, refused=seconds((100, 160))), [0, 1, 3, 4]),
        (Partition([*[5] * 9, 118, 119], cut={118: 4}), [0, 3, 4]),
        # What could not be read was cut.
        (Partition([7, 100], cut={130: 1}, refused=seconds((20, 300))), [3, 4]),
        # Out of reach: where the log ends is not known either.
        (Partition(ALWAYS, unreachable=seconds((122, 300))), [0]),
        (Partition(ALWAYS, unreachable=seconds((122, 200))), [0, 1, 2, 3, 4]),
    ],
)
def test_a_minute_is_seen_where_every_header_of_it_was_read_in_the_end(partition, said):
    assert told(partition) == said
    assert told(Partition(ALWAYS), partition) == said, "beside another partition"


def test_a_minute_in_which_nobody_looked_is_not_seen_whatever_was_read_of_it_later():
    assert told(Partition(ALWAYS), away=seconds((120, 180))) == [0, 1, 3, 4]


def test_what_was_written_between_the_last_round_and_the_end_of_the_window_is_not_read():
    assert told(Partition(ALWAYS), away=seconds((190, 300))) == [0, 1, 2]
    assert told(Partition([5]), away=seconds((190, 300))) == [0, 1, 2]
    assert told(Partition(ALWAYS), away=seconds((260, 300))) == [0, 1, 2, 3, 4], "a slow round is no silence"


def test_a_pause_after_which_reading_is_refused_leaves_the_time_since_the_last_round_unread():
    refused = Partition(ALWAYS, refused=seconds((200, 300)))

    assert told(refused, away=seconds((70, 200))) == [0]
    assert told(refused, away=seconds((70, 200)), step_ms=120_000) == []


def test_what_was_written_since_the_last_reading_makes_nothing_unread(tmp_path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    tell(log, tmp_path, 5, [Partition(ALWAYS)], ())
    log.append("partition_offsets", [{
        "cluster_id": "c", "topic": "t", "topic_id": "id-0", "partition": 0, "tick": 299, "broker": 1,
        "high_watermark": 1_000, "observed_at": at(299),
    }])  # fmt: skip
    log.close()

    assert seen(tmp_path, 5) == [0, 1, 2, 3, 4]


def test_a_minute_is_seen_where_a_round_of_end_offsets_of_the_cluster_was_answered(tmp_path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    log.append("rounds", [
        {"cluster_id": cluster, "cluster": "x", "tick": second, "signal": signal, "answered": answered, "asked": 1,
         "observed_at": at(second), "interval_ms": 5_000}
        for second, cluster, signal, answered in (
            (5, "c", "end_offsets", 1), (65, "c", "groups", 1), (70, "c", "end_offsets", 0),
            (150, "other", "end_offsets", 1), (239, "c", "end_offsets", 1),
        )
    ])  # fmt: skip
    log.append("header_ranges", [
        {"cluster_id": "other", "topic": "t", "topic_id": "id-0", "partition": 0, "first_offset": 0, "next_offset": 0,
         "problem": "TOPIC_AUTHORIZATION_FAILED", "observed_at": at(second)} for second in range(3, 240, 5)
    ])  # fmt: skip
    log.close()

    assert seen(tmp_path, 4) == [0, 3]


def test_an_empty_store_has_no_minute_and_no_outcome(tmp_path):
    assert seen(tmp_path, 5) == []
    assert queries.ask(tmp_path, 0, 1, outcome_questions.OUTCOMES, {"cluster_id": "c", "step_ms": 60_000}) == []


PARTITIONS = st.builds(
    Partition,
    written=st.lists(st.integers(0, 299), max_size=60).map(sorted),
    refused=st.tuples(st.integers(0, 300), st.integers(0, 300)).map(lambda ends: seconds((min(ends), max(ends)))),
    unreachable=st.tuples(st.integers(0, 300), st.integers(0, 60)).map(lambda span: seconds((span[0], sum(span)))),
    at_most=st.sampled_from([1, 3, 1_000_000]),
    purged=st.dictionaries(st.integers(0, 299), st.integers(0, 40), max_size=1),
)


@given(st.lists(PARTITIONS, min_size=1, max_size=2), st.tuples(st.integers(0, 299), st.integers(0, 120)))
@settings(max_examples=60, deadline=None)
def test_no_minute_is_ever_seen_of_which_a_header_was_not_read(partitions, pause):
    told(*partitions, away=seconds((pause[0], pause[0] + pause[1])))
