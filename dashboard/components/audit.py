"""Panels of the page of duplicates and losses."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import (
    audit_answers,
    audit_losses,
    audit_topics,
    cached,
    queries,
)
from dashboard.components import overview, panel, selection, tables
from dashboard.components.grades import grade
from dashboard.names import in_markdown
from dashboard.view import View

# A choice here changes every panel below it.
ALL_PANELS = "app"
SHOWN = 200
NOT_FOUND = ("The search finds nothing here.", "Clear it; it looks for names and for message ids.")


def topics(view: View) -> None:
    """Extra copies per topic; the selected topic fills the panels below."""
    found = audit_answers.found_topics(view)
    if not found:
        _no_topic(view)
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
    tables.left_out(len(found), SHOWN, "topic")
    if view.length_ms > cached.DAY_MS:
        st.caption("Extra copies and what was read are those of the last 24 h of this window.")
    _blind_spots_of_topic(view)


def _no_topic(view: View) -> None:
    if view.search.strip():
        panel.empty(*NOT_FOUND)
        return
    panel.empty(
        "No known pipeline names a topic, and none was read record by record in the last day of this window.",
        "Declare a pipeline with its sink in tidemark.toml, and start the jobs: tidemark up.",
    )


def pipelines(view: View) -> None:
    """Source against sink per pipeline, and how far the selected one was compared."""
    found = audit_answers.found_pipelines(view)
    if not found:
        _no_pipeline(view)
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
    tables.left_out(len(found), SHOWN, "pipeline")
    _compared(view)


def _no_pipeline(view: View) -> None:
    if view.search.strip():
        panel.empty(*NOT_FOUND)
    else:
        overview.no_pipeline(view)


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
        tables.left_out(len(rows), SHOWN, "partition", "Those that lost most are listed.")
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


VERDICT = "What the findings of the last 24 h mean for the promises"
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
    "Aborted, 24 h": st.column_config.TextColumn(
        "Aborted at the sink, 24 h",
        help="Message ids that the sink holds and no transaction of the source committed, as far as the source is "
        "decided: an open transaction holds up what came after it began",
    ),
    "Late": tables.number("Late, sampled ids", "Declared lost, and then found in the sink after all"),
    "Waiting": tables.number("Waiting, sampled ids", "For the settle delay, or for the sink to be read"),
    "Judged": tables.number("Judged, sampled ids"),
}
