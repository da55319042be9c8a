"""Rebalances as a table with what each cost, and the group of the selected one: members or storm, and what moved."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import (
    answers,
    cached,
    chart_rows,
    memberships,
    queries,
    rebalance_answers,
    rebalance_costs,
    rebalance_words,
    wording,
)
from dashboard.charts.frame import STILL
from dashboard.charts.members import member_lanes
from dashboard.charts.storm import rebalances_per_bucket
from dashboard.components import local_time, panel, selection, tables, twins
from dashboard.components.panel import Panel
from dashboard.names import in_markdown
from dashboard.queries import Rows
from dashboard.view import View
from guarantees.observations import Signal

ROWS, MOVES, STORMS = 200, 300, 5


def table(view: View, followed_by: Sequence[Panel]) -> None:
    """The newest rebalances; those of the last quarter of an hour with the lag the group gained. A storm is one row."""
    found = answers.rebalances(view)
    if not found:
        remedy = panel.look_wider(view)
        panel.none_seen(view, "No group", "changed its members or owners", remedy, signal=Signal.GROUPS)
        return
    groups = len({row["group_id"] for row in found})
    st.markdown(f"{wording.plural(len(found), 'rebalance')} of {wording.plural(groups, 'group')}")
    for group_id, number in list(rebalance_costs.storms(found).items())[:STORMS]:
        st.markdown(f":orange-badge[▲ Storm] **{in_markdown(group_id)}**: {wording.count(number)} rebalances")
    rows = rebalance_costs.listed(found)
    shown = pd.DataFrame(rebalance_answers.costs(view, rows[:ROWS])).astype(dict.fromkeys(COUNTS, "Int64"))
    selection.table(
        "rebalance",
        [rebalance_answers.identity_of_row(*row) for row in rows[:ROWS]],
        shown,
        rerun=[one.fragment_key for one in followed_by],
        parts=("member",),
        height=min(320, 38 + 35 * len(shown)),
        placeholder="–",
        column_config=COLUMNS,
        alt="Rebalances, the newest first",
    )
    if len(rows) > ROWS:
        remedy = "The search or a shorter window shows others."
        st.caption(wording.cut_note(ROWS, len(rows), "rows", "the newest", remedy))


def detail(view: View) -> None:
    """The group of the selected rebalance or member, without one of the newest rebalance."""
    asked, linked = st.query_params.get("rebalance"), st.query_params.get("member")
    one = None if linked is None or asked is not None else memberships.chosen(linked)
    group_id = answers.rebalanced_group(view, asked) if one is None else one[0]
    if group_id is None:
        panel.empty("Select a rebalance or a member to see who owned what.")
        return
    st.markdown(f"Group **{in_markdown(group_id)}**")
    mine = [row for row in cached.in_window(view, queries.REBALANCES) if row["group_id"] == group_id]
    if len(mine) > rebalance_costs.STORM:
        _storm(mine, view)
    else:
        _lanes(view, group_id)
    chosen = next((row for row in mine if rebalance_answers.identity(row) == asked), None)
    if chosen is not None:
        _moved(chosen, view)
    if one is not None:
        _held(view, *one)


def _held(view: View, group_id: str, member_id: str) -> None:
    rows = memberships.held_rows(cached.in_window(view, queries.MEMBERS, group_id=group_id), member_id, view)
    if not rows:
        panel.empty("The selected member was not seen in this window.", "Select one in the table below.")
        return
    st.markdown(f"**Selected member** {in_markdown(member_id)}")
    tables.plain(rows, None, "What the selected member held, the newest first")


def _lanes(view: View, group_id: str) -> None:
    members = cached.in_window(view, queries.MEMBERS, group_id=group_id)
    spans = memberships.lanes(members, answers.group_states(view, group_id))
    figure = member_lanes(spans, view)
    st.plotly_chart(figure, config=STILL, alt="Members of the group over time with the partitions they own")
    st.caption("Each bar is one assignment, two blues in turn. A change is seen at the next sample, never between two.")
    twins.draw("members", lambda: chart_rows.of_members(spans))


def _storm(mine: Rows, view: View) -> None:
    known = rebalance_answers.counted(view, mine)
    figure = rebalances_per_bucket(known, view)
    st.plotly_chart(figure, config=STILL, alt="Rebalances of the group over time; tables follow")
    st.caption(
        f"{wording.count(len(mine))} rebalances are too many to draw one by one: they are counted by "
        f"{wording.duration(known.bucket_ms)}. Grey: the groups were not asked, never zero. A shorter window lists "
        "each and shows the members."
    )
    twins.draw("storm", lambda: chart_rows.of_storm(known))


def _moved(chosen: queries.Row, view: View) -> None:
    cost = rebalance_answers.cost_of(view, chosen)
    st.markdown(
        f"**Selected rebalance** seen {wording.utc(chosen['observed_at_ms'])} · pause {cost['Pause']} · "
        + rebalance_words.gained(cost["Lag gained"]),
        help=local_time.hover(("after", chosen["changed_after_ms"]), ("seen", chosen["observed_at_ms"])),
    )
    for sentence in rebalance_words.told(chosen):
        st.markdown(in_markdown(sentence, 400))
    rows = rebalance_costs.moves(chosen)
    if not rows:
        panel.empty("No partition changed hands.")
        return
    tables.plain(rows[:MOVES], None, "Partitions that changed hands in the selected rebalance")
    if len(rows) > MOVES:
        st.caption(wording.cut_note(MOVES, len(rows), "partitions", "the first", "The store holds them all."))


COUNTS = ("Lag gained", "Partitions moved", "Joined", "Left")
COLUMNS = {
    "Rebalances": tables.number("Rebalances", "More than one: a storm, whose row stands for all of the window"),
    "Cause (inferred)": st.column_config.TextColumn(width=300),
    "Pause": st.column_config.TextColumn(
        help="How long the group was rebalancing: at least as long as samples saw it so, at most from the last settled "
        "sample to the next. With cooperative assignors and the consumer protocol members read on meanwhile"
    ),
    "Told by": st.column_config.TextColumn(
        help="Coordinator: its own records in __consumer_offsets, by its own clock. Samples: seen between two of them"
    ),
    "Lag gained": tables.number(
        "Lag gained, offsets",
        "From the round before the change to the one after it; a dash where either is unknown or more than 15 minutes "
        "before the end of the window: select the rebalance",
    ),
}
