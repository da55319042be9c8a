"""An incident as facts: what it touched, its lines and lanes, what held at a moment, its chain, its links."""

from dataclasses import replace

import numpy as np
import pytest

from dashboard import (
    incident_chain,
    incident_lanes,
    incident_links,
    incident_moment,
    incident_notes,
    incident_places,
    incident_questions,
    incident_rows,
    incident_series,
    memberships,
    queries,
    replica_offsets,
    replication_questions,
)
from dashboard.actions import Action, Attention, Doing, IncidentHandling
from dashboard.charts.incident import incident_over_time
from dashboard.concerns import Concern
from dashboard.finding_ranges import Offsets
from dashboard.incident_chain import ChainLink
from dashboard.incident_lanes import BELOW, ELECTIONS, TRANSACTIONS, IncidentLanes
from dashboard.incident_story import Told, story
from dashboard.lag_steps import LagSteps
from dashboard.shapes import Mark, Span
from dashboard.view import LONGEST_MS, RAW_WINDOW_MS, View, parse_time
from guarantees.cause_links import LINKS
from guarantees.causes import causes
from guarantees.findings import Bounds, Grade, Statement, Unit
from guarantees.incidents import Incident, every_incident
from guarantees.lifecycle import FindingHistory
from guarantees.promises import Guarantee, Pipeline, Verdict
from guarantees.unknown import Unknown
from store.tables.intervals import NOT_OBSERVED
from tests.dashboard import fixture_store, story_cut_log, story_replication, story_window
from tests.dashboard.conftest import now_ms

END = 1_764_000_000_000
MINUTE = 60_000
PIPELINE = Pipeline("orders-to-payments", "orders", "order-service", "payments", Guarantee.EXACTLY_ONCE)
READER = Pipeline("reports", "orders", "reporting", None, Guarantee.AT_LEAST_ONCE)


def view(from_ms=END - 15 * MINUTE, to_ms=END, **changes) -> View:
    return replace(View("production", from_ms, to_ms, True, None, ""), **changes)


def told(*findings, pipelines=(PIPELINE,)) -> list[Incident]:
    return every_incident(findings, causes(findings, (), pipelines, LINKS), pipelines)


def the_incident(partitions=0) -> Incident:
    """The story's own; with partitions, the same election and cut on so many."""
    found = [*story_cut_log.findings(END), *story_cut_log.on_many(END, partitions)]
    return told(*{one.finding_id: one for one in found}.values())[0]


def judged(incident: Incident, *pipelines: Pipeline):
    histories = [FindingHistory(one, one.happened_at_ms, one.last_seen_at_ms) for one in incident.findings]
    verdict = ((PIPELINE, Verdict.VIOLATED), (READER, Verdict.DEGRADED))
    return incident_rows.judged(incident, [Concern(one, verdict) for one in histories])


# What it touched


def test_partitions_of_the_worst_findings_come_first_and_each_counts_once():
    places = incident_places.places(the_incident(), (PIPELINE, READER))

    assert [one.label for one in places.partitions] == ["orders-0", "payments-1"]
    assert places.groups == ("order-service",)
    assert places.lines == ("orders-0", "payments-1")


def test_of_many_partitions_three_have_a_line_and_the_others_share_one():
    places = incident_places.places(the_incident(partitions=600), (PIPELINE,))

    assert (len(places.partitions), places.found) == (incident_places.MOST, 601)
    assert places.lines == ("orders-0", "orders-1", "orders-2", "highest of 497 others")
    assert set(incident_places.parameters(places)["lines"]) == set(places.lines)


# Lines


def row(line, at_ms, value):
    return {"line": line, "at_ms": at_ms, "value": value, "unknown": 0}


def test_a_bucket_shows_the_highest_value_of_its_line_and_a_gap_stays_a_gap():
    rows = [row("a", 10_000, 5), row("a", 10_000, 9), row("a", 20_000, None), row("b", 30_000, 0), row("x", 0, 7)]

    lines = incident_series.lines(rows, ("a", "b"), (10_000, 40_000), 10_000)

    assert np.array_equal(lines.values["a"], [9, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(lines.values["b"], [np.nan, np.nan, 0], equal_nan=True)
    assert not lines.is_empty
    assert incident_series.lines([], ("a",), (0, 10_000), 10_000).is_empty


@pytest.mark.parametrize("length_ms", [60_000, RAW_WINDOW_MS, 3_600_000, 24 * 3_600_000, LONGEST_MS])
@pytest.mark.parametrize("interval_ms", [1_000, 5_000, 30_000])
def test_no_line_has_more_than_300_points(length_ms, interval_ms):
    bucket_ms = LagSteps(END - length_ms, END, interval_ms, incident_series.POINTS, reads_raw=True).bucket_ms

    lines = incident_series.lines([], ("a",), (END - length_ms, END), bucket_ms)

    assert len(lines.values["a"]) <= 300


@pytest.mark.parametrize(
    ("from_ms", "at_ms", "expected"),
    [
        (END - RAW_WINDOW_MS, END, (END - RAW_WINDOW_MS, END)),
        (END - 5 * MINUTE, END - MINUTE, (END - 5 * MINUTE, END)),
        (END - 60 * MINUTE, END - 30 * MINUTE, (END - 37.5 * MINUTE, END - 22.5 * MINUTE)),
        (END - 60 * MINUTE, END - 60 * MINUTE, (END - 60 * MINUTE, END - 45 * MINUTE)),
        (END - 60 * MINUTE, END, (END - 15 * MINUTE, END)),
    ],
)
def test_raw_offsets_are_read_for_a_quarter_of_an_hour_around_the_cursor_and_never_beyond_the_window(
    from_ms, at_ms, expected
):
    assert incident_series.detail(view(from_ms), at_ms) == expected


# Lanes


def test_one_event_on_five_hundred_partitions_is_one_mark_that_says_so():
    marks = [Mark(ELECTIONS, END + number, f"orders-{number}", Verdict.DEGRADED) for number in range(500)]
    clean = Mark(ELECTIONS, END + 3, "orders-9 clean")

    known, unclean = sorted(incident_lanes.collapsed([*marks, clean], 1_000, 0), key=lambda mark: mark.size or 0)

    assert known == clean
    assert (unclean.at_ms, unclean.size) == (END, 500)
    assert unclean.text == "500 here; the first: orders-0"


def test_marks_that_lie_apart_or_in_other_lanes_stay_apart():
    marks = [Mark("a", 0, "x"), Mark("a", 1_000, "y"), Mark("b", 0, "z")]

    assert incident_lanes.collapsed(marks, 1_000, 0) == marks


def test_findings_of_before_the_window_are_one_mark_apart_from_those_at_its_edge_and_keep_their_time():
    edge = view().from_ms
    marks = [Mark("lost", at_ms, str(at_ms), Verdict.VIOLATED) for at_ms in (edge - 9 * MINUTE, edge - 1, edge, END)]
    later = Mark("lost", END + 1, "later", Verdict.VIOLATED)

    found = incident_lanes.lanes([], [], [], [], [*marks, later], (), view(), 15_000)

    assert [(mark.at_ms, mark.size) for mark in found.marks] == [(edge - 9 * MINUTE, 2), (edge, None), (END, None)]
    assert [row["Time (UTC)"] for row in incident_notes.lane_rows(found)][0] == "2025-11-24 15:36:00.000"
    lines = incident_series.IncidentLines(*[incident_series.lines([], (), (edge, END), MINUTE)] * 3, (edge, END))
    said = " ".join(incident_notes.of_figure(view(), incident_places.Places((), 0, ()), lines, found, END))
    assert "Pointing left at the edge: before the window." in said


def test_bars_that_overlap_are_one_and_neighbours_have_two_tones():
    spans = [Span("t", 50, 60, 0, "c"), Span("t", 0, 10, 0, "a"), Span("t", 10, 20, 0, "b")]

    assert incident_lanes.merged(spans, "transactions") == [
        Span("t", 0, 20, 0, "2 transactions; the first: a"),
        Span("t", 50, 60, 1, "c"),
    ]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A store and the moment its story ends."""
    folder, story_ms = tmp_path_factory.mktemp("incident") / "data", now_ms()
    fixture_store.build(folder, story_ms)
    return folder, story_ms


def asked(stored, question, from_minutes=12, **about):
    folder, story_ms = stored
    window = story_ms - from_minutes * MINUTE, story_ms
    return queries.ask(folder, *window, question, {"cluster_id": fixture_store.CLUSTER_ID, **about})


def touched(topic, topic_id, *partitions, groups=()):
    found = tuple(incident_places.TouchedPartition(topic, topic_id, number) for number in partitions)
    return incident_places.parameters(incident_places.Places(found, len(found), tuple(groups)))


def test_elections_are_those_of_the_page_of_replication(stored):
    about = touched(story_replication.SHIPMENTS, story_replication.SHIPMENTS_ID, *range(6))
    states = asked(stored, incident_questions.STATES, **about)
    held = asked(stored, replication_questions.ELECTIONS, search=story_replication.SHIPMENTS)

    by_partition = {number: [one for one in states if one["partition"] == number] for number in range(6)}
    marks = [mark for history in by_partition.values() for mark in incident_lanes.election_marks(history, ())]

    assert sorted(mark.at_ms for mark in marks) == sorted(one["started_at_ms"] for one in held)
    assert len(held) == 2
    assert sorted(str(mark.verdict) for mark in marks) == ["None", "degraded"]


def test_an_election_that_a_finding_calls_unclean_is_marked_so(stored):
    about = touched("orders", fixture_store.ORDERS.topic_id, 0)
    states = asked(stored, incident_questions.STATES, **about)

    (clean,) = incident_lanes.election_marks(states, ())
    (unclean,) = incident_lanes.election_marks(states, {(f"{fixture_store.ORDERS.topic_id}-0", 3)})

    assert clean.verdict is None
    assert unclean.verdict is Verdict.DEGRADED
    assert "unclean" in unclean.text


def test_time_below_min_isr_is_a_bar_at_most_over_a_bar_at_least(stored):
    folder, story_ms = stored
    about = touched(story_replication.SHIPMENTS, story_replication.SHIPMENTS_ID, 1)
    window = view(story_ms - 12 * MINUTE, story_ms)

    found = incident_lanes.lanes(asked(stored, incident_questions.STATES, **about), [], [], [], [], (), window, 15_000)

    (most,), (least,) = found.at_most, found.at_least
    assert (most.lane, least.lane) == (BELOW, BELOW)
    assert most.from_ms < least.from_ms < least.to_ms < most.to_ms
    assert folder.exists()


def test_open_transactions_are_bars_with_their_transactional_id(stored):
    rows = asked(
        stored, incident_questions.OPEN_TRANSACTIONS, **touched("invoices", fixture_store.INVOICES.topic_id, 1)
    )

    found = incident_lanes.lanes([], [], [], rows, [], (), view(), 15_000)

    (bar,) = found.spans
    assert (bar.lane, bar.text) == (TRANSACTIONS, "invoice-tx-1 on invoices-1")


def test_a_topic_made_anew_is_another_topic(stored):
    assert asked(stored, incident_questions.STATES, **touched("orders", "an-earlier-id", 0)) == []
    assert asked(stored, incident_questions.STATES, **touched("orders", None, 0))


def test_the_distances_between_offsets_are_those_of_the_page_of_replication(stored):
    about = {"topic_id": story_replication.SHIPMENTS_ID, "partition": 4}
    step = fixture_store.STEP_MS
    samples = asked(stored, replication_questions.OFFSETS_OF, **about)
    ends = asked(stored, replication_questions.LOG_ENDS_OF, **about)
    history = replica_offsets.replica_history(samples, ends, step)
    of_one = touched(story_replication.SHIPMENTS, story_replication.SHIPMENTS_ID, 4)

    rows = asked(stored, incident_questions.OFFSET_LINES, step_ms=step, **of_one)

    series = zip(history.at_ms, history.not_replicated, history.held, strict=True)
    known = {int(at) // step * step: (not_replicated, held) for at, not_replicated, held in series}
    assert len(rows) > 100
    for row in rows:
        not_replicated, held = known[row["at_ms"]]
        assert row["held"] == held == story_replication.HELD
        assert row["not_replicated"] == not_replicated == story_replication.NOT_REPLICATED


def test_lag_is_that_of_the_partition_and_of_many_the_highest(stored):
    of_one = touched("orders", fixture_store.ORDERS.topic_id, 2, groups=["order-service"])
    of_many = touched("orders", fixture_store.ORDERS.topic_id, *range(6), groups=["order-service"])

    one = asked(stored, incident_questions.LAG_LINES.raw, step_ms=5_000, **of_one)
    many = asked(stored, incident_questions.LAG_LINES.raw, step_ms=5_000, **of_many)

    assert max(row["value"] for row in one) > 1_800
    assert {row["line"] for row in many} == {"orders-0", "orders-1", "orders-2", "highest of 3 others"}
    third = {row["at_ms"]: row["value"] for row in many if row["line"] == "orders-2"}
    assert third == {row["at_ms"]: row["value"] for row in one}


def test_lag_of_a_group_that_may_not_be_read_is_a_gap_and_no_zero(stored):
    rows = asked(stored, incident_questions.LAG_LINES.raw, step_ms=5_000,
                 **touched("orders", fixture_store.ORDERS.topic_id, 2, groups=["reporting"]))  # fmt: skip

    assert {row["value"] for row in rows} == {None}


def test_a_rebalance_is_drawn_no_further_than_somebody_looked():
    rows = [
        story_window.state("PreparingRebalance", 0, 1, 2),
        story_window.state("PreparingRebalance", 4, 5, 900, why=NOT_OBSERVED),
    ]
    view_of_all = View("production", story_window.AT_MS, story_window.AT_MS + 9_000_000, False, None, "")

    drawn = incident_lanes.lanes([], [], rows, [], [], (), view_of_all, 15_000).spans
    members = memberships.lanes([], rows)

    expected = [(0, 10_000), (20_000, 25_000)]
    for spans in (drawn, members):
        assert [(span.from_ms - story_window.AT_MS, span.to_ms - story_window.AT_MS) for span in spans] == expected


# What held at a moment


def state(start, last_seen, ended=None, **columns):
    return {"leader": 1, "leader_epoch": 3, "replicas": [1, 2, 3], "in_sync_replicas": [1, 2], "min_insync_replicas": 2,
            "eligible_leader_replicas": None, "started_at_ms": start, "last_seen_at_ms": last_seen,
            "ended_before_ms": ended, "ended_reason": None if ended is None else "changed"} | columns  # fmt: skip


@pytest.mark.parametrize(
    ("states", "at_ms", "said"),
    [
        ([state(0, 100)], 50, "broker 1, epoch 3"),
        ([state(0, 100)], 200, "unknown: no sample of the partition's state covers this moment"),
        ([state(0, 100, leader=None)], 50, "none: offline, epoch 3"),
        ([state(0, 100, 150), state(150, 300, leader=2, leader_epoch=4)], 150, "broker 2, epoch 4"),
        (
            [state(0, 100, 150), state(150, 300, leader=2)],
            120,
            "broker 1, epoch 3 (last seen 00:00:00; it changed before the next sample)",
        ),
        ([state(0, 100)], 180, "broker 1, epoch 3 (last seen 00:00:00)"),
        (
            [state(0, 100, 9_000, ended_reason=NOT_OBSERVED), state(9_000, 9_100)],
            120,
            "unknown: no sample of the partition's state covers this moment",
        ),
    ],
)
def test_the_leader_is_that_of_the_interval_and_between_two_samples_that_is_said(states, at_ms, said):
    # States are asked for in every second round of a large cluster, and two of them may be late: four times 20 ms.
    assert incident_moment.replication(states, at_ms, 20)[0] == ("Leader", said)


def offsets(at_ms, **columns):
    return {"observed_at_ms": at_ms, "high_watermark": 9_007_199_254_740_993, "high_watermark_unknown": None,
            "last_stable_offset": 7, "last_stable_offset_unknown": None, "log_start_offset": 0,
            "log_start_offset_unknown": None, "broker": 1} | columns  # fmt: skip


def test_offsets_are_those_of_the_newest_sample_before_the_moment_in_full_digits():
    samples = [offsets(END - 3_000), offsets(END + 1, high_watermark=1)]

    assert incident_moment.offsets(samples, END)[0] == ("High watermark", "9007199254740993 (3 s before)")


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        ([], incident_moment.NO_SAMPLE),
        ([offsets(END - 61_000)], incident_moment.NO_SAMPLE),
        (
            [offsets(END - 1_000, high_watermark=None, high_watermark_unknown="LEADER_NOT_AVAILABLE (5)")],
            "unknown: LEADER_NOT_AVAILABLE (5) (1 s before)",
        ),
    ],
)
def test_an_offset_that_is_not_known_has_its_reason_and_never_an_old_value(samples, said):
    assert incident_moment.offsets(samples, END)[0] == ("High watermark", said)


TRANSACTION = {"started_at_ms": 0, "last_seen_at_ms": END, "producer_id": 8123, "producer_epoch": 4,
               "transactional_id": "tx", "current_transaction_start_offset": 77}  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "samples", "said"),
    [
        ([TRANSACTION], [], "tx, producer 8123, epoch 4, from offset 77"),
        ([TRANSACTION | {"last_seen_at_ms": 5}], [], incident_moment.NO_SAMPLE),
        ([], [offsets(END, high_watermark=7)], "none: the last stable offset is the high watermark"),
        ([], [offsets(END)], "unknown: one holds the last stable offset back, and no answer says whose it is"),
    ],
)
def test_that_no_transaction_is_open_is_said_where_the_offsets_prove_it_alone(rows, samples, said):
    assert incident_moment.transactions(rows, samples, END) == ("Open transaction", said)


# The figure


def drawn(at_ms=END - MINUTE, values=(1.0, np.nan, 3.0), detail=None, lanes=None, window=None):
    window = window or view()
    detail = detail or (window.from_ms, window.to_ms)
    series = {"<b>x</b>-0": np.array(values), "orders-1": np.array(values)}
    known = {name: np.zeros(len(values), dtype=bool) for name in series}
    lines = incident_series.Lines(window.from_ms, 10_000, series, known)
    lanes = lanes or IncidentLanes(incident_lanes.LANES, (), (), (), ())
    return incident_over_time(incident_series.IncidentLines(lines, lines, lines, detail), lanes, at_ms, window)


def test_the_figure_has_one_time_axis_a_cursor_and_shows_names_as_text():
    figure = drawn()

    cursor = figure.layout.shapes[-1]
    assert (cursor.type, cursor.x0, cursor.x1) == ("line", "2025-11-24T15:59:00.000", "2025-11-24T15:59:00.000")
    assert {figure.layout[axis].matches for axis in ("xaxis", "xaxis2", "xaxis3")} == {"x4"}
    assert figure.data[0].name == "&lt;b&gt;x&lt;/b&gt;-0"
    assert len({(trace.line.color, trace.line.dash) for trace in figure.data[:2]}) == 2
    assert np.isnan(figure.data[0].y[1])
    assert not figure.data[0].connectgaps


def test_grey_lies_over_the_time_of_which_no_offsets_are_read():
    window = view(END - 60 * MINUTE)

    around = drawn(detail=(END - 40 * MINUTE, END - 25 * MINUTE), window=window).layout.shapes
    nothing = drawn(values=(np.nan,), window=window).layout.shapes

    assert [shape.yref for shape in around[:-1]] == ["y2 domain", "y2 domain", "y3 domain", "y3 domain"]
    assert [shape.yref for shape in nothing[:-1]] == ["y domain", "y2 domain", "y3 domain"]


@pytest.mark.parametrize(
    ("oldest_ms", "said"),
    [
        (None, "have expired"),
        (END + 1, "Samples of this time have expired; the findings below keep their own evidence."),
        (END - MINUTE, "Samples before 2025-11-24 15:59:00.000 UTC have expired"),
        (END - 20 * MINUTE, "None was stored in this window"),
    ],
)
def test_why_a_plot_has_no_samples_is_said(oldest_ms, said):
    assert said in incident_notes.why_missing(view(), oldest_ms)


# The story


def test_the_chain_is_told_from_the_first_cause_and_many_partitions_are_one_link():
    incident = the_incident(partitions=500)
    found = causes(incident.findings, (), (PIPELINE,), LINKS)

    links = incident_chain.chain(story(incident, (PIPELINE,), found, {}).told)

    assert [link.first.finding.kind for link in links] == [
        "unclean_election", "log_truncated", "committed_ahead", "rewind", "duplicate_write",
    ]  # fmt: skip
    assert links[1].where == "and 499 more findings of this kind on 500 partitions"
    assert "Broker 1 became leader" in links[1].first.because or "leader changed" in links[1].first.because
    assert links[2].where == ""


def test_a_link_of_days_tells_the_day_it_ends_and_a_link_of_one_moment_that_moment():
    def happened(at_ms):
        return Told(replace(story_cut_log.unclean(END), happened_at_ms=at_ms), Verdict.OK, ())

    first_ms = 1_795_749_120_000
    first, last = happened(first_ms), happened(first_ms + 49 * 60 * MINUTE)

    assert ChainLink((first,)).when == "2026-11-27 03:12:00.000 UTC"
    assert ChainLink((first, last)).when == "2026-11-27 03:12:00 to 2026-11-29 04:12:00 UTC"
    assert ChainLink((first, happened(first_ms + MINUTE))).when == "2026-11-27 03:12:00 to 03:13:00 UTC"


def test_offsets_are_told_from_the_first_to_the_last_and_a_gap_with_its_reason():
    incident = the_incident()
    found = story(incident, (PIPELINE, READER), {}, {})

    rows = [incident_chain.loss_row(one) for one in found.losses]
    touched = [incident_chain.touched_row(one) for one in found.touched]

    cut = next(row for row in rows if row["How"] == "Log truncated")
    assert (cut["First offset"], cut["Last offset"]) == (str(story_cut_log.END), str(story_cut_log.OLD_END - 1))
    assert cut["How much"] == "120 offsets"
    assert {row["Touched"] for row in touched} >= {"order-service", "reporting", "payments"}
    assert (
        incident_chain.who_is_touched(found.touched, PIPELINE.name) == "2 consumers and 1 downstream topic are touched."
    )


def test_a_column_of_offsets_holds_offsets_alone_and_the_reason_why_there_are_none_has_its_own():
    known, unknown, empty = Offsets(5, 9), Unknown("nobody looked"), Offsets(5, 5)

    cells = [(*incident_chain.ends(one), incident_chain.why_none(one)) for one in (known, unknown, empty)]

    assert cells == [("5", "8", ""), ("unknown", "unknown", "nobody looked"), ("none", "none", "the range is empty")]
    rows = [{"First offset": first, incident_chain.WHY_NONE: why} for first, _, why in cells]
    assert incident_chain.with_reasons(rows) == rows
    assert incident_chain.with_reasons(rows[:1]) == [{"First offset": "5"}]


def test_incidents_of_the_same_findings_are_one_row_judged_by_the_worst_pipeline():
    alone = story_cut_log.unclean(END)
    incidents = told(alone, pipelines=(PIPELINE, READER))

    (row,) = incident_rows.together(judged(one) for one in incidents)

    assert row.verdict is Verdict.VIOLATED
    assert row.pipelines == ("orders-to-payments", "reports")


def test_a_row_says_what_it_did_as_intervals_and_how_it_stands():
    incident = the_incident()
    shown = incident_rows.row(judged(incident), IncidentHandling(), view())

    assert shown["Began with"] == "Unclean election"
    assert shown["Size"] == "lost 120 offsets; re-delivered 40 (0 to 40) offsets; duplicated 17 records"
    assert (shown["State"], shown["Handling"], shown["Grade"]) == ("open", "–", "PROVEN")
    uncounted = incident_rows.amount(Bounds(3, None, None, Unit.RECORDS))
    assert uncounted == "at least 3 records"


def graded(grade: Grade, happened_at_ms: int, verdict: Verdict | None) -> Concern:
    assumption = "it was alone" if grade is Grade.PROBABLE else None
    statements = (Statement(grade, "So it was.", assumption),)
    one = replace(story_cut_log.unclean(END), anchor=str(happened_at_ms), happened_at_ms=happened_at_ms,
                  statements=statements)  # fmt: skip
    broken = () if verdict is None else ((PIPELINE, verdict),)
    return Concern(FindingHistory(one, END, END), broken)


@pytest.mark.parametrize(
    ("found", "decisive"),
    [
        # The first cause is no more than possible, the violation after it is proven.
        ([(Grade.POSSIBLE, Verdict.VIOLATED), (Grade.PROVEN, Verdict.VIOLATED)], 1),
        # What only weakens the promise is not what makes it violated, however sure it is.
        ([(Grade.PROVEN, Verdict.DEGRADED), (Grade.PROBABLE, Verdict.VIOLATED), (Grade.POSSIBLE, None)], 1),
        ([(Grade.NOT_OBSERVABLE, None), (Grade.PROVEN, None)], 1),
        ([(Grade.PROVEN, Verdict.DEGRADED), (Grade.PROVEN, Verdict.DEGRADED)], 0),
    ],
)
def test_beside_a_verdict_stands_the_grade_of_the_surest_finding_that_makes_it(found, decisive):
    known = [graded(grade, END - MINUTE + at, verdict) for at, (grade, verdict) in enumerate(found)]
    incident = Incident(PIPELINE.name, tuple(one.finding for one in known), ())

    one = incident_rows.judged(incident, known)

    assert one.decisive == known[decisive].finding
    assert incident_rows.row(one, IncidentHandling(), view())["Grade"] == found[decisive][0]


@pytest.mark.parametrize(("closed", "later", "said"), [(0, 0, "5 findings still last"), (5, 2, "2 findings joined it")])
def test_what_a_person_closed_still_says_what_lasts_and_what_joined_since(closed, later, said):
    incident = the_incident()
    over = tuple(replace(one, closed_reason="over") for one in incident.findings[:closed])
    one = judged(replace(incident, findings=over + incident.findings[closed:]))
    handling = IncidentHandling(Action("a", 0, Doing.CLOSE, None, "Ada", None, incident.incident_id))

    assert handling.state is Attention.CLOSED
    (sentence,) = incident_rows.handled(one, handling, later)
    assert said in sentence


# Links


def test_a_link_keeps_the_window_that_holds_the_incident_and_brings_one_where_none_does():
    incident = the_incident()

    inside = incident_links.query(incident, view())
    outside = incident_links.query(incident, view(END - MINUTE))

    assert set(inside) == {"incident", "at"}
    assert parse_time(inside["at"]) == incident.from_ms
    start, end = parse_time(outside["from"]), parse_time(outside["to"])
    assert incident_links.holds(view(start, end), incident)


@pytest.mark.parametrize("length_ms", [0, MINUTE, 3_600_000, 3 * LONGEST_MS])
def test_a_window_around_an_incident_begins_before_it_and_is_never_longer_than_any_range(length_ms):
    start, end = incident_links.window(END - length_ms, END, END)

    assert start < END - length_ms
    assert end <= END
    assert end - start <= LONGEST_MS
