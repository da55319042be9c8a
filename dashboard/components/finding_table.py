"""Findings as a table with single-row selection."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import wording
from dashboard.components import selection, tables
from dashboard.components.panel import Panel
from dashboard.concerns import Concern
from dashboard.names import cut
from dashboard.view import View


def draw(found: Sequence[Concern], view: View, *, shown_by: Panel) -> None:
    rows = pd.DataFrame([_row(concern, view) for concern in found])
    selection.table(
        "finding",
        [concern.finding.finding_id for concern in found],
        tables.coloured(rows, "Verdict"),
        rerun=shown_by.fragment_key,
        height=min(320, 38 + 35 * len(found)),
        column_config={
            "Verdict": st.column_config.TextColumn(width=100),
            "What": st.column_config.TextColumn(width=130),
            "Finding": st.column_config.TextColumn(width=310),
            "How much": st.column_config.TextColumn(width=140),
        },
        alt="Findings, worst first",
    )


def _row(concern: Concern, view: View) -> dict[str, object]:
    finding = concern.finding
    return {
        "Verdict": wording.LOOKS[concern.verdict].text if concern.verdict else wording.INFORMATION,
        "What": wording.KINDS[finding.kind],
        "Finding": cut(finding.title, 120),
        "Since (UTC)": wording.since(finding.happened_at_ms, view.to_ms),
        "How much": wording.bounds(finding.bounds),
        "Grade": str(finding.grade),
        "State": "open" if finding.closed_reason is None else "closed",
        "Pipeline": ", ".join(cut(pipeline.name) for pipeline, _ in concern.broken) or "–",
    }
