"""Panels of the page of duplicates and losses."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import (
    audit_answers,
    audit_causes,
    audit_coverage,
    audit_examples,
    audit_losses,
    audit_topics,
    audit_words,
    cached,
    queries,
    wording,
)
from dashboard.charts.coverage import coverage_lanes
from dashboard.charts.frame import STILL
from dashboard.charts.interval_bars import interval_bars
from dashboard.components import panel, selection, tables
from dashboard.components.grades import grade
from dashboard.names import cut, in_markdown
from dashboard.spreadsheets import csv_text
from dashboard.view import View

# A choice here changes every panel below it.
ALL_PANELS = "app"
SHOWN = 200


def topics(view: View) -> None:
    """Extra copies per topic; the selected topic fills the panels below."""
    found = audit_answers.found_topics(view)
    if not found:
        panel.empty(*_nothing(view, "topic was read record by record"))
        return
    shown = found[:SHOWN]
    rows = pd.DataFrame([audit_topics.topic_row(audit, view) for audit in shown]).convert_dtypes()
    selection.table(
        "topic",
        [audit.topic for audit in shown],
        tables.coloured(rows, "Verdict"),
        rerun=ALL_PANELS,
        height=min(320, 38 + 35 * len(rows)),
        placeholder="–",
        column_config=TOPIC_COLUMNS,
        alt="Topics with extra copies of message ids, worst first",
    )
    _left_out(len(found), SHOWN, "topic")
    _blind_spots_of_topic(view)


def pipelines(view: View) -> None:
    """Source against sink per pipeline, and how far the selected one was compared."""
    found = audit_answers.found_pipelines(view)
    if not found:
        panel.empty(*_nothing(view, "pipeline is known"))
        return
    shown = found[:SHOWN]
    rows = pd.DataFrame([audit_losses.pipeline_row(audit, view) for audit in shown]).convert_dtypes()
    selection.table(
        "pipeline",
        [audit.pipeline.name for audit in shown],
        tables.coloured(rows, "Verdict"),
        rerun=ALL_PANELS,
        height=min(320, 38 + 35 * len(rows)),
        placeholder="–",
        column_config=PIPELINE_COLUMNS,
        alt="Pipelines with lost and late message ids, worst first",
    )
    _left_out(len(found), SHOWN, "pipeline")
    _compared(view)


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
        _left_out(len(audit.groups), audit_causes.CAUSE_ROWS, "group of copies")
    chosen = audit_answers.chosen_pipeline(view, st.query_params.get("pipeline"))
    if chosen is not None and chosen.compared is not None:
        name = in_markdown(chosen.pipeline.name)
        _amounts(f"Lost against late, **{name}**", audit_causes.of_comparison(chosen.compared), "message ids", view)


def examples(view: View) -> None:
    """Single ids: both copies side by side, and ids that did not reach the sink."""
    audit = audit_answers.chosen_topic(view, st.query_params.get("topic"))
    if audit is not None:
        found = audit_answers.copies(view, audit)
        rows = [audit_examples.copy_row(row, audit.topic) for row in found]
        _by_id(
            f"Copies on **{in_markdown(audit.topic)}**", rows, _count(found), "copies", audit_topics.no_copies(audit)
        )
        if rows:
            st.caption(
                audit_words.TIMES_OF.get(audit_answers.timestamp_type(view, audit.topic), audit_words.TIMES_OF[None])
            )
    chosen = audit_answers.chosen_pipeline(view, st.query_params.get("pipeline"))
    if chosen is not None:
        found = audit_answers.lost_ids(view, chosen)
        rows = [audit_examples.lost_row(row) for row in found]
        none = chosen.unseen or "No id was declared lost up to the end of this window."
        _by_id(
            f"Ids missing in the sink of **{in_markdown(chosen.pipeline.name)}**",
            rows,
            _count(found),
            "missing ids",
            none,
        )
    if audit is None and chosen is None:
        panel.empty("Nothing to show: no topic and no pipeline.")


def coverage(view: View) -> None:
    """What was read of the selected topic, and what was not."""
    audit = audit_answers.chosen_topic(view, st.query_params.get("topic"))
    found = audit_answers.lanes(view, audit.topic) if audit else []
    if audit is None or not found:
        panel.empty(f"No range of {in_markdown(audit.topic)} was read in this window." if audit else "No topic.")
        return
    st.markdown(f"Topic **{in_markdown(audit.topic)}**: {audit_coverage.summary(found)}")
    drawn = audit_coverage.drawn(found)
    figure = coverage_lanes(drawn, view)
    st.plotly_chart(figure, config=STILL, alt="Offsets read, purged, missing and not read yet; the table lists them")
    rows = [audit_coverage.lane_row(lane) for lane in found[:SHOWN]]
    tables.plain(rows, None, "Partitions with the offsets read in the window")
    _left_out(len(found), SHOWN, "partition")


def _nothing(view: View, what: str) -> tuple[str, str]:
    if view.search.strip():
        return "The search finds nothing here.", "Clear it; it looks for names and for message ids."
    return f"No {what} yet.", "Declare a pipeline with its sink in tidemark.toml, and start the jobs: tidemark up."


def _compared(view: View) -> None:
    chosen = audit_answers.chosen_pipeline(view, st.query_params.get("pipeline"))
    if chosen is None:
        panel.empty("The pipeline of this link is not known.")
        return
    read = {row["topic"]: row for row in cached.last_day(view, queries.SAMPLED)}
    st.markdown(f"**{in_markdown(chosen.pipeline.name)}** {grade(chosen.grade)}")
    _sentences(audit_losses.blind_spots(chosen, read, view))
    rows = audit_answers.compared(view, chosen.pipeline.name) if chosen.compared else []
    if rows:
        shown = [audit_losses.partition_row(row) for row in rows[:SHOWN]]
        tables.plain(shown, None, "How far each source partition was compared")
        _left_out(len(rows), SHOWN, "partition")
        st.caption(audit_losses.sink_read_to(rows))


def _blind_spots_of_topic(view: View) -> None:
    audit = audit_answers.chosen_topic(view, st.query_params.get("topic"))
    if audit is None:
        panel.empty("The topic of this link is neither read nor named by a pipeline.")
        return
    st.markdown(f"**{in_markdown(audit.topic)}** {grade(audit.grade)}")
    _sentences(audit_topics.blind_spots(audit))


def _sentences(sentences: Sequence[str]) -> None:
    st.markdown("\n".join(f"- :gray[{in_markdown(sentence, 400)}]" for sentence in sentences))


def _amounts(title: str, amounts: Sequence[audit_causes.Amount], unit: str, view: View) -> None:
    st.markdown(title)
    said = "; ".join(f"{name} {wording.amount(b.lower, b.estimate, b.upper)}" for name, b in amounts)
    st.plotly_chart(interval_bars(amounts, unit, view), config=STILL, alt=f"{said}, in {unit}")


def _no_copies(audit: audit_topics.TopicAudit | None) -> str:
    return "No topic is chosen." if audit is None else in_markdown(audit_topics.no_copies(audit), 400)


def _by_id(title: str, rows: Sequence[Mapping[str, object]], found: int, name: str, none: str) -> None:
    st.markdown(f"{title}: {wording.count(found)} in the store, {wording.count(len(rows))} shown" if rows else title)
    if not rows:
        panel.empty(in_markdown(none, 400))
        return
    shown = [{column: cut(str(value)) for column, value in row.items()} for row in rows]
    st.dataframe(shown, hide_index=True, column_config=ID_COLUMN, alt=f"Examples by message id: {name}")
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


def _count(rows: queries.Rows) -> int:
    return rows[0]["found"] if rows else 0


def _left_out(found: int, shown: int, noun: str) -> None:
    if found > shown:
        st.caption(f"{wording.plural(found - shown, noun)} left out, those that matter least. The search finds them.")


VERDICT = "What the findings of the last 24 h mean for the promises"
ID_COLUMN = {"Message id": st.column_config.TextColumn(width=230)}
TOPIC_COLUMNS = {
    "Verdict": st.column_config.TextColumn(width=105, help=VERDICT),
    "Topic": st.column_config.TextColumn(width=150),
    "Extra copies": st.column_config.TextColumn(
        "Extra copies, records", help="In the window, 95 % interval", width=150
    ),
    "Findings, 24 h": st.column_config.TextColumn(help="What the findings of the last day sum up to, as on Overview"),
    "Records read": tables.number("Records read"),
    "Without id": tables.number("Without id, records"),
    "Aborted": tables.number("Aborted, records", "No read_committed reader sees them; they are not compared"),
    "Offsets covered": st.column_config.TextColumn(help="Of those between the first one read and the stable offset"),
    "Purged": tables.number("Purged, offsets"),
    "Gaps": tables.number("Gaps, offsets"),
    "Left unread": tables.number("Left unread, offsets", "Below the stable offset at the newest read"),
}
PIPELINE_COLUMNS = {
    "Verdict": st.column_config.TextColumn(width=105, help=VERDICT),
    "Lost": st.column_config.TextColumn(
        "Lost, message ids", help="Since the comparison began, 95 % interval", width=150
    ),
    "Findings, 24 h": st.column_config.TextColumn(help="What the findings of the last day sum up to, as on Overview"),
    "Late": tables.number("Late, sampled ids", "Declared lost, and then found in the sink after all"),
    "Waiting": tables.number("Waiting, sampled ids", "For the settle delay, or for the sink to be read"),
    "Judged": tables.number("Judged, sampled ids"),
}
