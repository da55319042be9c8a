"""What changed in the window: one list, one change in full, and the page that shows it."""

import streamlit as st

from dashboard import answers, change_answers, wording
from dashboard.changes import Change, Sort, selections
from dashboard.components import panel, selection
from dashboard.components.panel import Panel
from dashboard.names import cut, in_markdown
from dashboard.view import View

ROWS = 300
SORTS = {one.name.lower(): one.value for one in Sort}
PAGES = {
    "replication": "Replication",
    "rebalances": "Rebalances",
    "violations": "Violations",
    "audit": "Duplicates & loss",
    "health": "Health",
}


def listed(view: View, shown_by: Panel) -> None:
    """Every change of the window, of one kind where one is chosen; newest first."""
    sort = selection.choice("sort", SORTS)
    found = [one for one in change_answers.found(view) if sort is None or one.sort == SORTS[sort]]
    st.caption(f"In the window: {wording.rounds(answers.rounds_seen(view))}.")
    if not found:
        panel.none_seen(
            view,
            "No change" if sort is None else "No change of this kind",
            "was seen",
            "Widen the window. Between two rounds, and while nothing was collected, nothing is seen.",
        )
        return
    shown = found[:ROWS]
    rows = [row(one, view) for one in shown]
    selection.table("change", list(selections(shown)), rows, rerun=shown_by.fragment_key, alt="Changes, newest first")
    if hidden := len(found) - len(shown) + change_answers.left_out(view):
        st.caption(f"{wording.plural(hidden, 'older change')} left out. Narrow the window or the search to see them.")


def chosen(view: View) -> None:
    """One change in full."""
    known = change_answers.found(view)
    asked = st.query_params.get("change")
    one = next((one for one, name in zip(known, selections(known), strict=True) if name == asked), None)
    if one is None:
        panel.empty("No change of this window is selected.", "Select a row above.")
        return
    st.markdown(f"**{one.sort}** · {in_markdown(one.where, 300)}  \n{in_markdown(one.what, 1_000)}")
    after = f" It happened after {wording.utc(one.after_ms)}, the last look before." if one.after_ms else ""
    st.caption(f"First seen at {wording.utc(one.at_ms)}.{after}")
    label = f":blue[{PAGES[one.page]} →]"
    st.page_link(f"dashboard/pages/{one.page}.py", label=label, query_params=dict(one.selected), icon="")


def row(one: Change, view: View) -> dict[str, object]:
    """A change as a line of the table."""
    return {
        "Seen by (UTC)": wording.since(one.at_ms, view.to_ms),
        "After (UTC)": "–" if one.after_ms is None else wording.since(one.after_ms, view.to_ms),
        "Change": one.sort.value,
        "Where": cut(one.where),
        "What": cut(one.what, 200),
    }
