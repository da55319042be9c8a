"""What happened to transactional ids as a table, the newest first."""

import pandas as pd
import streamlit as st

from dashboard import expired, timeline_rows, wording
from dashboard.components import grid, panel, tables
from dashboard.queries import Rows
from dashboard.view import View
from guarantees.observations import Signal


def draw(rows: Rows, view: View, asked: View) -> None:
    """The newest steps that the search finds of `view`: as much of the window `asked` for."""
    is_cut, not_kept = view.from_ms > asked.from_ms, expired.in_window(view)
    if not rows and not_kept:
        panel.empty(
            f"No step of a transactional id{wording.searched(view)} is known: {not_kept.reason}.", expired.REMEDY
        )
        return
    if not rows:
        _none(view, "the last 24 h of this window" if is_cut else "this window")
        return
    _table(rows, view)
    if is_cut:
        st.caption("Only the last 24 h of the window are shown: what tells of transactional ids is raw and expires.")
    if not_kept:
        st.caption(expired.sentence(not_kept))


def _none(view: View, within: str) -> None:
    panel.none_seen(
        view,
        "No step of a transactional id",
        "was seen",
        "Between two samples only the coordinators' own records tell: Health says whether they are read.",
        signal=Signal.TRANSACTIONS,
        within=within,
    )


def _table(rows: Rows, view: View) -> None:
    shown = pd.DataFrame([timeline_rows.table_row(row, view) for row in rows])
    for counted in ("Partitions", "Transactions"):
        shown[counted] = pd.array(shown[counted].tolist(), dtype="Int64")
    grid.draw(
        shown,
        height=min(360, 38 + 35 * len(shown)),
        placeholder="–",
        column_config=COLUMNS,
        alt="What happened to transactional ids, the newest first",
    )
    if (found := rows[0]["found"]) > len(rows):
        remedy = "Search a transactional id, or shorten the window."
        st.caption(wording.cut_note(len(rows), found, "steps", "the newest", remedy))


COLUMNS = {
    "What": st.column_config.TextColumn(width=110),
    "Why": st.column_config.TextColumn("By whom, as far as told", width=330),
    "Lasted": st.column_config.TextColumn(help="Since the transaction began, by its coordinator"),
    "Producer": st.column_config.TextColumn("Producer id · epoch"),
    "Partitions": tables.number("Partitions", "A dash: they were not read"),
    "Transactions": tables.number(
        "Transactions", "How many the row stands for: commits of one id within a second are one row"
    ),
    "Told by": st.column_config.TextColumn(
        width=170,
        help="Coordinator: its records in __transaction_state, by its own clock. Samples: seen open in one and not in "
        "the next, where READ on that topic is not permitted",
    ),
}
