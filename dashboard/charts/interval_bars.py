"""Amounts side by side, each with the interval it lies in."""

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard import wording
from dashboard.charts.frame import LANE_PX, line_colour, sized
from dashboard.names import lanes_in_figure
from dashboard.view import View
from guarantees.findings import Bounds

WHISKER = "#7A8793"


def interval_bars(amounts: Sequence[tuple[str, Bounds]], unit: str, view: View) -> go.Figure:
    """One horizontal bar for each (name, amount), from the top; the whisker is the 95 % interval."""
    middle = [bounds.lower if bounds.estimate is None else bounds.estimate for _, bounds in amounts]
    ends = [value if bounds.upper is None else bounds.upper for value, (_, bounds) in zip(middle, amounts, strict=True)]
    names = lanes_in_figure([name for name, _ in amounts])
    figure = go.Figure(
        go.Bar(
            orientation="h",
            x=middle,
            y=names,
            marker={"color": line_colour(view), "line": {"width": 0}},
            error_x={
                "type": "data", "symmetric": False, "color": WHISKER, "thickness": 1.5, "width": 5,
                "array": [end - value for value, end in zip(middle, ends, strict=True)],
                "arrayminus": [value - bounds.lower for value, (_, bounds) in zip(middle, amounts, strict=True)],
            },
            text=[wording.amount(bounds.lower, bounds.estimate, bounds.upper) for _, bounds in amounts],
            textposition="none",
            hovertemplate="%{y}: %{text} " + unit + "<extra></extra>",
        )
    )  # fmt: skip
    figure.update_xaxes(title_text=unit, rangemode="tozero", tickformat="~s")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=names[::-1])
    figure.update_layout(bargap=0.35)
    return sized(figure, max(2, len(amounts)) * (LANE_PX + 8) + 18)
