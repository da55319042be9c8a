"""Is delivery safe: one sentence, how much, which pipeline, and what proves it."""

import streamlit as st

from dashboard import cached, startup, tiles, wording
from dashboard.components import overview, panel
from dashboard.components.panel import Panel
from dashboard.view import View
from guarantees.observations import Signal

ATTENTION_ROWS = 8


def answer(view: View) -> None:
    observed_at_ms = cached.evidence_age(view, ()).observed_at_ms
    overview.answer(cached.standings(view), wording.answer_note(observed_at_ms, cached.step_ms(view.cluster), view))


def numbers(view: View) -> None:
    known, share = cached.concerns(view), cached.settings().thresholds.transaction_overdue_share
    overview.tiles(
        (
            tiles.lag(cached.group_lag(view), cached.lag_trend(view, cached.SPARK_POINTS)),
            tiles.lost(known, cached.comparisons(view), view.to_ms),
            tiles.duplicates(known, cached.sampled(view), view.to_ms),
            tiles.replication(cached.replication(view)),
            tiles.transactions(cached.transactions(view), cached.hanging(view), share, view.to_ms),
        )
    )


def pipelines(view: View) -> None:
    known = cached.standings(view)
    if not known:
        panel.empty("No pipeline matches.", "Clear the search; without any group there is nothing to propose yet.")
        return
    overview.pipelines(known, view)
    if any(one.pipeline.is_inferred for one in known):
        overview.proposed([one.pipeline for one in known], view.cluster)


def attention(view: View) -> None:
    urgent = cached.urgent(view)
    if not urgent:
        panel.empty("Nothing that breaks or weakens a promise is open.")
    overview.attention(urgent[:ATTENTION_ROWS], view)
    if len(urgent) > ATTENTION_ROWS:
        st.page_link(overview.VIOLATIONS, label=f"All {wording.count(len(urgent))} of them")


def first_steps(view: View) -> None:
    if cached.heard(view) is not None:
        st.rerun()
    overview.checklist(startup.checklist(cached.settings(), view, cached.attempts(view), cached.parts(view)))


def parts(view: View) -> None:
    st.markdown(startup.parts_line(cached.parts(view), cached.newest_by_part(view), view))


st.title("Overview", anchor=False)
if cached.heard(panel.look()) is None:
    panel.show(Panel("Before the first answer", first_steps, shows_age=False))
    st.stop()
panel.show(Panel("Is delivery safe?", answer))
panel.show(Panel("How much", numbers, (Signal.COMMITTED_OFFSETS, Signal.END_OFFSETS)))
panel.show(Panel("Pipelines, worst first", pipelines))
panel.show(Panel("Needs attention", attention, shows_age=False))
panel.show(Panel("Tidemark itself", parts, shows_age=False))
