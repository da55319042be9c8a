"""Which partitions are behind, since when, and what happened then."""

import streamlit as st

from dashboard import answers, chart_rows, groups_shown, lag_answers, left_topics, shapes, wording
from dashboard.charts.lag import lag_over_time
from dashboard.components import clicked_moment, cluster_panels, lag_tables, panel, partition_panel, twins
from dashboard.components.panel import Panel
from dashboard.names import in_markdown
from dashboard.view import View
from guarantees.observations import Signal

OFFSETS = (Signal.LOG_START, Signal.COMMITTED_OFFSETS, Signal.END_OFFSETS)


def groups(view: View) -> None:
    found = answers.group_lag(view)
    if not found:
        panel.none_sampled(view, "No group with a committed offset", "Health says what was asked for.")
        return
    trends, unread_for = groups_shown.trends(view), groups_shown.unread_for(view)
    lag_tables.groups(groups_shown.rows(view), len(found), trends, unread_for, (DETAIL, PARTITION))


def detail(view: View) -> None:
    group_id = answers.chosen_group(view, st.query_params.get("group"))
    if group_id is None:
        panel.none_sampled(view, "Nothing to draw: no group", "")
        return
    history, events = lag_answers.lag_history(view, group_id), answers.events(view, group_id)
    st.markdown(f"Group **{in_markdown(group_id)}**")
    figure = lag_over_time(history, events, view)
    alt = f"Lag of each partition over time; {wording.NOT_OBSERVED}"
    clicked_moment.draw(figure, view, key="lag-figure", alt=alt, rerun=[PARTITION.fragment_key])
    notes = wording.lag_chart_notes(history.partitions, len(history.labels), history.unknown_reasons)
    notes += left_topics.notes(left_topics.of_group(view, group_id))
    notes += shapes.before_note(events, view.from_ms)
    st.caption(" ".join([*notes, *([clicked_moment.HINT] if view.is_frozen else [])]))
    twins.draw("lag", lambda: chart_rows.of_lag(history, events))
    lag_tables.group_partitions(view, group_id, PARTITION)


PARTITION = Panel("Partition", partition_panel.draw, OFFSETS)
DETAIL = Panel("Partitions over time", detail, OFFSETS)

st.title("Lag", anchor=False)
panel.show(Panel("Groups, most lag first", groups, OFFSETS))
panel.show(DETAIL)
panel.show(PARTITION)
panel.show(Panel("Share groups", cluster_panels.share_groups, (Signal.SHARE_OFFSETS,)))
