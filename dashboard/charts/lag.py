"""Lag of a group: total, partitions and events above one another on one time axis."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard import wording
from dashboard.charts.frame import LANE_PX, framed, line_colour, line_to_click, marks_to_click, time_text
from dashboard.names import lanes_in_figure
from dashboard.shapes import LagHistory, Mark
from dashboard.view import View

NOT_OBSERVED = "rgba(128, 140, 152, 0.18)"
TOTAL_PX = 110
LABEL = 24  # characters


def lag_over_time(history: LagHistory, events: Sequence[Mark], view: View) -> go.Figure:
    """Total lag, lag per partition and what happened, above one another on one time axis."""
    lanes = sorted({mark.lane for mark in events}) or ["no events"]
    heights = [TOTAL_PX, max(3, len(history.labels)) * LANE_PX, len(lanes) * LANE_PX]
    figure = make_subplots(
        rows=3, cols=1, shared_xaxes=True, vertical_spacing=26 / (sum(heights) + 52), row_heights=heights
    )
    total = _total(history, line_colour(view))
    figure.add_trace(line_to_click(total, history.from_ms, history.bucket_ms, view), row=1, col=1)
    figure.add_trace(_heatmap(history), row=2, col=1)
    for trace in marks_to_click(events, view):
        figure.add_trace(trace, row=3, col=1)
    figure.update_yaxes(title_text="total, offsets", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(type="category", autorange="reversed", row=2, col=1)
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=lanes, row=3, col=1)
    figure.add_shape(
        type="rect", xref="x2 domain", yref="y2 domain", x0=0, x1=1, y0=0, y1=1,
        fillcolor=NOT_OBSERVED, line_width=0, layer="below",
    )  # fmt: skip
    return framed(figure, history.from_ms, view.to_ms, sum(heights) + 52)


def _total(history: LagHistory, line: str) -> go.Scatter:
    return go.Scatter(
        x0=time_text(history.from_ms),
        dx=history.bucket_ms,
        y=history.total.astype(np.float32),
        mode="lines",
        line={"color": line, "width": 1.5},
        connectgaps=False,
        name="total",
        hovertemplate="%{y:,.0f} offsets<extra>total</extra>",
    )


def _heatmap(history: LagHistory) -> go.Heatmap:
    top = max(10.0, float(np.nan_to_num(history.cells).max(initial=0)))
    ticks = [10**power for power in range(int(np.log10(top)) + 1)]
    return go.Heatmap(
        x0=time_text(history.from_ms),
        dx=history.bucket_ms,
        y=lanes_in_figure(history.labels, LABEL),
        z=np.log10(history.cells + 1).astype(np.float32),
        customdata=history.cells,
        zmin=0,
        zmax=float(np.log10(top + 1)),
        colorscale="Cividis",
        xgap=0,
        ygap=1,
        hoverongaps=False,
        hovertemplate="%{customdata:,.0f} offsets<extra>%{y}</extra>",
        colorbar={
            "title": {"text": "lag", "side": "top"},
            "thickness": 10,
            "outlinewidth": 0,
            "tickvals": [0.0, *(float(np.log10(tick + 1)) for tick in ticks)],
            "ticktext": ["0", *(wording.compact(tick) for tick in ticks)],
            "len": 0.6,
        },
    )
