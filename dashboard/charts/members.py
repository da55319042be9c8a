"""Who was in a group when."""

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard.charts.frame import LANE_PX, bar_traces, framed, lane_text
from dashboard.shapes import Span
from dashboard.view import View


def member_lanes(spans: Sequence[Span], view: View) -> go.Figure:
    """Who was in the group when, and when the group was rebalancing."""
    lanes = list(dict.fromkeys(span.lane for span in spans))
    figure = go.Figure(bar_traces(spans, view.from_ms))
    figure.update_layout(barmode="overlay", bargap=0.25)
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=[lane_text(lane) for lane in reversed(lanes)]
    )
    return framed(figure, view.from_ms, view.to_ms, max(2, len(lanes)) * (LANE_PX + 8))
