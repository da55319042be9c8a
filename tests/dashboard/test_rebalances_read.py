"""Causes by rebalances: looked for when the findings happened, in whatever window they are told, and no further."""

import json

import pytest

from cli.main import main
from dashboard import cause_answers, incident_answers, queries, rebalances_read
from dashboard.reports.making import Request, looks, make
from dashboard.view import View, format_time
from guarantees.findings import Finding, Grade, Kind, Place, Statement
from guarantees.lifecycle import Change, FindingEvent
from settings import load_settings
from store.findings import append_events
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store
from tests.dashboard.fixture_store import CLUSTER_ID, ORDERS
from tests.dashboard.report_store import STORY_MS
from tests.dashboard.test_pages import visit as visit
from tests.dashboard.test_pages import words

DAY_MS = 86_400_000
GROUP, PIPELINE = "order-service", "orders-to-payments"
LEFT_MS = STORY_MS - 3 * DAY_MS
VIEW = View("production", STORY_MS - 7 * DAY_MS, STORY_MS, True, None, "")
MONTH = Request("delivery", PIPELINE, STORY_MS - 31 * DAY_MS, STORY_MS)


def finding(kind, partition, after_s, *, at_ms=LEFT_MS):
    place, at_ms = Place(CLUSTER_ID, ORDERS.name, ORDERS.topic_id, partition, GROUP), at_ms + after_s * 1_000
    said = (Statement(Grade.PROVEN, "So it was."),)
    return Finding(kind, place, f"at {at_ms}", 2, f"{kind} on {partition}", said, None, {}, at_ms, at_ms, PIPELINE)


# One rebalance, three days before the windows end, explains both; nothing else joins them.
LOST, STALLED = finding(Kind.LOST_WRITE, 1, -30), finding(Kind.GROUP_STALLED, 2, 40)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A believable store, and what happened three days before it."""
    path = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", STORY_MS)
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(path))
    happened(tmp_path, LOST, STALLED)
    return tmp_path


def happened(folder, *findings):
    log = SegmentLog(folder / "data", producer_name("host-3", "collect"))
    append_events(log, [FindingEvent(Change.OPENED, one.happened_at_ms + 1_000, one) for one in findings])
    log.close()


def rebalanced(folder, at_ms=LEFT_MS):
    log = SegmentLog(folder / "data", producer_name("host-4", "collect"))
    moved = json.dumps([[ORDERS.name, number, "gone", "other"] for number in (1, 2)])
    log.append("rebalances", [{
        "cluster_id": CLUSTER_ID, "group_id": GROUP, "tick": 0, "changed_after": at_ms - 5_000, "observed_at": at_ms,
        "joined": "[]", "left": '["gone"]', "moved": moved, "cause": "1 member left", "group_epoch": None,
    }])  # fmt: skip
    log.close()


def looked(store, made_ms=STORY_MS):
    return next(looks(load_settings(store / "tidemark.toml"), MONTH, made_ms))


def links(causes, one):
    return [cause.link for cause in causes.get(one.finding_id, ())]


def expected(causes):
    return links(causes, LOST) == ["owner left after committing"] and links(causes, STALLED) == [
        "stands since a rebalance"
    ]


def together(incidents):
    return any({LOST.finding_id, STALLED.finding_id} <= {one.finding_id for one in i.findings} for i in incidents)


def test_a_report_of_a_month_tells_causes_of_days_before_its_end_and_keeps_their_incident_whole(store):
    rebalanced(store)

    assert expected(looked(store).causes)
    assert together(looked(store).incidents)
    assert looked(store).not_looked_for == []


def test_the_pages_tell_causes_of_days_before_the_end_of_their_window_and_keep_the_incident_whole(store):
    rebalanced(store)

    assert expected(cause_answers.causes(VIEW))
    assert expected(incident_answers.known(VIEW).causes)
    assert together(incident_answers.known(VIEW).incidents)


def test_the_commands_tell_causes_of_days_before(store, capsys):
    rebalanced(store)
    main(["findings", "--settings", str(store / "tidemark.toml"), "--format", "json"])

    causes = {one["id"]: [cause["link"] for cause in one["causes"]] for one in json.loads(capsys.readouterr().out)}
    assert causes[LOST.finding_id] == ["owner left after committing"]
    assert causes[STALLED.finding_id] == ["stands since a rebalance"]


def test_the_list_of_findings_says_of_what_no_rebalance_could_be_looked_for_any_more(store, capsys):
    def printed(*command):
        main([*command, "--settings", str(store / "tidemark.toml")])
        return capsys.readouterr().out

    lines = printed("findings").splitlines()
    (line,) = [line for line in lines if LOST.finding_id in line]
    assert "not observed; rebalances of then not kept" in line
    assert [line for line in lines if "not observed" in line and "not kept" not in line], "of later ones they are"
    missed = {one["id"]: one["rebalances_unknown"] for one in json.loads(printed("findings", "--format", "json"))}
    assert missed[LOST.finding_id].startswith("none was looked for before 2026-03-01 0")
    assert None in missed.values()


def test_a_rebalance_after_the_report_was_made_explains_nothing_in_it(store):
    rebalanced(store, LEFT_MS + 20_000)

    assert links(looked(store, LEFT_MS + 25_000).causes, LOST) == ["owner left after committing"]
    assert links(looked(store, LEFT_MS + 15_000).causes, LOST) == []


def test_a_rebalance_after_the_end_of_a_window_explains_nothing_on_its_pages(store):
    rebalanced(store, LEFT_MS + 20_000)

    seen = [len(cause_answers.rebalances(CLUSTER_ID, [LOST], LEFT_MS + at_ms)) for at_ms in (19_999, 20_000)]
    assert seen == [0, 1]


def test_a_cause_that_nobody_can_look_for_any_more_is_said_to_be_so(store):
    kept_from = "none was looked for before 2026-03-01 0"
    (missing,) = looked(store).not_looked_for
    told = make(load_settings(store / "tidemark.toml"), MONTH, STORY_MS)
    incident = incident_answers.of_finding(VIEW, LOST.finding_id)[0]

    assert missing.reason.startswith(f"whether a rebalance caused 2 findings: {kept_from}")
    assert any(kept_from in part.text for one in told.sections for part in one.parts if hasattr(part, "text"))
    assert any(kept_from in one.reason for one in incident_answers.story(VIEW, incident).not_seen)


def test_the_evidence_of_a_finding_says_since_when_a_rebalance_was_looked_for(visit, store):
    window = {"from": format_time(VIEW.from_ms), "to": format_time(VIEW.to_ms)}
    app = visit(store / "tidemark.toml", "violations", finding=LOST.finding_id, **window)

    said = words(app).replace("\\", "")
    assert "cause not observed; whether a rebalance caused 1 finding: none was looked for before" in said


def test_nothing_is_missed_where_rebalances_are_kept_of_when_it_happened(store):
    recent = finding(Kind.GROUP_STALLED, 2, -300, at_ms=STORY_MS)

    assert rebalances_read.not_looked_for(store / "data", [recent], {}) == []
    assert "2 findings" not in rebalances_read.not_looked_for(store / "data", [recent, LOST], {})[0].reason
    assert rebalances_read.not_looked_for(store / "empty", [recent], {})[0].reason.endswith("none is kept")


def test_no_rebalance_is_read_where_none_can_explain_a_finding(store, monkeypatch):
    monkeypatch.setattr(queries, "ask", lambda *asked: pytest.fail("it read the store"))
    rewind = finding(Kind.REWIND, 1, 0)

    assert rebalances_read.rebalances(store / "data", CLUSTER_ID, [rewind], STORY_MS) == []
    assert cause_answers.rebalances(CLUSTER_ID, [rewind], STORY_MS) == []
