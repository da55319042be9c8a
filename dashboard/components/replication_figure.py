"""One partition in full: the figure, what it cannot show, and its newest sample as tables."""

import streamlit as st

from dashboard import chart_rows, expired, replication_answers
from dashboard.charts.frame import STILL
from dashboard.charts.replication import replication_over_time
from dashboard.components import panel, replication_tables, twins
from dashboard.names import in_markdown
from dashboard.replication_answers import Chosen
from dashboard.view import RAW_WINDOW_MS, View

WHAT_IS_DRAWN = (
    "Not replicated yet: high watermark to the leader's log end. Held by a transaction: last stable offset to high "
    "watermark. Offsets, not records; a gap was not answered or not observed. Below min ISR: full for at least, pale "
    "for at most."
)


def draw(view: View, asked: str | None) -> None:
    """The partition of the link, or the worst one."""
    name = replication_answers.chosen_name(view, asked)
    one = None if name is None else replication_answers.chosen(view, name)
    if one is None:
        remedy = "Select one in the table above." if replication_answers.at_risk(view)[0] else ""
        panel.empty("Nothing to draw: no such partition was observed in this window.", remedy)
        return
    how = "" if asked is not None else " :gray[· none was selected: the worst one, or the one that changed most]"
    st.markdown(f"Partition **{in_markdown(f'{one.topic}-{one.partition}')}**{how}")
    history, lanes = replication_answers.offsets_over_time(view, one), replication_answers.lanes(view, one)
    figure = replication_over_time(history, one.only_leader, lanes, view)
    st.plotly_chart(figure, config=STILL, alt="What is not replicated and not readable, how far each replica is "
                    "behind, and leader, in-sync replicas and elections over time; tables follow")  # fmt: skip
    st.caption(" ".join(_notes(one, view)))
    twins.draw("replication", lambda: chart_rows.of_replication(history, one.only_leader, lanes))
    replication_tables.newest_sample(one)


def _notes(one: Chosen, view: View) -> list[str]:
    notes = [WHAT_IS_DRAWN]
    if view.needs_rollups:
        notes.append("Offsets exist as samples for the last 15 minutes of the window; the lanes cover all of it.")
    if not one.offsets:
        not_kept = expired.between(view, view.to_ms - RAW_WINDOW_MS, view.to_ms)
        stored = "No sample of its offsets was stored in the last 15 minutes of the window."
        notes.append(expired.sentence(not_kept) if not_kept else stored)
    if all(row["eligible_leader_replicas"] is None for row in one.history):
        notes.append("No ELR lane: the feature is off (KIP-966), or nobody asked because every replica was in sync.")
    return notes
