"""Roll-ups of roll-ups: by hour, and by group. What they say must be what the raw samples say."""

import random

import pytest

from dashboard import lag_questions, queries
from store.log import SegmentLog
from store.merging import GRACE_MS
from store.publish import TEMPORARY
from store.reading import read
from store.roll_ups import RECREATED, roll_up
from store.rows import python_rows
from tests.store.builders import HOUR, MINUTE, SECOND, T0, commit_row, end_row, files

AFTER = T0 + 3 * HOUR
TIMED_OUT = {"committed_offset": None, "committed_offset_unknown": "timed out"}
NEVER = {"committed_offset": None, "committed_offset_unknown": "no commit"}


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h")
    yield opened
    opened.close()


def append(log, *commits):
    """Commits with the end of their partition at 100 in the same round."""
    log.append("committed_offsets", list(commits))
    ends = {(row["tick"], row["partition"], row["topic_id"]): row["observed_at"] for row in commits}
    log.append("partition_offsets", [
        end_row(tick, at, partition, topic_id=topic_id) for (tick, partition, topic_id), at in ends.items()
    ])  # fmt: skip


def rows(data_dir, table):
    return python_rows(table, read(data_dir, table).sort_by([("observed_at", "ascending")]))


def only(data_dir, table):
    (row,) = rows(data_dir, table)
    return row


def test_an_hour_has_the_lowest_highest_and_last_lag_of_its_minutes(tmp_path, log):
    for minute, committed in ((0, 95), (7, 20), (59, 60)):
        append(log, commit_row(minute, T0 + minute * MINUTE, committed_offset=committed))

    roll_up(tmp_path, AFTER)

    row = only(tmp_path, "lag_hour")
    assert (row["observed_at"], row["topic"], row["topic_id"], row["partition"]) == (T0, "orders", "id", 0)
    assert (row["lag_min"], row["lag_max"], row["lag_last"], row["samples"], row["unknown"]) == (5, 80, 40, 3, 0)


def test_an_hours_reason_is_the_last_one_and_no_commit_never_hides_another(tmp_path, log):
    append(log, commit_row(1, T0, **TIMED_OUT))
    append(log, commit_row(2, T0 + MINUTE, **NEVER))

    roll_up(tmp_path, AFTER)

    row = only(tmp_path, "lag_hour")
    assert (row["unknown"], row["unknown_reason"], row["lag_last"]) == (2, "timed out", None)


def test_a_minutes_reason_is_never_no_commit_where_there_is_another(tmp_path, log):
    append(log, commit_row(1, T0, **TIMED_OUT), commit_row(2, T0 + 5 * SECOND, **NEVER))

    roll_up(tmp_path, AFTER)

    assert only(tmp_path, "lag_minute")["unknown_reason"] == "timed out"


@pytest.mark.parametrize("table", ["group_lag_minute", "group_lag_hour"])
def test_a_groups_lag_is_the_sum_over_its_partitions(tmp_path, log, table):
    append(log, commit_row(1, T0, 0, committed_offset=95), commit_row(1, T0, 1, committed_offset=70))

    roll_up(tmp_path, AFTER)

    assert only(tmp_path, table) == {
        "cluster_id": "c",
        "group_id": "g",
        "topic": "orders",
        "observed_at": T0,
        "lag": 35,
        "lag_max": 30,
        "partitions": 2,
        "without_commit": 0,
        "unknown": 0,
        "unknown_reason": None,
    }


@pytest.mark.parametrize("table", ["group_lag_minute", "group_lag_hour"])
def test_a_partition_that_failed_withholds_the_sum(tmp_path, log, table):
    append(log, commit_row(1, T0, 0, committed_offset=95), commit_row(1, T0, 1, **TIMED_OUT))
    append(log, commit_row(2, T0 + 5 * SECOND, 0, committed_offset=95), commit_row(2, T0 + 5 * SECOND, 1))

    roll_up(tmp_path, AFTER)

    row = only(tmp_path, table)
    assert (row["lag"], row["unknown"], row["unknown_reason"], row["lag_max"]) == (None, 1, "timed out", 10)


@pytest.mark.parametrize("table", ["group_lag_minute", "group_lag_hour"])
def test_a_partition_without_a_commit_is_no_lag_and_withholds_nothing(tmp_path, log, table):
    append(log, commit_row(1, T0, 0, committed_offset=95), commit_row(1, T0, 1, **NEVER))

    roll_up(tmp_path, AFTER)

    row = only(tmp_path, table)
    assert (row["lag"], row["partitions"], row["without_commit"], row["unknown"]) == (5, 2, 1, 0)


def test_a_minute_in_which_a_topic_was_re_created_has_no_sum(tmp_path, log):
    append(log, commit_row(1, T0))
    append(log, commit_row(2, T0 + 5 * SECOND, topic_id="new"))

    roll_up(tmp_path, AFTER)

    row = only(tmp_path, "group_lag_minute")
    assert (row["lag"], row["partitions"], row["unknown_reason"]) == (None, 1, RECREATED)


def test_an_hour_of_a_group_has_its_last_minutes_lag_and_its_highest_peak(tmp_path, log):
    append(log, commit_row(1, T0, committed_offset=10))
    append(log, commit_row(2, T0 + 30 * MINUTE, committed_offset=98))

    roll_up(tmp_path, AFTER)

    row = only(tmp_path, "group_lag_hour")
    assert (row["lag"], row["lag_max"]) == (2, 90)


def test_a_minute_that_failed_withholds_the_sum_of_its_hour(tmp_path, log):
    append(log, commit_row(1, T0, **TIMED_OUT))
    append(log, commit_row(2, T0 + MINUTE))

    roll_up(tmp_path, AFTER)

    row = only(tmp_path, "group_lag_hour")
    assert (row["lag"], row["unknown"], row["unknown_reason"]) == (None, 1, "timed out")


def test_groups_are_rolled_up_by_the_minute_and_hours_once_they_are_over(tmp_path, log):
    append(log, commit_row(1, T0))

    roll_up(tmp_path, T0 + 2 * MINUTE)

    assert len(rows(tmp_path, "group_lag_minute")) == 1
    assert rows(tmp_path, "lag_hour") == rows(tmp_path, "group_lag_hour") == []


def test_making_them_again_changes_nothing(tmp_path, log):
    append(log, commit_row(1, T0))

    assert roll_up(tmp_path, AFTER) == 5
    assert roll_up(tmp_path, AFTER) == 0


@pytest.mark.parametrize("table", ["lag_hour", "group_lag_minute", "group_lag_hour"])
def test_a_late_sample_reaches_every_roll_up_of_its_hour(tmp_path, log, table):
    append(log, commit_row(1, T0, committed_offset=95))
    roll_up(tmp_path, AFTER)
    append(log, commit_row(2, T0 + 10 * SECOND, committed_offset=60))

    roll_up(tmp_path, AFTER)

    row = only(tmp_path, table)
    assert row["lag_last" if table == "lag_hour" else "lag"] == 40


def test_replaced_minutes_of_groups_go_after_the_grace(tmp_path, log):
    append(log, commit_row(1, T0))
    roll_up(tmp_path, T0 + 2 * MINUTE)
    roll_up(tmp_path, AFTER)
    assert len(files(tmp_path, "group_lag_minute")) == 2
    newest_ms = max(path.stat().st_ctime_ns for path in tmp_path.rglob("*.parquet")) // 1_000_000 + 1

    roll_up(tmp_path, newest_ms + GRACE_MS)

    first = T0 // MINUTE
    assert files(tmp_path, "group_lag_minute") == [f"rollup.2.{first}-{first + 59}.parquet"]
    assert not [path for path in (tmp_path / TEMPORARY).rglob("*") if path.is_file()]


@pytest.mark.parametrize("seed", range(3))
def test_the_trend_of_groups_is_the_trend_of_the_raw_samples(tmp_path, log, seed):
    append_at_random(log, random.Random(seed))
    roll_up(tmp_path, AFTER)

    raw, by_minute = (asked(tmp_path, question, MINUTE) for question in trend_questions())

    assert raw == by_minute
    assert {type(lag) for lag in raw.values()} == {int, type(None)}, "only known or only unknown sums prove little"


@pytest.mark.parametrize("seed", range(3))
def test_cells_by_the_hour_are_the_cells_of_the_raw_samples(tmp_path, log, seed):
    append_at_random(log, random.Random(seed))
    roll_up(tmp_path, AFTER)

    def cells(question):
        found = ask(tmp_path, question, HOUR, group_id="g1", topics=["orders"])
        return {
            (row["partition"], row["at_ms"]): (row["lag"], row["last"], bool(row["unknown_reason"])) for row in found
        }

    assert (
        cells(lag_questions.LAG_CELLS.raw)
        == cells(lag_questions.LAG_CELLS.by_minute)
        == cells(lag_questions.LAG_CELLS.by_hour)
    )


def append_at_random(log, choose):
    """Two hours of two groups on three partitions; commits fail, are missing, or lag by anything."""
    commits = []
    for tick in range(40):
        at = T0 + tick * 170 * SECOND
        for group in ("g1", "g2"):
            for partition in range(3):
                commit = choose.choice([TIMED_OUT, NEVER, *({"committed_offset": choose.randrange(100)},) * 12])
                commits.append(commit_row(tick, at, partition, group_id=group, **commit))
    append(log, *commits)


# No group has left a topic.
NOTHING_LEFT: dict[str, list[str]] = {"left_groups": [], "left_topics": []}


def trend_questions():
    return lag_questions.LAG_TREND.raw, lag_questions.LAG_TREND.by_minute


def ask(data_dir, question, step_ms, **about):
    return queries.ask(
        data_dir, T0, T0 + 2 * HOUR, question, {"cluster_id": "c", "step_ms": step_ms, **NOTHING_LEFT, **about}
    )


def asked(data_dir, question, step_ms):
    """Total lag by group and bucket; a bucket in which no partition has a commit is none."""
    return {(row["group_id"], row["at_ms"]): row["lag"] for row in ask(data_dir, question, step_ms)}
