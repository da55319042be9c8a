"""Rounds rolled up: what they say is what their samples say, and one that is not complete says nothing."""

import random

import pytest

from dashboard import queries
from store.contracts import TABLES
from store.folders import list_folder
from store.group_lag_round import MINUTES_AT_ONCE, due_minutes
from store.log import SegmentLog
from store.minutes import SETTLE_MS
from store.reading import read
from store.roll_ups import roll_up
from store.rows import python_rows
from store.segments import folder
from tests.store.builders import HOUR, MINUTE, SECOND, T0, commit_row, end_row, files

ROUND = 5 * SECOND
NEVER = {"committed_offset": None, "committed_offset_unknown": "no commit"}
TIMED_OUT = {"committed_offset": None, "committed_offset_unknown": "timed out"}


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h")
    yield opened
    opened.close()


def covered(tick, at, signal="committed_offsets", cluster="c"):
    return {"cluster_id": cluster, "tick": tick, "signal": signal, "observed_at": at, "asked": 1, "answered": 1}


def append(log, tick, at, *commits, ends=None):
    """A whole round: commits, the ends of their logs, and the coverage."""
    log.append("committed_offsets", [commit_row(tick, at, **commit) for commit in commits])
    log.append("partition_offsets", ends if ends is not None else [end_row(tick, at + 1)])
    log.append("rounds", [covered(tick, at)])


def rolled_up(data_dir, now_ms=T0 + 6 * MINUTE):
    while roll_up(data_dir, now_ms):
        pass
    rows = python_rows("group_lag_round", read(data_dir, "group_lag_round"))
    return sorted(rows, key=lambda row: (row["tick"], row["group_id"], row["topic"]))


def only(rows):
    (row,) = rows
    return row


def test_a_round_has_the_lag_of_each_group_and_topic(tmp_path, log):
    append(log, 1, T0, {"committed_offset": 95}, {"group_id": "h", "committed_offset": 20})

    assert rolled_up(tmp_path) == [
        {
            "cluster_id": "c", "tick": 1, "group_id": group, "topic": "orders", "observed_at": T0, "partitions": 1,
            "lag": lag, "without_commit": 0, "unknown": 0, "unknown_reason": None, "unread_for_ms": 0,
        }
        for group, lag in (("g", 5), ("h", 80))
    ]  # fmt: skip


def test_what_is_unknown_is_counted_with_a_reason_and_what_never_was_apart(tmp_path, log):
    ends = [end_row(1, T0 + 1, partition) for partition in range(3)]
    append(log, 1, T0, {"partition": 0}, {"partition": 1, **TIMED_OUT}, {"partition": 2, **NEVER}, ends=ends)

    row = only(rolled_up(tmp_path))

    assert (row["partitions"], row["lag"], row["without_commit"]) == (3, 10, 1)
    assert (row["unknown"], row["unknown_reason"]) == (1, "timed out")


def test_a_round_without_any_known_lag_has_none(tmp_path, log):
    append(log, 1, T0, TIMED_OUT)

    row = only(rolled_up(tmp_path))

    assert (row["lag"], row["unread_for_ms"]) == (None, None)


def test_a_round_whose_coverage_is_not_stored_says_nothing(tmp_path, log):
    log.append("committed_offsets", [commit_row(1)])
    log.append("partition_offsets", [end_row(1, T0 + 1)])
    log.append("rounds", [covered(1, T0, signal="end_offsets")])

    assert rolled_up(tmp_path) == []


def test_records_are_unread_since_the_first_sample_that_shows_them_also_in_earlier_minutes(tmp_path, log):
    for minute, end in enumerate((90, 91, 100, 100)):
        ends = [end_row(minute, T0 + minute * MINUTE, high_watermark=end)]
        append(log, minute, T0 + minute * MINUTE, {"committed_offset": 90}, ends=ends)

    assert [row["unread_for_ms"] for row in rolled_up(tmp_path)] == [0, 0, MINUTE, 2 * MINUTE]


def test_nothing_is_said_of_a_log_whose_end_has_fallen(tmp_path, log):
    for tick, end in enumerate((120, 100)):
        ends = [end_row(tick, T0 + tick * ROUND, high_watermark=end)]
        append(log, tick, T0 + tick * ROUND, {"committed_offset": 90}, ends=ends)

    assert [(row["lag"], row["unread_for_ms"]) for row in rolled_up(tmp_path)] == [(30, None), (10, None)]


def test_a_round_over_the_end_of_a_minute_or_an_hour_lies_where_its_commits_had_been_read(tmp_path, log):
    log.append("committed_offsets", [commit_row(1, T0 + HOUR - 1), commit_row(1, T0 + HOUR + 1, group_id="h")])
    log.append("partition_offsets", [end_row(1, T0 + HOUR + 2)])
    log.append("rounds", [covered(1, T0 + HOUR + 1)])

    rows = rolled_up(tmp_path, T0 + HOUR + 10 * MINUTE)

    assert [(row["group_id"], row["observed_at"], row["lag"]) for row in rows] == [
        ("g", T0 + HOUR + 1, 10),
        ("h", T0 + HOUR + 1, 10),
    ]


def test_clusters_are_kept_apart_also_where_they_have_the_ids_of_a_topic_in_common(tmp_path, log):
    for tick, end in enumerate((90, 200)):
        at = T0 + tick * ROUND
        append(log, tick, at, {})
        log.append("committed_offsets", [commit_row(tick, at, cluster_id="d")])
        log.append("partition_offsets", [end_row(tick, at + 1, cluster_id="d", high_watermark=end)])
        log.append("rounds", [covered(tick, at, cluster="d")])

    rows = [(row["cluster_id"], row["tick"], row["lag"], row["unread_for_ms"]) for row in rolled_up(tmp_path)]

    assert sorted(rows) == [("c", 0, 10, 0), ("c", 1, 10, ROUND), ("d", 0, 0, 0), ("d", 1, 110, 0)]


def test_the_last_minutes_of_an_hour_are_made_when_it_is_over(tmp_path, log):
    append(log, 1, T0 + HOUR - 1, {})

    assert only(rolled_up(tmp_path, T0 + HOUR + 10 * MINUTE))["observed_at"] == T0 + HOUR - 1


@pytest.mark.parametrize(
    ("after_ms", "minutes"),
    [(MINUTE, 0), (MINUTE + SETTLE_MS - 1, 0), (MINUTE + SETTLE_MS, 1), (3 * MINUTE, 2), (2 * HOUR, 60)],
)
def test_a_minute_is_due_once_it_is_over_and_settled(tmp_path, after_ms, minutes):
    nothing = list_folder(tmp_path)

    due = list(due_minutes(nothing, T0, T0 + after_ms))

    assert [name.first for name in due] == [T0 // MINUTE + number for number in range(minutes)]


def test_minutes_are_made_a_few_at_a_time_and_each_once(tmp_path, log):
    append(log, 1, T0, {})
    now_ms = T0 + (MINUTES_AT_ONCE + 2) * MINUTE + SETTLE_MS

    roll_up(tmp_path, now_ms)
    first = files(tmp_path, "group_lag_round")
    roll_up(tmp_path, now_ms)
    roll_up(tmp_path, now_ms)

    assert len(first) == MINUTES_AT_ONCE
    assert len(files(tmp_path, "group_lag_round")) == MINUTES_AT_ONCE + 2


def test_what_nobody_rolled_up_for_two_hours_stays_with_its_samples(tmp_path, log):
    append(log, 1, T0, {})

    assert rolled_up(tmp_path, T0 + 3 * HOUR) == []


def history(chance, log, *, falls=True):
    """Logs that grow, and one that falls; groups that follow, stand, fail or have no commit."""
    ends, commits, said = dict.fromkeys(range(4), 10), {}, []
    for tick in range(40):
        at = T0 + tick * ROUND + chance.randrange(ROUND // 2)
        rows = []
        for group in ("a", "b", "c"):
            for partition in ends:
                stands = commits.get((group, partition), 0)
                committed = commits[group, partition] = chance.choice([ends[partition], *[stands] * 11])
                told = chance.choice([{"committed_offset": committed}] * 9 + [NEVER, TIMED_OUT, {"is_pending": True}])
                rows.append(commit_row(tick, at, partition, group_id=group, **told))
        for partition in ends:
            ends[partition] = max(
                0, ends[partition] + chance.choice([0, 0, 5, 9, -6 if falls and partition == 3 else 1])
            )
        known = [end_row(tick, at + 1, one, high_watermark=end) for one, end in ends.items() if chance.random() < 0.9]
        log.append("committed_offsets", rows)
        log.append("partition_offsets", known)
        log.append("rounds", [covered(tick, at)])
        said.append((rows, known))
    return said


@pytest.mark.parametrize("seed", range(6))
def test_every_round_says_what_is_asked_of_its_samples(tmp_path, log, seed):
    history(random.Random(seed), log)
    rounds = {row["tick"]: row["observed_at"] for row in rolled_up(tmp_path)}

    assert len(rounds) == 40
    for at in rounds.values():
        window = at - 3 * ROUND, at + ROUND // 4
        rolled, raw = (
            queries.ask(tmp_path, *window, question, {"cluster_id": "c"})
            for question in (queries.GROUP_LAG_OF_ROUND, queries.GROUP_LAG)
        )
        assert [{**row, "unread_for_ms": None} for row in rolled] == [{**row, "unread_for_ms": None} for row in raw]


def waited(said, tick, group):
    """How long, by all samples up to the round, the oldest unread offset of the group's worst partition was there."""
    rows, ends = said[tick]
    now = {end["partition"]: end for end in ends}
    found = []
    for row in rows:
        place, committed = row["partition"], row["committed_offset"]
        if row["group_id"] != group or row["is_pending"] or committed is None or place not in now:
            continue
        if now[place]["high_watermark"] >= committed:
            above = [end["observed_at"] for _, earlier in said[: tick + 1] for end in earlier
                     if end["partition"] == place and end["high_watermark"] > committed]  # fmt: skip
            found.append(now[place]["observed_at"] - min(above) if above else 0)
    return max(found, default=None)


@pytest.mark.parametrize("seed", range(4))
def test_how_long_records_are_unread_is_never_too_much_and_a_minute_too_little_at_most(tmp_path, log, seed):
    said = history(random.Random(seed), log, falls=False)

    rows = rolled_up(tmp_path)

    assert len(rows) == 3 * len(said)
    for row in rows:
        true_ms, rolled_ms = waited(said, row["tick"], row["group_id"]), row["unread_for_ms"]
        assert (rolled_ms is None) is (true_ms is None)
        assert true_ms is None or true_ms - MINUTE <= rolled_ms <= true_ms
    assert max(row["unread_for_ms"] or 0 for row in rows) > MINUTE


def test_a_newest_round_that_was_not_rolled_up_is_not_answered_by_the_one_before(tmp_path, log):
    append(log, 1, T0, {})
    roll_up(tmp_path, T0 + 2 * MINUTE)
    append(log, 2, T0 + ROUND, {"committed_offset": 0})

    asked = tmp_path, T0 - MINUTE, T0 + MINUTE, queries.GROUP_LAG_OF_ROUND, {"cluster_id": "c"}

    assert queries.ask(*asked) == []
    assert python_rows("group_lag_round", read(tmp_path, "group_lag_round"))
    assert list_folder(tmp_path / folder(TABLES["group_lag_round"], T0)).live
