"""What a window that is over tells of the record jobs: what had ended by its end, and nothing of what came later."""

import json
from pathlib import Path

import pytest

from dashboard import queries, record_reading, traces
from dashboard.record_reading import Reading
from dashboard.view import format_time
from guarantees.cadence import IDLE_LOOKS_APART_MS
from guarantees.promises import Verdict
from store.metrics import METRICS_FILE, MetricsWriter
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit, words  # noqa: F401
from tests.dashboard.test_quiet_topics import emptied, tiles

MINUTE_MS = 60_000
NINE_MS = 1_764_061_200_000
END_MS = NINE_MS + 75 * MINUTE_MS  # 10:15, while the jobs were down from 09:00 to 11:05
AFTER_MS = NINE_MS + 125 * MINUTE_MS
LASTED = 4_000


def look(ended_ms, *unread, since_ms=None, lasted_ms=LASTED):
    name = f"live-{ended_ms}" if since_ms is None else f"live-idle-{since_ms}"
    return {"run_id": name, "job": "live", "state": "done", "started_at": ended_ms - lasted_ms, "ended_at": ended_ms,
            "idle_since": since_ms, "backlog": None if unread else 0, "unread": json.dumps(unread), "ranges": 0,
            "records": 0, "observed_at": ended_ms}  # fmt: skip


def store(folder: Path, *runs) -> None:
    with MetricsWriter(folder / METRICS_FILE) as writer, writer.transaction() as metrics:
        metrics.delete("job_runs", "true")
        metrics.replace("job_runs", list(runs))


@pytest.fixture
def reading(tmp_path):
    """How far a topic had been read at the end of a window."""

    def told(*runs, to_ms=END_MS):
        store(tmp_path, *runs)
        rows = queries.ask(tmp_path, to_ms - 15 * MINUTE_MS, to_ms, queries.LOOKS, {})
        return record_reading.reading(record_reading.looks(rows, "production"), "orders")

    return told


def verdict(known: Reading) -> Verdict:
    return record_reading.how_read(known, END_MS, traces.IDLE_PACE_MS).verdict


def test_a_look_after_the_window_whose_findings_are_not_in_it_tells_nothing_of_it(reading):
    known = reading(look(NINE_MS), look(AFTER_MS))

    assert known == Reading(NINE_MS - LASTED, NINE_MS, None)
    assert verdict(known) is Verdict.STALE
    assert reading(look(AFTER_MS)) == Reading(None, None, None)


def test_a_look_under_way_as_the_window_ended_tells_nothing_of_it_either(reading):
    long = look(AFTER_MS, lasted_ms=AFTER_MS - END_MS + MINUTE_MS)

    assert verdict(reading(look(NINE_MS), long)) is Verdict.STALE


def test_what_hindered_after_the_window_did_not_in_it(reading):
    refused = look(AFTER_MS, ["production", "orders", "not permitted: READ"])

    assert reading(look(END_MS - MINUTE_MS), refused) == Reading(END_MS - MINUTE_MS - LASTED, END_MS - MINUTE_MS, None)


def test_a_window_within_a_stretch_of_idle_looks_was_looked_at_until_just_before_its_end(reading):
    known = reading(look(AFTER_MS, since_ms=NINE_MS))

    assert known == Reading(END_MS - IDLE_LOOKS_APART_MS - LASTED, END_MS - IDLE_LOOKS_APART_MS, None)
    assert verdict(known) is Verdict.OK
    begun = reading(look(AFTER_MS, since_ms=END_MS - 10_000))
    assert begun.ended_at_ms == END_MS - 10_000, "nothing is known of before the first of them"


def test_a_window_between_two_stretches_of_idle_looks_was_looked_at_by_the_first_alone(reading):
    known = reading(look(NINE_MS, since_ms=NINE_MS - MINUTE_MS), look(AFTER_MS, since_ms=AFTER_MS - MINUTE_MS))

    assert known.ended_at_ms == NINE_MS
    assert verdict(known) is Verdict.STALE


def test_idle_looks_are_the_newest_runs_of_a_window_in_which_they_went_on(tmp_path):
    store(tmp_path, look(NINE_MS), look(AFTER_MS, since_ms=NINE_MS + MINUTE_MS))

    runs = queries.ask(tmp_path, END_MS - MINUTE_MS, END_MS, queries.JOB_RUNS, {})

    assert [row["ended_at_ms"] for row in runs] == [END_MS - IDLE_LOOKS_APART_MS, NINE_MS]
    assert traces.of_runs(runs, round_s=5.0) == (END_MS - IDLE_LOOKS_APART_MS, traces.JOB_PACE_MS)


@pytest.mark.parametrize("is_idle", [False, True])
def test_a_past_window_is_as_calm_as_it_was_and_green_by_no_later_look(visit, tmp_path, is_idle):  # noqa: F811
    settings = emptied(tmp_path, covered_days_ago=2)
    down_ms = now_ms() - 10 * MINUTE_MS
    store(tmp_path / "data", look(down_ms), look(now_ms() - 9_000, since_ms=down_ms + MINUTE_MS if is_idle else None))
    window = {"from": format_time(down_ms - MINUTE_MS), "to": format_time(now_ms() - 5 * MINUTE_MS)}

    then, now = visit(settings, "overview", **window), visit(settings, "overview")
    audit = visit(settings, "audit", **window).dataframe[0].value.set_index("Topic")["Verdict"]

    assert tiles(now)["Duplicates, 24 h"] == "0"
    assert tiles(then)["Duplicates, 24 h"] == ("0" if is_idle else "Unknown")
    assert ("✓ all ids compared" in words(then)) is is_idle
    assert ("the record jobs last wrote 5 min" in words(then)) is not is_idle
    assert ("✓ OK" in set(audit)) is is_idle


def test_jobs_that_find_nothing_to_read_and_say_so_once_a_minute_are_not_called_silent(visit, tmp_path):  # noqa: F811
    settings = emptied(tmp_path, covered_days_ago=2)
    store(tmp_path / "data", look(now_ms() - 50_000, since_ms=now_ms() - 10 * MINUTE_MS))

    (jobs,) = [line for line in words(visit(settings, "health")).splitlines() if "**jobs**" in line]
    assert jobs.startswith(":green-badge[✓ alive]")
