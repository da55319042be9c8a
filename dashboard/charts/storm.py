"""Rebalances of a group that are too many to draw one by one."""

import plotly.graph_objects as go

from dashboard.charts.frame import framed, gaps, line_colour, time_text
from dashboard.rebalance_costs import Counts
from dashboard.view import View

HEIGHT_PX = 110


def rebalances_per_bucket(known: Counts, view: View) -> go.Figure:
    """How many rebalances were seen when; grey where nobody looked."""
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
    figure.update_layout(shapes=gaps(known.counts, known.from_ms, known.bucket_ms))
    return framed(figure, known.from_ms, view.to_ms, HEIGHT_PX)
