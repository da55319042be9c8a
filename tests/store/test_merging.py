import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.contracts import TABLES
from store.folders import Listing, Segment, list_folder
from store.log import SegmentLog
from store.merging import GRACE_MS, due_runs, merge, unlink_covered
from store.reading import read, segments
from store.rows import python_rows
from store.segments import SegmentName
from store.types import arrow_schema
from tests.store.builders import (
    HOUR,
    MINUTE,
    SECOND,
    T0,
    commit_row,
    files,
    id_row,
    leader_row,
    round_row,
    set_committed,
)


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h")
    yield opened
    opened.close()


def committed(data_dir, table, time_ms):
    """Let the newest segment of the table have been committed then."""
    newest = max(segments(data_dir, table, None), key=lambda path: path.stat().st_ctime_ns)
    set_committed(newest, time_ms)


def ticks(data_dir):
    return sorted(read(data_dir, "rounds")["tick"].to_pylist())


def append_ticks(data_dir, log, ticks, every_ms=5 * SECOND):
    for tick in ticks:
        log.append("rounds", [round_row(tick, T0 + tick * every_ms)])
        committed(data_dir, "rounds", T0 + tick * every_ms)


def live_files(data_dir, table):
    return sorted(path.name for path in segments(data_dir, table, None))


def test_the_ticks_of_a_minute_become_one_file_when_it_is_over(tmp_path, log):
    append_ticks(tmp_path, log, range(14))
    assert merge(tmp_path, T0 + MINUTE - 1) == 0

    assert merge(tmp_path, T0 + MINUTE) == 1

    assert live_files(tmp_path, "rounds") == ["h.0.13-13.parquet", "h.0.14-14.parquet", "h.1.1-12.parquet"]
    assert ticks(tmp_path) == list(range(14))


def test_the_minutes_of_an_hour_become_one_file_when_it_is_over(tmp_path, log):
    append_ticks(tmp_path, log, range(12), every_ms=30 * SECOND)
    merge(tmp_path, T0 + HOUR - 1)
    assert live_files(tmp_path, "rounds") == [f"h.1.{n}-{n + 1}.parquet" for n in (1, 11, 3, 5, 7, 9)]

    merge(tmp_path, T0 + HOUR)

    assert live_files(tmp_path, "rounds") == ["h.2.1-12.parquet"]
    assert ticks(tmp_path) == list(range(12))


def test_merging_again_finds_nothing_to_do(tmp_path, log):
    append_ticks(tmp_path, log, range(24))
    merge(tmp_path, T0 + 2 * HOUR)

    assert merge(tmp_path, T0 + 2 * HOUR) == 0


def test_what_is_kept_for_good_becomes_one_file_a_day(tmp_path, log):
    for hour in range(8):
        log.append("part_events", [{"part": "up", "observed_at": T0 + hour * HOUR}])
        committed(tmp_path, "part_events", T0 + hour * HOUR)
    merge(tmp_path, T0 + 7 * HOUR)
    assert len(live_files(tmp_path, "part_events")) == 8

    merge(tmp_path, T0 + 8 * HOUR)

    assert live_files(tmp_path, "part_events") == ["h.3.1-8.parquet"]
    assert read(tmp_path, "part_events").num_rows == 8


def test_inputs_stay_for_the_grace_and_go_after_it(tmp_path, log):
    append_ticks(tmp_path, log, range(2), every_ms=SECOND)
    merge(tmp_path, T0 + MINUTE)
    (wide,) = segments(tmp_path, "rounds", None)
    published_ms = -(-wide.stat().st_ctime_ns // 1_000_000)

    merge(tmp_path, published_ms + GRACE_MS - 10)
    assert files(tmp_path, "rounds") == ["h.0.1-1.parquet", "h.0.2-2.parquet", "h.1.1-2.parquet"]

    merge(tmp_path, published_ms + GRACE_MS)
    assert files(tmp_path, "rounds") == ["h.1.1-2.parquet"]
    assert ticks(tmp_path) == [0, 1]


def test_producers_are_merged_apart(tmp_path, log):
    other = SegmentLog(tmp_path, "other")
    append_ticks(tmp_path, log, [0, 1])
    append_ticks(tmp_path, other, [2, 3])
    other.close()

    merge(tmp_path, T0 + MINUTE)

    assert live_files(tmp_path, "rounds") == ["h.1.1-2.parquet", "other.1.1-2.parquet"]
    assert ticks(tmp_path) == [0, 1, 2, 3]


def test_a_sample_that_comes_after_its_hour_was_merged_is_read_and_merged_apart(tmp_path, log):
    append_ticks(tmp_path, log, [0, 1])
    merge(tmp_path, T0 + HOUR)
    for tick in (2, 3):
        log.append("rounds", [round_row(tick)])
        committed(tmp_path, "rounds", T0 + 3 * HOUR)
    assert ticks(tmp_path) == [0, 1, 2, 3]

    merge(tmp_path, T0 + 4 * HOUR)

    assert live_files(tmp_path, "rounds") == ["h.1.1-2.parquet", "h.1.3-4.parquet"]
    assert ticks(tmp_path) == [0, 1, 2, 3]


def test_a_merged_file_is_sorted_by_key_in_the_contracts_types_and_keeps_the_newest_commit_time(tmp_path, log):
    log.append("rounds", [round_row(tick, T0, cluster) for tick in (3, 1) for cluster in "ba"])
    committed(tmp_path, "rounds", T0)
    log.append("rounds", [round_row(2, T0, "b")])
    committed(tmp_path, "rounds", T0 + 9)

    merge(tmp_path, T0 + MINUTE)

    (path,) = segments(tmp_path, "rounds", None)
    stored = pq.read_table(path)
    assert stored.schema.equals(arrow_schema(TABLES["rounds"]), check_metadata=True)
    keys = [(row["cluster_id"], row["tick"]) for row in stored.to_pylist()]
    assert keys == [("a", 1), ("a", 3), ("b", 1), ("b", 2), ("b", 3)]
    assert path.stat().st_mtime_ns == (T0 + 9) * 1_000_000


def test_in_a_minute_four_rounds_lie_together_by_key_and_in_an_hour_all_of_them(tmp_path, log):
    for tick in (5, 4, 3, 2):
        log.append(
            "committed_offsets", [commit_row(tick, partition=number, cluster_id=of) for number in (1, 0) for of in "ba"]
        )
        committed(tmp_path, "committed_offsets", T0)
    merge(tmp_path, T0 + MINUTE)

    assert stored_order(tmp_path, "a") == [(0, 2), (0, 3), (1, 2), (1, 3), (0, 4), (0, 5), (1, 4), (1, 5)]
    assert stored_order(tmp_path, "b") == stored_order(tmp_path, "a")

    log.append("committed_offsets", [commit_row(6)])
    committed(tmp_path, "committed_offsets", T0 + MINUTE)
    merge(tmp_path, T0 + HOUR)

    assert stored_order(tmp_path, "a") == [(0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (1, 3), (1, 4), (1, 5)]


def stored_order(data_dir, cluster_id):
    (path,) = segments(data_dir, "committed_offsets", None)
    rows = pq.read_table(path).to_pylist()
    return [(row["partition"], row["tick"]) for row in rows if row["cluster_id"] == cluster_id]


def test_who_asks_about_one_round_of_a_minute_need_not_open_all_its_row_groups(tmp_path, log, monkeypatch):
    monkeypatch.setattr("store.merging.ROW_GROUP_OF_ROUNDS", 2_048)
    for tick in range(6):
        log.append("committed_offsets", [commit_row(tick, T0 + tick, number) for number in range(1_024)])
        committed(tmp_path, "committed_offsets", T0)

    merge(tmp_path, T0 + MINUTE)

    (path,) = segments(tmp_path, "committed_offsets", None)
    metadata = pq.read_metadata(path)
    column = metadata.schema.names.index("tick")
    ticks = [metadata.row_group(number).column(column).statistics for number in range(metadata.num_row_groups)]
    assert [sum(told.min <= tick <= told.max for told in ticks) for tick in range(6)] == [2, 2, 2, 2, 1, 1]
    assert len(ticks) == 3


def test_of_an_interval_a_merged_file_keeps_the_newest_restatement(tmp_path, log):
    for at in (0, 5, 10):
        log.append("partition_state", [leader_row(1, T0, T0 + at, replicas=[1, 2]), leader_row(2, T0, T0 + at, 1)])
        committed(tmp_path, "partition_state", T0)
    before = python_rows("partition_state", read(tmp_path, "partition_state").sort_by("partition"))

    merge(tmp_path, T0 + MINUTE)

    (path,) = segments(tmp_path, "partition_state", None)
    merged = python_rows("partition_state", pq.read_table(path).sort_by("partition"))
    assert merged == before
    assert [row["last_seen_at"] for row in merged] == [T0 + 10, T0 + 10]


def append_range(data_dir, log, first, last, at=T0):
    rows = [id_row(offset, at) for offset in range(first, last + 1)]
    where = {"topic_id_hex": "0a", "partition": 0, "observed_at_ms": at}
    log.append_range("id_samples", rows, first=first, last=last, **where)
    committed(data_dir, "id_samples", at)


def test_ranges_are_merged_per_partition_but_for_the_newest(tmp_path, log):
    for first in (0, 10, 30, 40):
        append_range(tmp_path, log, first, first + 5)

    merge(tmp_path, T0 + MINUTE)

    assert live_files(tmp_path, "id_samples") == ["0a_0.0.40-45.parquet", "0a_0.1.0-35.parquet"]
    assert read(tmp_path, "id_samples").num_rows == 24


def test_a_range_the_ledger_never_saw_is_not_merged_before_it_is_read_again(tmp_path, log):
    append_range(tmp_path, log, 0, 9)
    append_range(tmp_path, log, 10, 15)
    append_range(tmp_path, log, 16, 19)
    log.close()
    merge(tmp_path, T0 + HOUR)

    log = SegmentLog(tmp_path, "h")
    append_range(tmp_path, log, 16, 17, T0 + HOUR)
    append_range(tmp_path, log, 18, 30, T0 + HOUR)
    merge(tmp_path, T0 + 3 * HOUR)
    log.close()

    assert sorted(read(tmp_path, "id_samples")["offset"].to_pylist()) == list(range(31))


def damage(data_dir, name, keep):
    """Cut the file's middle or its end, keeping its time."""
    path = next(path for path in segments(data_dir, "rounds", None) if path.name == name)
    content = path.read_bytes()
    path.write_bytes(keep(content))
    set_committed(path, T0)


def test_a_file_that_was_cut_off_is_left_out_and_the_others_are_merged(tmp_path, log):
    append_ticks(tmp_path, log, [0, 1, 2])
    damage(tmp_path, "h.0.2-2.parquet", lambda content: content[:-10])

    merge(tmp_path, T0 + MINUTE)

    assert live_files(tmp_path, "rounds") == ["h.1.1-3.parquet"]
    assert ticks(tmp_path) == [0, 2]
    assert "h.0.2-2.parquet" in files(tmp_path, "rounds"), "kept for whoever looks into it"


def test_an_input_that_cannot_be_read_leaves_its_run_unmerged_and_the_others_merged(tmp_path, log, caplog):
    other = SegmentLog(tmp_path, "other")
    append_ticks(tmp_path, log, [0, 1])
    append_ticks(tmp_path, other, [2, 3])
    other.close()
    damage(tmp_path, "h.0.1-1.parquet", lambda content: content[:40] + bytes(len(content) - 44) + content[-4:])

    merge(tmp_path, T0 + MINUTE)

    assert live_files(tmp_path, "rounds") == ["h.0.1-1.parquet", "h.0.2-2.parquet", "other.1.1-2.parquet"]
    assert "stays unmerged" in caplog.text
    assert list((tmp_path / ".tmp/maintain").iterdir()) == []


def segment(number, committed_ms, level=0, producer="h"):
    name = SegmentName(producer, level, number, number)
    return Segment(path=None, name=name, size_bytes=99, modified_ns=committed_ms * 1_000_000, published_ns=0)


def numbers(runs):
    return [[segment.name.first for segment in run] for run in runs]


def test_a_clock_that_went_back_does_not_let_a_merge_cover_what_is_not_in_it():
    live = (segment(1, 0), segment(2, MINUTE), segment(3, 5), segment(4, 6))

    assert numbers(due_runs(Listing(live, (), ()), 1, MINUTE, now_ms=10 * MINUTE)) == [[3, 4]]


def test_a_segment_alone_in_its_minute_is_left_for_the_hour():
    live = (segment(1, 0), segment(2, MINUTE))

    assert due_runs(Listing(live, (), ()), 1, MINUTE, now_ms=HOUR) == []
    assert numbers(due_runs(Listing(live, (), ()), 2, HOUR, now_ms=HOUR)) == [[1, 2]]


LATE = st.integers(0, 3 * HOUR)


@given(st.lists(st.tuples(st.integers(0, 1), LATE), max_size=12), LATE, st.integers(0, HOUR))
def test_minutes_and_an_hour_that_are_merged_side_by_side_share_no_segment(history, now_ms, later_ms):
    live = tuple(segment(number, at, level) for number, (level, at) in enumerate(history))

    of_hours = due_runs(Listing(live, (), ()), 2, HOUR, now_ms)
    of_minutes = due_runs(Listing(live, (), ()), 1, MINUTE, now_ms + later_ms, of_hours=False)

    assert not {s for run in of_hours for s in run} & {s for run in of_minutes for s in run}


def test_minutes_are_merged_until_their_hour_is_over():
    live = (segment(1, 0), segment(2, 5), segment(3, HOUR), segment(4, HOUR + 5))

    assert numbers(due_runs(Listing(live, (), ()), 1, MINUTE, now_ms=HOUR - 1, of_hours=False)) == [[1, 2]]
    assert numbers(due_runs(Listing(live, (), ()), 1, MINUTE, now_ms=HOUR + MINUTE, of_hours=False)) == [[3, 4]]


TIMES = st.integers(0, 3 * MINUTE)


@given(st.lists(st.tuples(st.integers(0, 2), TIMES), max_size=12), TIMES)
def test_a_run_is_made_of_neighbours_of_one_finished_period(history, now_ms):
    live = tuple(segment(number, at, level) for number, (level, at) in enumerate(history))

    for run in due_runs(Listing(live, (), ()), 2, MINUTE, now_ms):
        assert [s.name.first for s in run] == list(range(run[0].name.first, run[-1].name.first + 1))
        assert len({s.modified_ns // (MINUTE * 1_000_000) for s in run}) == 1
        assert all(s.name.level < 2 and s.modified_ns < now_ms * 1_000_000 for s in run)


def test_a_listing_of_a_folder_that_has_expired_is_empty(tmp_path):
    assert list_folder(tmp_path / "gone") == Listing((), (), ())
    assert unlink_covered(list_folder(tmp_path / "gone"), T0, 0) == 0
