"""Is delivery safe: one sentence, how much, which pipeline, and what proves it."""

import streamlit as st

from dashboard import answers, cached, coverage, wording
from dashboard.components import overview, panel, parts, pipeline_panel
from dashboard.components.panel import Panel
from dashboard.view import View
from guarantees.observations import Signal


def answer(view: View) -> None:
    newest_ms = coverage.age(view, ()).observed_at_ms
    note = wording.answer_note(newest_ms, cached.step_ms(view.cluster), view)
    note += f" · {wording.rounds(answers.rounds_seen(view))}"
    overview.answer(answers.standings(view.without_search()), note, newest_ms)


def pipelines(view: View) -> None:
    known = answers.standings(view)
    if not known:
        overview.no_pipeline(view)
        return
    pipeline_panel.table(known, view, DETAIL)
    if any(one.pipeline.is_inferred for one in known):
        overview.proposed([one.pipeline for one in known], view.cluster)


def first_steps(view: View) -> None:
    if cached.heard(view) is not None:
        st.rerun()
    parts.checklist(view)


OF_TILES = (Signal.COMMITTED_OFFSETS, Signal.END_OFFSETS, Signal.PARTITION_STATES)
DETAIL = Panel("Pipeline", pipeline_panel.detail)

st.title("Overview", anchor=False)
if cached.heard(panel.look()) is None:
    panel.show(Panel("Before the first answer", first_steps, shows_age=False, of_cluster=False))
    st.stop()
panel.show(Panel("Is delivery safe?", answer))
panel.show(Panel("How much", overview.draw_tiles, OF_TILES))
panel.show(Panel("Pipelines, worst first", pipelines))
panel.show(DETAIL)
panel.show(Panel("What happened when", overview.strip))
panel.show(Panel("Needs attention", overview.attention))
panel.show(Panel("Tidemark itself", parts.draw, shows_age=False))
