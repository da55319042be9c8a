"""The selected partition of a group: its history, and who owned it at a moment."""

import pandas as pd
import streamlit as st

from dashboard import (
    answers,
    cached,
    commit_rows,
    expired,
    lag_answers,
    partition_answers,
    partition_history,
    sample_query,
    shapes,
    wording,
)
from dashboard import view as views
from dashboard.charts.partition import partition_over_time
from dashboard.components import clicked_moment, grid, local_time, panel, tables
from dashboard.names import in_markdown
from dashboard.queries import Rows
from dashboard.view import View
from guarantees.observations import Signal
from guarantees.unknown import Unknown

TABLE_ROWS = 200
SQL = "dashboard/pages/sql.py"
PARTITION_CHART = (
    "Solid: lag to the high watermark. Dotted: to the last stable offset, which a read_committed group can read now; "
    "what lies between is blocked by an open transaction. Unread for: at least so long. A bucket shows the highest "
    "value seen; roll-ups of more than 15 minutes know the lag to the high watermark alone."
)


def draw(view: View) -> None:
    """The partition of `?partition=topic-n`, of the group that is shown."""
    group_id, asked = answers.chosen_group(view, st.query_params.get("group")), st.query_params.get("partition")
    if group_id is None:
        panel.none_sampled(view, "Nothing to draw: no group", "")
        return
    if asked is None:
        panel.empty("Select a partition in the table above to see its history and its owners.")
        return
    place = partition_answers.place(view, group_id, asked)
    if place is None:
        panel.unsampled(view, "The group has no such partition.", "Select one in the table above.")
        return
    st.markdown(f"**{in_markdown(asked)}** of group **{in_markdown(group_id)}**")
    known = partition_answers.points(view, group_id, *place)
    owners = partition_answers.owners(view, group_id, *place)
    states = answers.group_states(view, group_id)
    history = partition_history.series(known, view.from_ms, view.to_ms, lag_answers.chart_step_ms(view))
    marks = partition_answers.events(view, group_id, *place)
    figure = partition_over_time(history, partition_history.owner_spans(owners, states), marks, view)
    alt = "Lag of the partition to both ends, its owners and events over time"
    clicked_moment.draw(figure, view, key="partition-figure", alt=alt)
    hint = [clicked_moment.HINT] if view.is_frozen else []
    st.caption(" ".join([PARTITION_CHART, *shapes.before_note(marks, view.from_ms), *hint]))
    _owner(view, owners, states)
    _commits(partition_answers.commits(view, group_id, *place), view)
    _twin(partition_history.table_rows(known))
    query = {"sql": sample_query.of_partition(group_id, *place)}
    st.page_link(SQL, label=":blue[The samples behind this, in SQL and as CSV →]", query_params=query, icon="")


def _owner(view: View, owners: Rows, states: Rows) -> None:
    """A moment to choose, kept in the link as `at`; without one, the end of the window."""
    linked = st.query_params.get("at")
    at_ms = views.parse_time(linked) if linked else view.to_ms
    key = f"owner-at-{linked}"
    st.text_input(
        "Who owned it at (UTC)",
        views.format_time(at_ms or view.to_ms),
        key=key,
        on_change=_choose,
        args=(key,),
        width=260,
    )
    if at_ms is None:
        panel.empty("This is no time.", "Write it as 2026-03-01T03:12:05Z.")
        return
    said, rows = partition_history.owner_at(owners, states, at_ms, cached.step_ms(view.cluster))
    if not view.from_ms <= at_ms <= view.to_ms:
        said = "Not asked: the moment lies outside the window."
        rows = []
    st.markdown(in_markdown(said, 300), help=local_time.hover(("the moment", at_ms)))
    if rows:
        tables.plain(rows, None, "Who owned the partition at this moment")


def _choose(key: str) -> None:
    st.query_params["at"] = st.session_state[key]


def _commits(rows: Rows, view: View) -> None:
    with st.expander("Its commits, the newest first"):
        not_kept = expired.in_window(view)
        if not rows:
            _no_commit(view, not_kept)
            return
        shown = pd.DataFrame([commit_rows.table_row(row, view) for row in rows])
        shown["Commits"] = pd.array(shown["Commits"].tolist(), dtype="Int64")
        grid.draw(shown, placeholder="–", column_config=COMMIT_COLUMNS, alt="Commits, the newest first")
        if (found := rows[0]["found"]) > len(rows):
            st.caption(wording.cut_note(len(rows), found, "commits", "the newest", "A shorter window shows others."))
        if not_kept:
            st.caption(expired.sentence(not_kept))


def _no_commit(view: View, not_kept: Unknown | None) -> None:
    """Whatever is searched for: the partition is chosen."""
    what, everything = "No commit of the group on this partition", view.without_search()
    if not_kept:
        panel.empty(f"{what} that changed is known of this window: {not_kept.reason}.", expired.REMEDY)
    else:
        panel.none_seen(everything, what, "was seen to change", signal=Signal.COMMITTED_OFFSETS)


COMMIT_COLUMNS = {
    "From": tables.digits("From offset"),
    "To": tables.digits("To offset"),
    "Commits": tables.number(
        "Commits", "How many the row stands for: within a second, those before the last only moved forward"
    ),
    "Producer id": tables.digits("Producer id", "Of the transaction it was committed in"),
    "Told by": st.column_config.TextColumn(
        width=170,
        help="Coordinator: its record in __consumer_offsets, by its own clock; what was aborted is not among them. "
        "Samples: the difference of two, where READ on that topic is not permitted",
    ),
}


def _twin(rows: list[dict[str, object]]) -> None:
    with st.expander("The chart as a table"):
        shown = pd.DataFrame(rows[:TABLE_ROWS]).convert_dtypes()
        grid.draw(shown, placeholder="–", alt="History of the partition, the newest first")
        if len(rows) > TABLE_ROWS:
            st.caption(
                wording.cut_note(TABLE_ROWS, len(rows), "moments", "the newest", "A shorter window shows others.")
            )
