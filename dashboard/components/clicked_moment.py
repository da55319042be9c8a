"""A chart over time. In a window that stands still, a click on a point writes its moment into the link, as `at`."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import view as views
from dashboard.charts.frame import STILL
from dashboard.view import View

HINT = "Click a point to choose its moment."


def draw(figure: Any, view: View, *, key: str, alt: str, rerun: Sequence[str] = ()) -> None:
    """`rerun`: other fragments that show the moment. A live chart is made anew at each refresh and would lose a click,
    so it takes none.
    """
    if not view.is_frozen:
        st.plotly_chart(figure, config=STILL, alt=alt)
        return
    st.plotly_chart(
        figure, config=STILL, alt=alt, key=key, selection_mode="points", on_select=lambda: _choose(key, rerun)
    )


def moment_of(points: Sequence[Any]) -> str | None:
    """The moment the first point carries, as it stands in a link. Plotly hands it back bare or in a list."""
    for point in points:
        carried = point.get("customdata")
        text = carried[0] if isinstance(carried, list | tuple) and carried else carried
        if isinstance(text, str) and views.parse_time(text) is not None:
            return text
    return None


def _choose(key: str, rerun: Sequence[str]) -> None:
    if moment := moment_of(st.session_state[key].selection.points):
        st.query_params["at"] = moment
    if rerun:
        st.rerun(list(rerun))
