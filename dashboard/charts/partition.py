"""One partition of a group: lag to both ends, age of what is unread, owner and events on one time axis."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.frame import (
    LANE_PX,
    bar_traces,
    framed,
    line_colour,
    line_to_click,
    marks_to_click,
    time_text,
)
from dashboard.partition_history import OWNER, REBALANCING, PartitionHistory
from dashboard.shapes import Mark, Span
from dashboard.view import View

READABLE = "#E69F00"
LAG_PX, AGE_PX = 120, 70


def partition_over_time(
    history: PartitionHistory, owners: Sequence[Span], events: Sequence[Mark], view: View
) -> go.Figure:
    """Lag to the high watermark over lag to the last stable offset: what lies between them is blocked."""
    lanes = [*sorted({mark.lane for mark in events}), REBALANCING, OWNER]
    heights = [LAG_PX, AGE_PX, len(lanes) * LANE_PX]
    figure = make_subplots(
        rows=3, cols=1, shared_xaxes=True, vertical_spacing=26 / (sum(heights) + 52), row_heights=heights
    )
    for row, line in (
        (1, _line(history, history.lag, line_colour(view), "to high watermark", "offsets")),
        (1, _line(history, history.readable, READABLE, "to last stable", "offsets", "dot")),
        (2, _line(history, history.unread_for_s, line_colour(view), "unread for", "s")),
    ):
        figure.add_trace(line_to_click(line, history.from_ms, history.bucket_ms, view), row=row, col=1)
    for trace in [*bar_traces(owners, view.from_ms), *marks_to_click(events, view)]:
        figure.add_trace(trace, row=3, col=1)
    figure.update_yaxes(title_text="lag, offsets", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="unread for, s", rangemode="tozero", row=2, col=1)
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=lanes, row=3, col=1)
    figure.update_layout(barmode="overlay", bargap=0.25)
    return framed(figure, history.from_ms, view.to_ms, sum(heights) + 52)


def _line(
    history: PartitionHistory, values: np.ndarray, colour: str, name: str, unit: str, dash: str = "solid"
) -> go.Scatter:
    return go.Scatter(
        x0=time_text(history.from_ms),
        dx=history.bucket_ms,
        y=values.astype(np.float32),
        mode="lines",
        line={"color": colour, "width": 1.5, "dash": dash},
        connectgaps=False,
        name=name,
        hovertemplate=f"%{{y:,.0f}} {unit}<extra>{name}</extra>",
    )
