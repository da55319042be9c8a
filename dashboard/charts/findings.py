"""What broke when."""

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard.charts.frame import LANE_PX, framed, line_colour, mark_traces
from dashboard.shapes import Mark
from dashboard.view import View


def strip(marks: Sequence[Mark], view: View) -> go.Figure:
    """What broke, by kind and time: shape and colour say how bad, size says how much."""
    lanes = sorted({mark.lane for mark in marks}, reverse=True)
    figure = go.Figure(mark_traces(marks, line_colour(view), view.from_ms))
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=lanes)
    return framed(figure, view.from_ms, view.to_ms, max(2, len(lanes)) * (LANE_PX + 6))
