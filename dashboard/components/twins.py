"""What a chart draws, as tables: made only while the reader looks at them."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from dashboard import wording
from dashboard.chart_rows import Twin
from dashboard.components import grid, tables

ROWS = 300


def draw(chart: str, make: Callable[[], Sequence[Twin]]) -> None:
    """`chart`: its name among the charts of all pages."""
    with st.expander("As tables", on_change="rerun", key=f"{chart}-as-tables") as box:
        if box.open:
            for twin in make():
                _table(twin)


def _table(twin: Twin) -> None:
    if not twin.rows:
        return
    shown = pd.DataFrame(twin.rows[:ROWS]).convert_dtypes()
    counts = {name: tables.number(name) for name in shown.columns if pd.api.types.is_integer_dtype(shown[name])}
    grid.draw(
        shown, placeholder="not known", column_config=counts, height=min(320, 38 + 35 * len(shown)),
        alt=twin.alt,
    )  # fmt: skip
    if len(twin.rows) > ROWS:
        st.caption(wording.cut_note(ROWS, len(twin.rows), "rows", "the newest", "A shorter window shows the others."))
