"""`tidemark explain` over a store with known contents."""

import json
import shutil
import time
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import pytest

from cli.explain import find
from cli.explained import as_text
from cli.main import main
from guarantees.findings import Kind
from guarantees.incidents import Incident
from guarantees.observations import Signal
from settings import load_settings
from tests.dashboard import fixture_store
from tests.dashboard.test_quiet_topics import emptied
from tests.dashboard.test_rebalances_read import DAY_MS, PIPELINE, finding, happened
from tests.dashboard.test_silence import ask_on


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    return built(tmp_path_factory.mktemp("declared"), with_pipelines=True)


@pytest.fixture(scope="module")
def undeclared(tmp_path_factory):
    return built(tmp_path_factory.mktemp("undeclared"), with_pipelines=False)


def built(folder, *, with_pipelines):
    settings = fixture_store.write_settings(folder, with_pipelines=with_pipelines)
    fixture_store.build(folder / "data", time.time_ns() // 1_000_000, quiet_minutes=2)
    return settings


@pytest.fixture
def explain(capsys):
    """Lines of an explanation, without their indent."""

    def explained(settings, name, *options):
        assert main(["explain", name, "--settings", str(settings), *options]) == 0
        return capsys.readouterr().out

    return explained


def test_a_declared_pipeline_says_promise_verdict_grade_and_what_breaks_it(explain, declared):
    lines = [line.strip() for line in explain(declared, "orders-to-payments").splitlines()]

    assert lines[:2] == ["orders-to-payments: orders → order-service → payments", "promise: at least once (declared)"]
    assert "verdict over the last 24 h: violated (PROVEN)" in lines
    (lost,) = [number for number, line in enumerate(lines) if line.startswith("violated (PROVEN): 41 message ids")]
    assert lines[lost + 1].startswith("cause: Member order-service-1-9a1b left, seen at")
    assert any(line.startswith("breaks no promise, shown only (PROVEN): 128 records") for line in lines)


def test_a_verdict_says_how_many_rounds_it_rests_on_and_what_was_not_seen(explain, declared):
    found = json.loads(explain(declared, "orders-to-payments", "--format", "json"))

    assert found["rests_on"]["rounds_present"] in range(238, 245)
    assert 0 <= found["rests_on"]["rounds_expected"] - found["rests_on"]["rounds_present"] <= 1
    assert found["rests_on"]["longest_gap_s"] == 5.0
    assert any(why.startswith("nothing was observed in the window before") for why in found["unknowns"])


def test_requirements_are_met_missing_or_unknown_with_the_reason(explain, declared):
    needs = {
        r["name"]: r for r in json.loads(explain(declared, "orders-to-payments", "--format", "json"))["requirements"]
    }

    assert needs["copies of an acknowledged record of orders"]["seen"] == "min.insync.replicas 2, 3 replicas"
    assert needs["copies of an acknowledged record of orders"]["met"] is True
    assert needs["acks of the producers of orders"]["met"] is None
    assert needs["acks of the producers of orders"]["seen"] is None
    assert "not observable" in needs["acks of the producers of orders"]["seen_unknown"]
    assert needs["rights to see it"]["met"] is True, "what another group may not show is no gap of this pipeline"


def test_a_finding_of_a_time_of_which_no_rebalance_is_kept_says_so_and_a_later_one_does_not(explain, tmp_path):
    settings, now_ms = built(tmp_path, with_pipelines=True), time.time_ns() // 1_000_000
    old, new = (finding(Kind.GROUP_STALLED, 2, 0, at_ms=now_ms - ago_ms) for ago_ms in (3 * DAY_MS, 60_000))
    happened(tmp_path, old, replace(old, place=replace(old.place, partition=1)), new)

    lines = explain(settings, PIPELINE).splitlines()
    told = [(line, following) for line, following in pairwise(lines) if "(PROVEN): " in line]
    (of_old,) = [following for line, following in told if old.finding_id in line]
    (of_new,) = [following for line, following in told if new.finding_id in line]
    assert "cause not observed; whether a rebalance caused it: none was looked for before" in of_old
    assert of_new.strip() == "cause not observed"
    unknown = {one["id"]: one["rebalances_unknown"] for one in
               json.loads(explain(settings, PIPELINE, "--format", "json"))["open_findings"]}  # fmt: skip
    assert unknown[old.finding_id].startswith("none was looked for before")
    assert unknown[new.finding_id] is None
    told_of_both = [line for line in lines if "Cause not observed; whether a rebalance caused it: none was" in line]
    assert len(told_of_both) == 2
    assert all(line.endswith(".") for line in told_of_both)


def test_a_missing_right_of_the_pipeline_itself_is_missing(explain, declared):
    lines = explain(declared, "reports").splitlines()

    assert any("missing rights to see it" in line and "GROUP_AUTHORIZATION_FAILED" in line for line in lines)
    assert "verdict over the last 24 h: violated" not in lines


def test_incidents_of_the_day_are_told_from_their_first_cause(explain, declared):
    found = json.loads(explain(declared, "orders-to-payments", "--format", "json"))["incidents"]

    assert [(one["severity"], one["state"], len(one["findings"])) for one in found] == [
        (4, "open", 1),
        (3, "closed", 1),
        (3, "open", 1),
        (2, "open", 1),
    ]
    assert found[1]["to"] > found[1]["from"]
    assert found[1]["sentences"][0].endswith("Cause not observed.")


def test_a_proposed_pipeline_says_why_its_promise_is_inferred_and_what_could_not_be_seen(explain, undeclared):
    lines = [line.strip() for line in explain(undeclared, "invoice-writer:invoices").splitlines()]

    assert "promise: at least once (inferred)" in lines
    assert (
        "invoice-writer has commits on 3 of 3 partitions of invoices. [committed offsets; fits at least once]" in lines
    )
    assert "? The producers' acks are in no answer." in lines


@pytest.mark.parametrize(
    ("store", "known"),
    [
        ("declared", "known: invoices, orders-to-payments, reports"),
        ("undeclared", "audit-archiver:audit-log, invoice-writer:invoices, order-service:orders, reporting:orders"),
    ],
)
def test_an_unknown_name_is_a_mistake_that_lists_the_known_ones(capsys, request, store, known):
    settings = request.getfixturevalue(store)

    assert main(["explain", "nobody", "--settings", str(settings)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("tidemark: no pipeline is named 'nobody'; known: ")
    assert known in said
    assert "\u202e" not in said


def test_a_hostile_name_cannot_reorder_the_terminal(explain, undeclared):
    said = explain(undeclared, f"{fixture_store.HOSTILE}:{fixture_store.HOSTILE}")

    assert "\u202e" not in said
    assert "\\u202e" in said


def test_a_cluster_never_heard_is_unknown_and_never_kept(explain, tmp_path):
    settings = fixture_store.write_settings(tmp_path)
    found = json.loads(explain(settings, "orders-to-payments", "--format", "json"))

    assert (found["verdict"], found["unknowns"][0]) == ("unknown", "nothing was observed yet")
    assert not [r["name"] for r in found["requirements"] if r["met"] and r["name"] != "sink declared"]


def test_without_any_group_the_mistake_says_so(capsys, tmp_path):
    settings = fixture_store.write_settings(tmp_path, with_pipelines=False)

    assert main(["explain", "orders", "--settings", str(settings)]) == 2
    assert "no pipeline is configured and no group with a commit was seen" in capsys.readouterr().err


def test_an_incident_of_several_findings_is_told_sentence_by_sentence(declared):
    found = find(load_settings(declared), "orders-to-payments", time.time_ns() // 1_000_000)
    lost, duplicates = (one.finding for one in found.open_findings[:2])
    told = Incident("orders-to-payments", (lost, duplicates), ("first this.", "then that."))

    lines = [line.strip() for line in as_text(replace(found, incidents=(told,)))]
    start = lines.index("incidents of the last 24 h:")
    assert lines[start + 1] == f"open, severity 4: {lost.title}, and 1 more finding [{told.incident_id}]"
    assert lines[start + 2 : start + 4] == ["first this.", "then that."]
    assert "incidents of the last 24 h:" not in as_text(found), "a single finding has been told already"


NOT_SAMPLED = "duplicates: no message ids of invoices were sampled"


@pytest.mark.parametrize(
    ("covered_days_ago", "looked_ago_ms", "is_told"), [(2, 9_000, True), (None, 9_000, False), (2, 3_600_000, False)]
)
def test_a_topic_that_was_silent_while_watched_tells_of_copies_here_too(
    explain, tmp_path, covered_days_ago, looked_ago_ms, is_told
):
    settings = emptied(tmp_path, covered_days_ago=covered_days_ago, looked_ago_ms=looked_ago_ms)
    unknowns = json.loads(explain(settings, "invoices", "--format", "json"))["unknowns"]

    assert (NOT_SAMPLED not in unknowns) is is_told


def test_a_signal_that_failed_in_the_newest_rounds_is_as_old_as_its_last_answer(explain, tmp_path):
    settings = fixture_store.write_settings(tmp_path)
    now = time.time_ns() // 1_000_000
    fixture_store.build(tmp_path / "data", now, quiet_minutes=1)
    for path in (tmp_path / "data").rglob("rounds"):
        shutil.rmtree(path)
    ask_on(tmp_path, now - 600_000, set(), now - 60_000)
    ask_on(tmp_path, now - 60_000, {Signal.GROUPS, Signal.PARTITION_STATES})
    found = json.loads(explain(settings, "invoices", "--format", "json"))

    assert "nothing was observed yet" not in found["unknowns"]
    assert any(why.startswith("partition_states: 0 of 1 values answered") for why in found["unknowns"])
    age_ms = now - 1_000 * datetime.fromisoformat(found["rests_on"]["newest_evidence_at"]).timestamp()
    assert 55_000 <= age_ms <= 75_000, "the newest answer of the signal that every verdict needs"
