"""Answers made once for all sessions, and found by topic instead of by trying every pair: the same, only cheaper."""

import gc
import random
from dataclasses import replace

import pytest

from dashboard import answers, cached, known_findings, memory
from dashboard.concerns import ByReach, concerns
from dashboard.view import View
from guarantees.findings import Kind
from guarantees.lifecycle import Change, FindingEvent, FindingHistory
from guarantees.promises import Guarantee, Pipeline
from guarantees.verdicts import concerns as is_concerned
from store.findings import append_events
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A believable store, and its end."""
    settings, end_ms = fixture_store.write_settings(tmp_path), now_ms()
    fixture_store.build(tmp_path / "data", end_ms)
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(settings))
    return tmp_path / "data", end_ms


def look(end_ms, **changed):
    return View("production", end_ms - 900_000, end_ms, False, 10, "", **changed)


def counted(calls):
    def make(view):
        calls.append(view)
        return len(calls)

    return cached.shared(make)


def test_an_answer_is_made_once_for_all_who_look_at_the_same_moment(store):
    _, end_ms = store
    calls = []
    make = counted(calls)

    assert make(look(end_ms)) == make(look(end_ms, is_dark=True)) == make(replace(look(end_ms), refresh_s=None)) == 1
    assert len(calls) == 1


@pytest.mark.parametrize("changed", [{"search": "orders"}, {"to_ms": 1}, {"from_ms": 1}, {"cluster": "staging"}])
def test_another_look_is_another_answer(store, changed):
    _, end_ms = store
    calls = []
    make = counted(calls)
    make(look(end_ms))

    make(replace(look(end_ms), **changed))

    assert len(calls) == 2


def test_other_settings_are_another_answer(store, monkeypatch, tmp_path):
    _, end_ms = store
    calls = []
    make = counted(calls)
    make(look(end_ms))
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(fixture_store.write_settings(other)))

    make(look(end_ms))

    assert len(calls) == 2


def test_an_event_is_seen_as_soon_as_it_is_stored(store):
    data_dir, end_ms = store
    before = known_findings.findings(look(end_ms))
    new = replace(fixture_store.lost(end_ms), anchor="another")
    log = SegmentLog(data_dir, producer_name("host-2", "collect"))
    append_events(log, [FindingEvent(Change.OPENED, end_ms - 1, new)])
    log.close()

    after = known_findings.findings(look(end_ms))

    assert set(after) - set(before) == {new.finding_id}


def test_what_was_written_after_the_window_is_not_known_in_it(store):
    _, end_ms = store

    known = known_findings.findings(replace(look(end_ms), to_ms=end_ms - 8 * 60_000))

    assert known
    assert all(history.updated_at_ms <= end_ms - 8 * 60_000 for history in known.values())


def test_the_standings_are_those_of_all_declared_pipelines(store):
    _, end_ms = store

    assert {one.pipeline.name for one in answers.standings(look(end_ms))} == {
        "orders-to-payments",
        "invoices",
        "reports",
    }


@pytest.mark.parametrize("seed", range(3))
def test_findings_by_reach_are_all_that_concern_a_pipeline(seed):
    choose = random.Random(seed)
    topics, groups = [*"abc", None], [*"xy", None]
    findings = [
        replace(
            fixture_store.lost(now_ms()),
            kind=choose.choice(list(Kind)),
            anchor=str(number),
            place=replace(fixture_store.lost(0).place, topic=choose.choice(topics), group_id=choose.choice(groups)),
        )
        for number in range(200)
    ]
    pipelines = [
        Pipeline(f"{source}{group}{sink}", source, group, sink, Guarantee.EXACTLY_ONCE)
        for source in "abc" for group in "xy" for sink in ("a", "b", None)
    ]  # fmt: skip
    expected = {(one.name, known.finding_id) for one in pipelines for known in findings if is_concerned(one, known)}

    by_reach = ByReach(findings)
    near = {
        (one.name, known.finding_id) for one in pipelines for known in by_reach.near(one) if is_concerned(one, known)
    }
    touched = concerns([FindingHistory(known, 0, 0) for known in findings], pipelines)

    assert near == {(one.name, known.finding.finding_id) for known in touched for one, _ in known.broken} == expected
    assert expected
    assert all(len(set(map(id, by_reach.near(one)))) == len(by_reach.near(one)) for one in pipelines)


def test_a_search_changes_which_pipelines_are_shown_and_not_what_a_finding_means(store, monkeypatch):
    data_dir, end_ms = store
    undeclared = fixture_store.write_settings(data_dir.parent, with_pipelines=False)
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(undeclared))
    everything, nothing = look(end_ms), replace(look(end_ms), search="no pipeline is called so")

    def meant(view):
        return {one.finding.finding_id: one.verdict for one in answers.found(view)}

    assert any(meant(everything).values())
    assert meant(nothing) == meant(everything)
    assert answers.standings(everything)
    assert answers.standings(nothing) == []


def test_answers_that_are_kept_are_searched_for_garbage_only_after_many_searches_of_younger_ones():
    memory.settle()

    assert gc.isenabled()
    assert gc.get_threshold()[2] == memory.SEARCHES_BEFORE_ALL
