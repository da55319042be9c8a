"""Is delivery safe: one sentence, how much, which pipeline, and what proves it."""

import streamlit as st

from dashboard import answers, cached, wording
from dashboard.components import overview, panel, parts, pipeline_panel
from dashboard.components.panel import Panel
from dashboard.view import View
from guarantees.observations import Signal


def answer(view: View) -> None:
    newest_ms = cached.evidence_age(view, ()).observed_at_ms
    note = wording.answer_note(newest_ms, cached.step_ms(view.cluster), view)
    overview.answer(answers.standings(view), f"{note} · {wording.rounds(answers.rounds_seen(view))}", newest_ms)


def pipelines(view: View) -> None:
    known = answers.standings(view)
    if not known:
        panel.empty("No pipeline matches.", "Clear the search; without any group there is nothing to propose yet.")
        return
    pipeline_panel.table(known, view, DETAIL)
    if any(one.pipeline.is_inferred for one in known):
        overview.proposed([one.pipeline for one in known], view.cluster)


def first_steps(view: View) -> None:
    if cached.heard(view) is not None:
        st.rerun()
    parts.checklist(view)


DETAIL = Panel("Pipeline", pipeline_panel.detail)

st.title("Overview", anchor=False)
if cached.heard(panel.look()) is None:
    panel.show(Panel("Before the first answer", first_steps, shows_age=False))
    st.stop()
panel.show(Panel("Is delivery safe?", answer))
panel.show(Panel("How much", overview.draw_tiles, (Signal.COMMITTED_OFFSETS, Signal.END_OFFSETS)))
panel.show(Panel("Pipelines, worst first", pipelines))
panel.show(DETAIL)
panel.show(Panel("What happened when", overview.strip))
panel.show(Panel("Needs attention", overview.attention, shows_age=False))
panel.show(Panel("Tidemark itself", parts.draw, shows_age=False))
