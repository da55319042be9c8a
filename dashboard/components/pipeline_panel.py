"""The pipelines of the overview as a table, and the selected one with what its verdict rests on."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import answers, known_findings, pipeline_rows, record_evidence, wording
from dashboard.components import panel, selection, tables
from dashboard.components.grades import grade
from dashboard.components.panel import Panel
from dashboard.names import in_markdown
from dashboard.standing import Standing
from dashboard.view import View
from guarantees.promises import Verdict

LAG, HEALTH, VIOLATIONS = (f"dashboard/pages/{page}.py" for page in ("lag", "health", "violations"))
FINDINGS, UNKNOWNS = 8, 5


def table(standings: Sequence[Standing], view: View, shown_by: Panel) -> None:
    """One row for each pipeline, worst first; filtered by verdict, cut where there are too many."""
    counts = pipeline_rows.counts(standings)
    chosen = selection.choice("verdict", {one.value: f"{wording.LOOKS[one].text} {n:,}" for one, n in counts.items()})
    found = [known for known in standings if chosen in (None, known.judged.verdict.value)]
    if not found:
        panel.empty("No pipeline has this verdict.", "Choose another one, or none.")
        return
    rows = pd.DataFrame(_rows(found[: pipeline_rows.SHOWN], view))
    rows = rows.astype({"Lag": "Int64", "Behind": "Int64"})
    selection.table(
        "pipeline",
        [known.pipeline.name for known in found[: pipeline_rows.SHOWN]],
        tables.coloured(rows, "Verdict"),
        rerun=shown_by.fragment_key,
        height=min(400, 38 + 35 * len(rows)),
        placeholder="–",
        column_config=COLUMNS,
        alt="Pipelines with promise and verdict, worst first",
    )
    if len(found) > pipeline_rows.SHOWN:
        remedy = "The search finds the others."
        st.caption(wording.cut_note(pipeline_rows.SHOWN, len(found), "pipelines", "the worst", remedy))


def detail(view: View) -> None:
    """The pipeline of the link: promise, verdict, what it rests on, and where to look next."""
    name = st.query_params.get("pipeline")
    if name is None:
        panel.empty("Select a pipeline in the table to see what its verdict rests on.")
        return
    known = next((one for one in answers.standings(view) if one.pipeline.name == name), None)
    if known is None:
        panel.empty("No pipeline of this name is known, or the search leaves it out.")
        return
    pipeline = known.pipeline
    made = wording.promise(pipeline.promise, pipeline.is_inferred)
    way = " → ".join(in_markdown(part) for part in (pipeline.source, pipeline.group_id, pipeline.sink) if part)
    st.markdown(f"{wording.LOOKS[known.judged.verdict].badge} **{in_markdown(name)}** promises {made} :gray[{way}]")
    _findings(known, view)
    _unknowns(known)
    with st.container(horizontal=True):
        st.page_link(LAG, label=":blue[Lag of its group →]", query_params={"group": pipeline.group_id}, icon="")
        st.page_link(HEALTH, label=":blue[What the promise needs →]", query_params={"pipeline": name}, icon="")


def _rows(standings: Sequence[Standing], view: View) -> list[dict[str, object]]:
    every = (history.finding for history in known_findings.findings(view).values())
    counted = [one for one in every if one.kind in pipeline_rows.COUNTED]
    findings = record_evidence.counted_in_window(view, counted)
    comparisons, sampled = record_evidence.comparisons(view), record_evidence.sampled(view)
    ages = answers.unread_for(view, standings)
    return [pipeline_rows.row(known, findings, comparisons, sampled, ages, view) for known in standings]


def _findings(known: Standing, view: View) -> None:
    for finding in known.judged.findings[:FINDINGS]:
        with st.container(horizontal=True, vertical_alignment="center", key=f"because-{finding.finding_id}"):
            since = f"since {wording.since(finding.happened_at_ms, view.to_ms)} UTC"
            title = f"{grade(finding.grade)} {in_markdown(finding.title, 160)} :gray[{since}]"
            st.markdown(title, width="stretch")
            st.page_link(VIOLATIONS, label=":blue[Evidence →]", query_params={"finding": finding.finding_id}, icon="")
    if len(known.judged.findings) > FINDINGS:
        total = len(known.judged.findings)
        st.caption(wording.cut_note(FINDINGS, total, "findings", "the worst", "Violations lists them all."))
    if not known.judged.findings and known.judged.verdict is Verdict.OK:
        st.markdown(":gray[Nothing the promise forbids was seen.]")


def _unknowns(known: Standing) -> None:
    unknowns = known.judged.unknowns
    if unknowns:
        more = f" and {wording.count(len(unknowns) - UNKNOWNS)} more" if len(unknowns) > UNKNOWNS else ""
        reasons = "; ".join(in_markdown(one.reason, 160) for one in unknowns[:UNKNOWNS])
        st.markdown(f":gray-badge[? Not known] {reasons}{more}.")


COLUMNS = {
    "Verdict": st.column_config.TextColumn(width=95),
    "Pipeline": st.column_config.TextColumn(width=165),
    "Promise": st.column_config.TextColumn(width=150),
    "Because": st.column_config.TextColumn(width=260),
    "Lag": tables.number("Lag, offsets", "To the high watermark; a dash where a partition is unknown"),
    "Behind": tables.behind("the worst"),
    "Trend": st.column_config.AreaChartColumn(y_min=0, width=80, help=f"Of the group. {tables.TREND}"),
    "Lost": st.column_config.TextColumn(
        "Lost, ids", width=120, help="Message ids in the window that never reached the sink"
    ),
    "Duplicated": st.column_config.TextColumn(
        "Duplicated, records", help="Records of source and sink in the window that are stored more than once"
    ),
}
