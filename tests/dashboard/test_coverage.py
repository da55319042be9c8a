"""What was last asked of a cluster: an attempt that reaches nobody hides no answer."""

import pytest

from dashboard import coverage, queries
from dashboard.view import View
from guarantees.cadence import SELDOM_ROUNDS
from guarantees.observations import Signal
from guarantees.promises import Verdict
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms

AT_MS = 1_764_000_000_000
REFUSED = {"answered": 0, "refused": 3, "failed": 0, "error": "not permitted"}
FAILED = {"asked": 1, "answered": 0, "refused": 0, "failed": 1, "error": "timed out"}


def asked(tick, signal, **columns):
    at = AT_MS + 5_000 * tick
    return {"cluster_id": "c", "cluster": "production", "tick": tick, "signal": signal, "started_at": at,
            "observed_at": at, "asked": 3, "answered": 3, "refused": 0, "failed": 0, "error": None,
            "interval_ms": 5_000} | columns  # fmt: skip


def last_asked(tmp_path, *rows):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    log.append("rounds", list(rows))
    log.close()
    found = queries.ask(tmp_path, AT_MS - 1, AT_MS + 100_000, coverage.ASKED_LAST, {"cluster_id": "c"})
    return {row["signal"]: row for row in found}


@pytest.mark.parametrize("signal", [Signal.CONFIGS, Signal.LOG_DIRS, Signal.RIGHTS, Signal.FEATURES])
def test_a_round_that_reaches_nobody_does_not_hide_what_was_refused_when_it_was_asked(tmp_path, signal):
    rows = last_asked(tmp_path, asked(1, signal, **REFUSED), asked(5, signal, **FAILED))
    assert (rows[signal]["refused"], rows[signal]["error"]) == (3, "not permitted")


def test_of_what_every_round_asks_the_newest_attempt_counts_beside_the_newest_answer(tmp_path):
    rows = last_asked(tmp_path, asked(1, Signal.GROUPS), asked(5, Signal.GROUPS, **FAILED))
    assert (rows["groups"]["failed"], rows["groups"]["answered_at_ms"]) == (1, AT_MS + 5_000)


def test_what_was_never_answered_in_these_rounds_is_as_old_as_its_last_answer_or_older_than_was_looked():
    rows = [{"signal": signal, "answered_at_ms": at} for signal, at in (("a", 90), ("b", None), ("c", None))]
    told = coverage.with_last_answers(rows, [{"signal": "b", "answered_at_ms": 20}], 2_000_000)

    assert [(row["answered_at_ms"], row["is_older"]) for row in told] == [(90, False), (20, False), (1_100_000, True)]


@pytest.mark.parametrize(
    ("rounds_ago", "verdict"), [(0, Verdict.OK), (SELDOM_ROUNDS, Verdict.OK), (SELDOM_ROUNDS + 2, Verdict.STALE)]
)
def test_what_is_asked_now_and_then_is_as_old_as_its_own_answer_and_stale_when_the_next_is_overdue(
    monkeypatch, tmp_path, rounds_ago, verdict
):
    settings, end_ms, step_ms = fixture_store.write_settings(tmp_path), now_ms(), fixture_store.STEP_MS
    fixture_store.append(tmp_path / "data", "rounds", [
        row
        for tick in range(30)
        for row in fixture_store.round_rows(tick, end_ms - (30 - tick) * step_ms)
        if row["signal"] != Signal.LOG_DIRS or tick == 29 - rounds_ago
    ])  # fmt: skip
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(settings))
    look = View("production", end_ms - 900_000, end_ms, False, 10, "")

    known = coverage.age_of_seldom(look, Signal.LOG_DIRS)

    assert known.observed_at_ms == coverage.age(look, ()).observed_at_ms - rounds_ago * step_ms
    assert known.verdict(known.observed_at_ms + rounds_ago * step_ms) is verdict
