"""Pipelines on the overview: rows, filter, the selected one, and what broke when."""

import json
from dataclasses import replace

import pytest

from dashboard import pipeline_rows, standing
from dashboard.charts import small_strip
from dashboard.charts.findings import strip
from dashboard.shapes import Mark
from dashboard.view import View
from guarantees.findings import Bounds, Unit
from guarantees.promises import Guarantee, Pipeline, Verdict
from guarantees.verdicts import PipelineVerdict
from tests.dashboard import fixture_store
from tests.dashboard.fixture_store import HOSTILE
from tests.dashboard.test_figures import SIGHT
from tests.dashboard.test_pages import UNESCAPED, cells, stale, undeclared, visit, words  # noqa: F401

END_MS = 1_764_000_000_000
VIEW = View("production", END_MS - 900_000, END_MS, False, 10, "")
ORDERS = Pipeline("orders-to-payments", "orders", "order-service", "payments", Guarantee.AT_LEAST_ONCE)
COMPARED = [{"pipeline": "orders-to-payments", "upper": 3}]
SAMPLED = [{"topic": "orders", "rate": 1.0}, {"topic": "payments", "rate": 1.0}]
LOST, DUPLICATES = fixture_store.lost(END_MS), fixture_store.duplicates(END_MS)


def stands(verdict, pipeline=ORDERS):
    judged = PipelineVerdict(pipeline, verdict, (), (), False, SIGHT)
    return standing.standing(judged, [], {})


@pytest.mark.parametrize(
    ("findings", "compared", "said"),
    [
        ([LOST], COMPARED, "41 (38 to 44)"),
        ([LOST, replace(LOST, bounds=Bounds(2, 2, 2, Unit.MESSAGE_IDS))], COMPARED, "43 (40 to 46)"),
        ([replace(LOST, bounds=Bounds(2, None, None, Unit.MESSAGE_IDS))], COMPARED, "at least 2"),
        ([], COMPARED, "at most 3"),
        ([], [{"pipeline": "orders-to-payments", "upper": 0}], "0"),
        ([], [], "unknown: not compared"),
        ([replace(LOST, pipeline="another")], [], "unknown: not compared"),
        ([replace(LOST, last_seen_at_ms=VIEW.from_ms - 1)], COMPARED, "at most 3"),
        ([replace(LOST, happened_at_ms=VIEW.to_ms + 1)], COMPARED, "at most 3"),
        ([replace(LOST, evidence={"decided_at_ms": VIEW.from_ms - 1})], COMPARED, "at most 3"),
        ([DUPLICATES], COMPARED, "at most 3"),
    ],
)
def test_losses_in_the_window_are_an_interval_or_unknown(findings, compared, said):
    assert pipeline_rows.lost(ORDERS, findings, compared, VIEW) == said


def test_without_a_sink_losses_are_unknown():
    assert pipeline_rows.lost(replace(ORDERS, sink=None), [], COMPARED[:0], VIEW) == "unknown: no sink"


@pytest.mark.parametrize(
    ("findings", "sampled", "said"),
    [
        ([DUPLICATES], SAMPLED, "128"),
        ([], SAMPLED, "0"),
        ([], [SAMPLED[0], {"topic": "payments", "rate": 0.1}], "at most 37"),
        ([], SAMPLED[:1], "unknown: payments not sampled"),
        ([DUPLICATES], [], "128"),
        ([replace(DUPLICATES, last_seen_at_ms=VIEW.from_ms - 1)], SAMPLED, "0"),
        ([replace(DUPLICATES, place=replace(DUPLICATES.place, topic="another"))], SAMPLED, "0"),
        ([LOST], SAMPLED, "0"),
    ],
)
def test_duplicates_in_the_window_are_a_count_an_upper_end_or_unknown(findings, sampled, said):
    assert pipeline_rows.duplicated(ORDERS, findings, sampled, VIEW) == said


def test_a_topic_of_which_a_part_was_never_compared_is_not_called_unsampled():
    missed = {"payments": "7 offsets of payments in no range read"}

    assert pipeline_rows.lost(ORDERS, [], [], VIEW, missed) == "unknown: not all compared"
    assert pipeline_rows.duplicated(ORDERS, [], SAMPLED[:1], VIEW, missed) == "unknown: payments not all compared"
    assert pipeline_rows.lost(replace(ORDERS, sink=None), [], [], VIEW, missed) == "unknown: no sink"


def test_lag_in_time_is_that_of_the_group_on_the_source():
    ages = {("order-service", "orders"): 61_999, ("order-service", "another"): 5}

    assert pipeline_rows.row(stands(Verdict.OK), [], [], [], ages, VIEW)["Behind"] == 61
    assert pipeline_rows.row(stands(Verdict.OK), [], [], [], {}, VIEW)["Behind"] is None


def test_every_verdict_is_counted_and_the_worst_comes_first():
    counts = pipeline_rows.counts([stands(Verdict.OK), stands(Verdict.OK), stands(Verdict.VIOLATED)])

    assert list(counts.items())[0] == (Verdict.VIOLATED, 1)
    assert counts[Verdict.OK] == 2
    assert set(counts) == set(Verdict)


def marks(*pairs):
    return [Mark(lane, END_MS - 1_000, HOSTILE, verdict) for lane, verdict in pairs]


def test_the_small_strip_keeps_the_worst_kinds_and_tells_verdicts_by_shape_and_colour():
    many = marks(*((f"kind {number}", None) for number in range(9)), ("z", Verdict.VIOLATED), ("y", Verdict.DEGRADED))

    option = small_strip.small_strip(many, VIEW)

    assert option["yAxis"]["data"][:2] == ["z", "y"]
    assert len(option["yAxis"]["data"]) == small_strip.LANES
    looks = {(one["symbol"], one["itemStyle"]["color"]) for one in option["series"]}
    assert len({symbol for symbol, _ in looks}) == len({colour for _, colour in looks}) == 3
    assert sum(len(one["data"]) for one in option["series"]) == small_strip.LANES
    assert HOSTILE not in json.dumps(option), "titles are not drawn"


def test_what_was_before_the_window_points_out_of_the_small_strip_in_the_colour_of_its_verdict():
    early = [Mark("kind", VIEW.from_ms - 1, "x", verdict) for verdict in (Verdict.VIOLATED, Verdict.DEGRADED, None)]

    option = small_strip.small_strip([*early, Mark("kind", VIEW.from_ms, "y", Verdict.VIOLATED)], VIEW)

    (violated, inside), (degraded,), (information,) = [one["data"] for one in option["series"]]
    assert inside == [VIEW.from_ms, "kind"]
    assert {(one["value"][0], one["symbolRotate"]) for one in (violated, degraded, information)} == {(VIEW.from_ms, 90)}
    assert len({one["symbol"] for one in (violated, degraded, information)}) == 3
    assert len({one["itemStyle"]["color"] for one in option["series"]}) == 3


def test_what_was_before_the_window_is_one_mark_a_kind_and_verdict_on_the_small_strip():
    marks = [Mark(lane, VIEW.from_ms - ago, "x", Verdict.VIOLATED) for lane in ("a", "b") for ago in (5, 60_000, 1)]
    inside = [Mark("a", VIEW.from_ms + 9, "x", Verdict.VIOLATED)] * 2

    (series,) = small_strip.small_strip([*marks, *inside], VIEW)["series"]

    assert [one["value"][1] for one in series["data"] if isinstance(one, dict)] == ["a", "b"]
    assert len(series["data"]) == 4


def test_no_two_verdicts_share_a_shape_on_the_small_strip():
    assert set(small_strip.SYMBOLS) == {*Verdict, None}
    assert len(set(small_strip.SYMBOLS.values())) == len(small_strip.SYMBOLS)


@pytest.mark.parametrize(
    ("verdict", "plotly", "echarts"),
    [(Verdict.VIOLATED, "x", "path://M0,2"), (Verdict.DEGRADED, "triangle-up", "triangle"), (None, "line-ns", "rect")],
)
def test_a_verdict_has_one_shape_on_the_small_strip_and_on_the_strip_of_all_findings(verdict, plotly, echarts):
    (mark,) = marks(("kind", verdict))

    assert strip([mark], VIEW).data[0].marker.symbol.removesuffix("-open") == plotly
    assert small_strip.small_strip([mark], VIEW)["series"][0]["symbol"].startswith(echarts)


def test_the_small_strip_says_that_its_times_are_utc_and_writes_days_as_iso():
    axis = small_strip.small_strip(marks(("kind", None)), VIEW)["xAxis"]

    assert (axis["name"], axis["axisLabel"]["formatter"]["day"]) == ("UTC", "{yyyy}-{MM}-{dd}")
    assert axis["axisLabel"]["formatter"]["minute"] == "{HH}:{mm}"


def pipelines(app):
    return app.dataframe[0].value.set_index("Pipeline")


def test_the_overview_gives_each_pipeline_lag_in_offsets_and_time_and_what_it_lost(visit, believable):  # noqa: F811
    table = pipelines(visit(believable, "overview"))

    orders = table.loc["orders-to-payments"]
    assert orders["Lost"] == "41 (38 to 44)"
    assert orders["Duplicated"] == "128"
    assert orders["Behind"] in (15, 20)
    assert table.loc["invoices", "Lost"] == "unknown: no sink"
    assert table.loc["invoices", "Duplicated"] == "at most 237"
    assert table["Behind"].isna()["reports"]


def test_pipelines_are_filtered_by_verdict_and_their_counts_stay(visit, believable):  # noqa: F811
    app = visit(believable, "overview", verdict="violated")

    assert list(pipelines(app).index) == ["orders-to-payments"]
    choice = next(one for one in app.segmented_control if one.key.startswith("verdict-choice"))
    assert choice.options[:2] == ["✕ Violated 1", "▲ Degraded 1"]


def test_a_verdict_that_no_pipeline_has_is_said(visit, believable):  # noqa: F811
    app = visit(believable, "overview", verdict="ok")

    assert "No pipeline has this verdict." in words(app)


def test_choosing_a_verdict_writes_the_link(visit, believable):  # noqa: F811
    app = visit(believable, "overview")
    choice = next(one for one in app.segmented_control if one.key.startswith("verdict-choice"))

    choice.set_value("degraded").run()

    assert app.query_params["verdict"] == "degraded"
    assert list(pipelines(app).index) == ["invoices"]


def test_the_selected_pipeline_shows_its_promise_and_what_its_verdict_rests_on(visit, believable):  # noqa: F811
    said = words(visit(believable, "overview", pipeline="orders-to-payments"))

    assert "promises at least once (declared) :gray[orders → order\\-service → payments]" in said
    assert said.count("41 message ids of orders\\-2 never reached payments") == 2, "attention names it too"


def test_what_is_not_known_of_the_selected_pipeline_is_said(visit, believable):  # noqa: F811
    said = words(visit(believable, "overview", pipeline="reports"))

    assert "? Not known]" in said
    assert "not permitted" in said


@pytest.mark.parametrize("query", [{"pipeline": "no such"}, {"pipeline": "invoices", "search": "orders"}])
def test_a_pipeline_that_is_not_there_is_said(visit, believable, query):  # noqa: F811
    assert "No pipeline of this name is known" in words(visit(believable, "overview", **query))


def test_a_pipeline_with_a_hostile_name_is_text(visit, undeclared):  # noqa: F811
    app = visit(undeclared, "overview", pipeline=f"{HOSTILE}:{HOSTILE}")

    assert "promises" in words(app)
    assert not [m.value for m in app.markdown if UNESCAPED.search(m.value)]
    assert "\u202e" not in words(app) + cells(app)


def test_of_many_pipelines_the_worst_are_shown_and_the_rest_is_counted(visit, believable, monkeypatch):  # noqa: F811
    monkeypatch.setattr(pipeline_rows, "SHOWN", 2)

    app = visit(believable, "overview")

    assert list(pipelines(app).index) == ["orders-to-payments", "invoices"]
    assert "2 of 3 pipelines are shown, the worst. The search finds the others." in words(app)


def test_the_panel_of_a_pipeline_is_called_stale_when_its_evidence_is(visit, stale):  # noqa: F811
    said = words(visit(stale, "overview", pipeline="reports"))

    assert "**Pipeline**  :gray-badge[◷ Stale]" in said
    assert ":gray-badge[? Unknown] **reports** promises" in said


def test_the_strip_of_findings_names_the_kinds(visit, believable):  # noqa: F811
    app = visit(believable, "overview")

    option = json.loads(app.get("echarts_chart")[0].proto.spec)
    assert option["yAxis"]["data"][:2] == ["Lost records", "Stable offset frozen"]
