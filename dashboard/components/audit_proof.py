"""Panels that prove the figures of duplicates and losses: causes, single ids, and what was read."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dashboard import (
    audit_answers,
    audit_causes,
    audit_coverage,
    audit_examples,
    audit_topics,
    audit_words,
    queries,
    wording,
)
from dashboard.audit_losses import PipelineAudit
from dashboard.audit_topics import TopicAudit
from dashboard.charts.coverage import coverage_lanes
from dashboard.charts.frame import STILL
from dashboard.charts.interval_bars import interval_bars
from dashboard.components import grid, panel, tables
from dashboard.names import cut, in_markdown
from dashboard.shapes import LANES
from dashboard.spreadsheets import csv_text
from dashboard.view import View

LANE_ROWS = 200
ID_COLUMN = {"Message id": st.column_config.TextColumn(width=230)}


def causes(view: View) -> None:
    """How the copies of the selected topic came to be, and lost against late of the selected pipeline."""
    audit = audit_answers.chosen_topic(view, st.query_params.get("topic"))
    if audit is None or not audit.groups:
        panel.empty(_no_copies(audit))
    else:
        _amounts(
            f"Extra copies on **{in_markdown(audit.topic)}**", audit_causes.by_cause(audit.groups), "records", view
        )
        rows = [audit_causes.cause_row(row) for row in audit.groups[: audit_causes.CAUSE_ROWS]]
        tables.plain(rows, None, "Extra copies by cause, partition and producers")
        tables.left_out(len(audit.groups), audit_causes.CAUSE_ROWS, "row", "The bars count all of them.")
    chosen = audit_answers.chosen_pipeline(view, st.query_params.get("pipeline"))
    if chosen is not None and chosen.compared is not None:
        name = in_markdown(chosen.pipeline.name)
        _amounts(f"Lost against late, **{name}**", audit_causes.of_comparison(chosen.compared), "message ids", view)


def examples(view: View) -> None:
    """Single ids: both copies side by side, and ids that did not reach the sink."""
    audit = audit_answers.chosen_topic(view, st.query_params.get("topic"))
    chosen = audit_answers.chosen_pipeline(view, st.query_params.get("pipeline"))
    if audit is not None:
        _copies(audit, view)
    if chosen is not None:
        _missing(chosen, view)
    if audit is None and chosen is None:
        panel.empty("Nothing to show: no topic and no pipeline.")


def _copies(audit: TopicAudit, view: View) -> None:
    found = audit_answers.copies(view, audit)
    rows = [audit_examples.copy_row(row, audit.topic) for row in found]
    _by_id(f"Copies on **{in_markdown(audit.topic)}**", rows, found, "copies", audit_topics.no_copies(audit))
    if rows:
        whose = audit_answers.timestamp_type(view, audit.topic)
        st.caption(audit_words.TIMES_OF.get(whose, audit_words.TIMES_OF[None]))


def _missing(audit: PipelineAudit, view: View) -> None:
    found = audit_answers.lost_ids(view, audit)
    rows = [audit_examples.lost_row(row) for row in found]
    none = audit.unseen or "No id was declared lost up to the end of this window."
    _by_id(f"Ids missing in the sink of **{in_markdown(audit.pipeline.name)}**", rows, found, "missing ids", none)


def coverage(view: View) -> None:
    """What was read of the selected topic, and what was not."""
    audit = audit_answers.chosen_topic(view, st.query_params.get("topic"))
    found = audit_answers.lanes(view, audit.topic) if audit else []
    if audit is None or not found:
        panel.empty(f"No range of {in_markdown(audit.topic)} was read in this window." if audit else "No topic.")
        return
    st.markdown(f"Topic **{in_markdown(audit.topic)}**: {audit_coverage.summary(found)}")
    figure = coverage_lanes(found[:LANES], view)
    st.plotly_chart(figure, config=STILL, alt="Offsets read, purged, missing and not read yet; the table lists them")
    tables.left_out(len(found), LANES, "lane", "Those that miss most offsets are drawn.")
    rows = [audit_coverage.lane_row(lane) for lane in found[:LANE_ROWS]]
    tables.plain(rows, None, "Partitions with the offsets read in the window")
    tables.left_out(len(found), LANE_ROWS, "partition", "Those that miss most offsets are listed.")


def _amounts(title: str, amounts: Sequence[audit_causes.Amount], unit: str, view: View) -> None:
    st.markdown(title)
    said = "; ".join(f"{name} {wording.amount(b.lower, b.estimate, b.upper)}" for name, b in amounts)
    st.plotly_chart(interval_bars(amounts, unit, view), config=STILL, alt=f"{said}, in {unit}")


def _no_copies(audit: TopicAudit | None) -> str:
    return "No topic is chosen." if audit is None else in_markdown(audit_topics.no_copies(audit), 400)


def _by_id(title: str, rows: Sequence[Mapping[str, object]], found: queries.Rows, name: str, none: str) -> None:
    """A table of examples with its download. `found` counts those not shown too; `none` is why there is no row."""
    count = f": {wording.count(found[0]['found'])} in the store, {wording.count(len(rows))} shown" if found else ""
    st.markdown(title + count)
    if not rows:
        panel.empty(in_markdown(none, 400))
        return
    shown = [{column: cut(str(value)) for column, value in row.items()} for row in rows]
    grid.draw(shown, column_config=ID_COLUMN, alt=f"Examples by message id: {name}")
    st.download_button(
        f"Download {name} (CSV)",
        _download(rows),
        f"{name.replace(' ', '-')}.csv",
        "text/csv",
        on_click="ignore",
        key=f"download-{name}",
    )


def _download(rows: Sequence[Mapping[str, object]]) -> Callable[[], str]:
    """Written when it is asked for."""
    return lambda: csv_text(rows)
