"""The lines of an incident where a part of them is unknown: a gap that says so, never the highest of the others."""

import numpy as np
import pytest

from dashboard import incident_notes, incident_places, incident_questions, incident_series, queries
from dashboard.incident_lanes import IncidentLanes
from dashboard.incident_series import IncidentLines
from dashboard.view import View
from guarantees.lag import NO_COMMIT
from store.log import SegmentLog
from store.maintenance import roll_up
from store.segments import producer_name

HOUR_MS = 3_600_000
AT_MS = 1_764_000_000_000 // HOUR_MS * HOUR_MS
REST = "highest of 2 others"
AWAY = "LEADER_NOT_AVAILABLE (5)"


@pytest.fixture
def log(tmp_path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    yield log
    log.close()


def commit(partition, tick, group_id="g", **columns):
    return {"cluster_id": "c", "tick": tick, "group_id": group_id, "topic": "t", "topic_id": "id",
            "partition": partition, "committed_offset": 4, "is_pending": False, "observed_at": AT_MS + tick * 1_000,
            "requested_at": AT_MS + tick * 1_000} | columns  # fmt: skip


def offsets(partition, tick, high_watermark=4):
    why = AWAY if high_watermark is None else None
    return {"cluster_id": "c", "tick": tick, "topic": "t", "topic_id": "id", "partition": partition,
            "broker": None if why else 1, "log_start_offset": 0,
            "high_watermark": high_watermark, "high_watermark_unknown": why,
            "last_stable_offset": high_watermark, "last_stable_offset_unknown": why,
            "log_start_observed_at": AT_MS + tick * 1_000, "observed_at": AT_MS + tick * 1_000 + 10}  # fmt: skip


def log_end(partition, tick):
    return {"cluster_id": "c", "tick": tick, "topic": "t", "topic_id": "id", "partition": partition, "replica": 1,
            "log_end_offset": 7, "observed_at": AT_MS + tick * 1_000 + 20}  # fmt: skip


def ask(data_dir, question, step_ms=1_000, groups=("g",)):
    touched = tuple(incident_places.TouchedPartition("t", "id", number) for number in range(5))
    places = incident_places.Places(touched, 5, groups)
    about = {"cluster_id": "c", "step_ms": step_ms} | incident_places.parameters(places)
    return queries.ask(data_dir, AT_MS, AT_MS + HOUR_MS, question, about)


def told(data_dir, question, step_ms=1_000, groups=("g",)):
    """Value and unknown of the line of the others, bucket by bucket."""
    return [(row["value"], row["unknown"]) for row in ask(data_dir, question, step_ms, groups) if row["line"] == REST]


def place(row):
    return row.get("group_id"), row["partition"], row["tick"]


def fill(log, *changed):
    """Two rounds of five partitions, all of lag 0, but for these rows of the tables."""
    rows = {"committed_offsets": [commit(each, tick) for each in range(5) for tick in (0, 1)],
            "partition_offsets": [offsets(each, tick) for each in range(5) for tick in (0, 1)]}  # fmt: skip
    for table, row in changed:
        rows[table] = [one for one in rows[table] if place(one) != place(row)] + [row]
    for table, its in rows.items():
        log.append(table, its)


def test_a_round_that_is_under_way_makes_no_gap(log, tmp_path):
    log.append("committed_offsets", [commit(each, tick) for each in range(5) for tick in (0, 1)])
    log.append("partition_offsets", [offsets(each, 0) for each in range(5)])

    assert told(tmp_path, incident_questions.LAG_LINES.raw) == [(0, 0), (None, 0)]


def test_the_lag_of_a_partition_whose_leader_is_away_is_unknown_in_the_line_of_the_others(log, tmp_path):
    fill(log, ("partition_offsets", offsets(4, 1, None)))

    assert told(tmp_path, incident_questions.LAG_LINES.raw) == [(0, 0), (0, 1)]


def test_a_partition_that_was_known_once_in_a_bucket_has_its_highest_value(log, tmp_path):
    fill(log, ("partition_offsets", offsets(4, 1, None)))

    assert told(tmp_path, incident_questions.LAG_LINES.raw, step_ms=2_000) == [(0, 0)]


def test_of_two_groups_of_a_partition_the_one_that_cannot_be_asked_is_unknown(log, tmp_path):
    silent = commit(4, 1, "h", committed_offset=None, committed_offset_unknown="no answer of the coordinator")
    fill(log, ("committed_offsets", silent))

    assert told(tmp_path, incident_questions.LAG_LINES.raw, groups=("g", "h")) == [(0, 0), (0, 1)]


def test_a_partition_without_a_commit_leaves_no_lag_open(log, tmp_path):
    fill(log, ("committed_offsets", commit(4, 1, committed_offset=None, committed_offset_unknown=NO_COMMIT.reason)))

    assert told(tmp_path, incident_questions.LAG_LINES.raw) == [(0, 0), (0, 0)]


@pytest.mark.parametrize("source", ["by_minute", "by_hour"])
def test_roll_ups_tell_the_same_of_what_is_unknown(log, tmp_path, source):
    never = commit(3, 0, committed_offset=None, committed_offset_unknown=NO_COMMIT.reason)
    away = [("partition_offsets", offsets(4, tick, None)) for tick in (0, 1)]
    fill(log, ("committed_offsets", never), ("committed_offsets", never | {"tick": 1}), *away)
    while roll_up(tmp_path, AT_MS + 3 * HOUR_MS):
        pass

    rows = ask(tmp_path, getattr(incident_questions.LAG_LINES, source), HOUR_MS)

    assert {row["line"]: (row["value"], row["unknown"]) for row in rows} == {
        "t-0": (0, 0), "t-1": (0, 0), "t-2": (0, 0), REST: (None, 1)
    }  # fmt: skip


def test_what_is_not_replicated_or_held_of_a_partition_whose_leader_is_away_is_unknown(log, tmp_path):
    fill(log, ("partition_offsets", offsets(4, 1, None)))
    log.append("replica_offsets", [log_end(each, tick) for each in range(5) for tick in (0, 1)])

    rows = [row for row in ask(tmp_path, incident_questions.OFFSET_LINES) if row["line"] == REST]

    assert [(row["not_replicated"], row["not_replicated_unknown"]) for row in rows] == [(3, 0), (3, 1)]
    assert [(row["held"], row["held_unknown"]) for row in rows] == [(0, 0), (0, 1)]


def test_of_a_round_under_way_a_log_end_that_nobody_told_yet_is_no_gap(log, tmp_path):
    fill(log)
    log.append("replica_offsets", [log_end(each, 0) for each in range(5)])

    rows = [row for row in ask(tmp_path, incident_questions.OFFSET_LINES) if row["line"] == REST]

    assert [(row["not_replicated"], row["not_replicated_unknown"]) for row in rows] == [(3, 0), (None, 0)]


def row(line, at_ms, value, unknown=0):
    return {"line": line, "at_ms": at_ms, "value": value, "unknown": unknown}


def lines(*rows):
    return incident_series.lines(rows, ("a", "b"), (0, 30_000), 10_000)


def test_a_bucket_of_which_a_part_is_unknown_is_a_gap_whatever_the_rest_shows():
    known = lines(row("a", 0, 5), row("a", 10_000, 0, unknown=1), row("a", 10_000, 7), row("b", 10_000, 3))

    assert np.array_equal(known.values["a"], [5, np.nan, np.nan], equal_nan=True)
    assert known.is_unknown["a"].tolist() == [False, True, False]
    assert known.values["b"][1] == 3


PART = lines(row("a", 0, 5), row("a", 10_000, 0, unknown=1))
WHOLE = lines(row("a", 0, 5), row("a", 10_000, 0))
NOTHING = lines(row("a", 10_000, None, unknown=2))


def drawn(lag, not_replicated=WHOLE, held=WHOLE):
    return IncidentLines(lag, not_replicated, held, (0, 30_000))


def test_the_table_names_what_is_unknown_at_a_moment():
    later, _ = incident_series.table_rows(drawn(PART))
    held, _ = incident_series.table_rows(drawn(PART, held=PART))

    assert (later["at_ms"], later["Lag"], later["Not replicated"], later["Unknown"]) == (10_000, None, 0, "Lag")
    assert held["Unknown"] == "Lag, Held by a transaction"


def test_the_table_has_no_word_of_unknown_where_all_is_known_or_a_plot_has_nothing_at_all():
    rows = [*incident_series.table_rows(drawn(WHOLE)), *incident_series.table_rows(drawn(NOTHING))]

    assert not any("Unknown" in one for one in rows)


@pytest.mark.parametrize(("lag", "is_said"), [(PART, True), (WHOLE, False), (NOTHING, False)])
def test_the_figure_says_why_a_line_has_gaps_where_it_has_such(lag, is_said):
    places, lanes = incident_places.Places((), 0, ()), IncidentLanes((), (), (), (), ())
    notes = incident_notes.of_figure(View("production", 0, 30_000, True, None, ""), places, drawn(lag), lanes, 0)

    assert (incident_notes.UNKNOWN in list(notes)) is is_said
