"""Rebalances of a group that are too many to draw one by one."""

import plotly.graph_objects as go

from dashboard.charts.frame import framed, line_colour, time_text
from dashboard.rebalance_costs import Counts
from dashboard.view import View

HEIGHT_PX = 110


def rebalances_per_bucket(known: Counts, view: View) -> go.Figure:
    """How many rebalances were seen when."""
    bars = go.Bar(
        x0=time_text(known.from_ms),
        dx=known.bucket_ms,
        y=known.counts,
        offset=0,
        width=known.bucket_ms,
        marker={"color": line_colour(view), "line": {"width": 0}},
        hovertemplate="%{y} rebalances from %{x|%H:%M:%S} UTC<extra></extra>",
    )
    figure = go.Figure(bars)
    figure.update_yaxes(title_text="rebalances", rangemode="tozero")
    return framed(figure, known.from_ms, view.to_ms, HEIGHT_PX)
