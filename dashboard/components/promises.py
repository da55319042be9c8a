"""Promises on the health page: one row for each pipeline, and of the selected one what its promise needs."""

import pandas as pd
import streamlit as st

from dashboard import answers, cause_answers, health, wording
from dashboard.components import overview, panel, selection, tables
from dashboard.components.panel import Panel
from dashboard.names import in_markdown
from dashboard.view import View


def draw(view: View, *, shown_by: Panel) -> None:
    """The pipelines with their promises, worst first; `shown_by` explains the selected one."""
    standings = answers.standings(view)
    if not standings:
        overview.no_pipeline(view)
        return
    rows = pd.DataFrame([health.promise_row(known) for known in standings])
    selection.table(
        "pipeline",
        [known.pipeline.name for known in standings],
        tables.coloured(rows, "Verdict"),
        rerun=shown_by.fragment_key,
        height=min(320, 38 + 35 * len(standings)),
        alt="Pipelines and their promises, worst first",
    )


def needs(view: View) -> None:
    """Of the selected pipeline: why the promise is taken for its own, and what it needs, met, missing or unknown."""
    found = cause_answers.needs(view, st.query_params.get("pipeline"))
    if found is None:
        panel.empty("Select a pipeline in the table to see what its promise needs.")
        return
    pipeline = found.pipeline
    made = wording.promise(pipeline.promise, pipeline.is_inferred)
    st.markdown(f"**{in_markdown(pipeline.name)}** promises {made}")
    if found.inference is not None:
        facts = [f"- {in_markdown(r.fact, 300)} :gray[{r.source}]" for r in found.inference.reasons]
        unseen = [f"- :gray[? {in_markdown(sentence, 300)}]" for sentence in found.inference.unseen]
        st.markdown("\n".join([*facts, *unseen]))
    tables.plain([health.requirement_row(one) for one in found.requirements], "State", "What the promise needs")
