import random

import pytest

from guarantees.lag import consumer_lag
from guarantees.observations import CommittedOffset, PartitionOffsets
from guarantees.unknown import Unknown
from store.lag_minute import LAG_BY_MINUTE
from store.log import SegmentLog
from store.merging import GRACE_MS, merge
from store.minutes import roll_up as roll_up_samples
from store.reading import read
from store.rows import python_rows
from tests.store.builders import HOUR, MINUTE, SECOND, T0, commit_row, end_row, files

# Long after: every minute of the hour is due.
AFTER = T0 + 2 * HOUR


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h")
    yield opened
    opened.close()


def roll_up(data_dir, now_ms):
    return roll_up_samples(data_dir, LAG_BY_MINUTE, now_ms)


def append(log, commits, ends):
    log.append("committed_offsets", commits)
    log.append("partition_offsets", ends)


def rolled_up(data_dir):
    return python_rows("lag_minute", read(data_dir, "lag_minute").sort_by([("observed_at", "ascending")]))


def only_minute(data_dir, log, commit, end):
    append(log, [commit], [end] if end else [])
    roll_up(data_dir, AFTER)
    (row,) = rolled_up(data_dir)
    return row


def test_a_minute_has_the_lowest_highest_and_last_lag_of_its_samples(tmp_path, log):
    for tick, committed_offset in enumerate((95, 20, 60)):
        append(log, [commit_row(tick, T0 + tick, committed_offset=committed_offset)], [end_row(tick, T0 + tick + 1)])

    roll_up(tmp_path, AFTER)

    assert rolled_up(tmp_path) == [
        {
            "cluster_id": "c",
            "group_id": "g",
            "topic": "orders",
            "topic_id": "id",
            "partition": 0,
            "observed_at": T0,
            "lag_min": 5,
            "lag_max": 80,
            "lag_last": 40,
            "samples": 3,
            "unknown": 0,
            "unknown_reason": None,
        }
    ]


def test_what_retention_removed_is_not_lag(tmp_path, log):
    row = only_minute(tmp_path, log, commit_row(1, committed_offset=10), end_row(1, log_start_offset=70))

    assert row["lag_last"] == 30


@pytest.mark.parametrize(
    ("commit", "end", "reason"),
    [
        (commit_row(1, committed_offset=None, committed_offset_unknown="timed out"), end_row(1), "timed out"),
        (commit_row(1, committed_offset=None), end_row(1), "no commit"),
        (commit_row(1, is_pending=True), end_row(1), "a transactional commit awaits its marker"),
        (commit_row(1), None, "the offsets of the partition were not sampled in this round"),
        (commit_row(1), end_row(2), "the offsets of the partition were not sampled in this round"),
        (commit_row(1), end_row(1, high_watermark=None, high_watermark_unknown="no leader"), "no leader"),
        (commit_row(1), end_row(1, log_start_offset=None, log_start_offset_unknown="refused"), "refused"),
        (commit_row(1, committed_offset=101), end_row(1), "committed beyond the end of the log"),
        (commit_row(1, T0 + 9, committed_offset=101), end_row(1), "the commit was read after the high watermark"),
        (commit_row(1, topic_id="old"), end_row(1), "the commit belongs to an earlier topic of this name"),
    ],
)
def test_unknown_lag_is_counted_with_its_reason_and_is_no_number(tmp_path, log, commit, end, reason):
    row = only_minute(tmp_path, log, commit, end)

    assert (row["samples"], row["unknown"], row["unknown_reason"]) == (1, 1, reason)
    assert (row["lag_min"], row["lag_max"], row["lag_last"]) == (None, None, None)


def test_an_unknown_sample_among_known_ones_hides_neither(tmp_path, log):
    append(log, [commit_row(1), commit_row(2, T0 + 5, committed_offset=None)], [end_row(1), end_row(2, T0 + 5)])

    roll_up(tmp_path, AFTER)

    (row,) = rolled_up(tmp_path)
    assert (row["lag_last"], row["samples"], row["unknown"], row["unknown_reason"]) == (10, 2, 1, "no commit")


@pytest.mark.parametrize("seed", range(4))
def test_the_roll_up_says_what_the_rule_says(tmp_path, log, seed):
    choose = random.Random(seed)
    commits, ends, lags = [], [], []
    for partition in range(60):
        commit, end = random_sample(choose, partition)
        commits.append(commit)
        ends.append(end)
        lags.append(rule_says(commit, end))
    append(log, commits, ends)

    roll_up(tmp_path, AFTER)

    stored = sorted(rolled_up(tmp_path), key=lambda row: row["partition"])
    found = [Unknown(row["unknown_reason"]) if row["unknown"] else row["lag_last"] for row in stored]
    assert found == lags
    assert len({type(lag) for lag in lags}) == 2, "only known or only unknown lags prove little"


def random_sample(choose, partition):
    def offset(name):
        value = choose.choice([None, 0, 1, 2, 3, 3])
        return {name: value} if value is not None else {name: None, f"{name}_unknown": f"{name} failed"}

    commit = commit_row(1, T0 + choose.randrange(2), partition, **offset("committed_offset"))
    commit["is_pending"] = choose.random() < 0.1
    commit["topic_id"] = choose.choice(["id", "id", "id", "old", None])
    end = end_row(1, T0 + choose.randrange(2), partition, **offset("log_start_offset"), **offset("high_watermark"))
    return commit, end


def rule_says(commit, end):
    def known(row, name):
        return row[name] if row[name] is not None else Unknown(row[f"{name}_unknown"])

    committed = CommittedOffset(
        commit["topic_id"], known(commit, "committed_offset"), None, commit["is_pending"], commit["observed_at"]
    )
    offsets = PartitionOffsets(
        end["topic_id"],
        known(end, "log_start_offset"),
        Unknown("not asked"),
        known(end, "high_watermark"),
        Unknown("not asked"),
        None,
        end["observed_at"],
        end["observed_at"],
    )
    if not commit["is_pending"] and isinstance(committed.committed_offset, Unknown):
        return committed.committed_offset
    return consumer_lag(committed, offsets).lag_hw


def append_ticks(log, first, last, every_ms=20 * SECOND):
    for tick in range(first, last):
        append(log, [commit_row(tick, T0 + tick * every_ms)], [end_row(tick, T0 + tick * every_ms)])


def minutes(data_dir):
    return [((row["observed_at"] - T0) // MINUTE, row["samples"]) for row in rolled_up(data_dir)]


def test_a_minute_is_rolled_up_once_it_has_settled(tmp_path, log):
    append_ticks(log, 0, 6)

    assert roll_up(tmp_path, T0 + MINUTE + 29 * SECOND) == 0
    assert roll_up(tmp_path, T0 + MINUTE + 30 * SECOND) == 1
    assert roll_up(tmp_path, T0 + MINUTE + 31 * SECOND) == 0
    assert minutes(tmp_path) == [(0, 3)]


def test_minutes_missed_while_nobody_maintained_are_made_together(tmp_path, log):
    append_ticks(log, 0, 3)
    roll_up(tmp_path, T0 + 2 * MINUTE)
    append_ticks(log, 3, 12)

    assert roll_up(tmp_path, T0 + 5 * MINUTE) == 1
    assert minutes(tmp_path) == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_finished_hour_is_made_whole_and_not_again(tmp_path, log):
    append_ticks(log, 0, 6)
    roll_up(tmp_path, T0 + 5 * MINUTE)

    assert roll_up(tmp_path, T0 + HOUR + 2 * MINUTE) == 1
    assert roll_up(tmp_path, T0 + HOUR + 3 * MINUTE) == 0
    assert minutes(tmp_path) == [(0, 3), (1, 3)]
    assert len(files(tmp_path, "lag_minute")) == 2


def test_a_late_sample_makes_its_hour_be_rolled_up_again(tmp_path, log):
    append_ticks(log, 0, 6)
    roll_up(tmp_path, AFTER)
    append_ticks(log, 6, 7)

    assert roll_up(tmp_path, AFTER) == 1
    assert minutes(tmp_path) == [(0, 3), (1, 3), (2, 1)]


def test_merging_the_samples_does_not_make_it_again(tmp_path, log):
    append_ticks(log, 0, 6)
    roll_up(tmp_path, AFTER)
    newest_ms = max(path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")) // 1_000_000
    assert merge(tmp_path, newest_ms + HOUR) >= 2

    assert roll_up(tmp_path, newest_ms + HOUR) == 0
    assert minutes(tmp_path) == [(0, 3), (1, 3)]


def test_the_partner_of_an_hours_last_commit_is_found_in_the_next_hour(tmp_path, log):
    append(log, [commit_row(1, T0 + HOUR - 1)], [end_row(1, T0 + HOUR + 5)])

    roll_up(tmp_path, AFTER)

    (row,) = rolled_up(tmp_path)
    assert (row["observed_at"], row["lag_last"]) == (T0 + HOUR - MINUTE, 10)


def test_replaced_minutes_go_after_the_grace(tmp_path, log):
    append_ticks(log, 0, 3)
    roll_up(tmp_path, T0 + 2 * MINUTE)
    roll_up(tmp_path, AFTER)
    newest_ms = max(path.stat().st_ctime_ns for path in tmp_path.rglob("*.parquet")) // 1_000_000 + 1

    roll_up(tmp_path, newest_ms + GRACE_MS)

    first = T0 // MINUTE
    assert files(tmp_path, "lag_minute") == [f"rollup.2.{first}-{first + 59}.parquet"]


def test_a_re_created_topic_has_a_row_of_its_own(tmp_path, log):
    append(log, [commit_row(1), commit_row(2, topic_id="new")], [end_row(1), end_row(2, topic_id="new")])

    roll_up(tmp_path, AFTER)

    assert sorted(row["topic_id"] for row in rolled_up(tmp_path)) == ["id", "new"]
