"""An incident on one time axis: lag, what is not replicated, what a transaction holds, and what happened, in lanes."""

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.frame import (
    LANE_PX,
    REBALANCING,
    bar_traces,
    bars_of,
    framed,
    lane_text,
    line_colour,
    mark_traces,
    time_text,
)
from dashboard.incident_lanes import IncidentLanes
from dashboard.incident_series import IncidentLines, Lines
from dashboard.names import in_figure, lanes_in_figure
from dashboard.shapes import Span
from dashboard.view import View

LAG_PX, OFFSETS_PX, SPACING_PX, LEGEND_PX = 100, 72, 18, 34
AT_MOST = "rgba(213, 94, 0, 0.35)"
NOT_SAMPLED = "rgba(128, 140, 152, 0.18)"
CURSOR = "#CC79A7"
# Colour never alone: each line has its own dashes too.
OTHERS = (("#CC79A7", "dash"), ("#E69F00", "dot"), ("#7A8793", "dashdot"))
FEWEST_OFFSETS = 4  # an axis of nothing but zeros still counts in whole offsets
BARS = ("lasted", "lasted", "rebalancing")


def incident_over_time(drawn: IncidentLines, lanes: IncidentLanes, at_ms: int, view: View) -> go.Figure:
    """Four plots under one another with a cursor at `at_ms`; grey: no samples are drawn of that time."""
    plots = ((drawn.lag, "lag"), (drawn.not_replicated, "not replicated"), (drawn.held, "held"))
    heights = [LAG_PX, OFFSETS_PX, OFFSETS_PX, len(lanes.names) * LANE_PX]
    whole = sum(heights) + 3 * SPACING_PX
    figure = make_subplots(rows=4, cols=1, shared_xaxes=True, vertical_spacing=SPACING_PX / whole, row_heights=heights)
    for row, (plot, title) in enumerate(plots, 1):
        for trace in _line_traces(plot, view):
            figure.add_trace(trace.update(showlegend=row == 1), row=row, col=1)
        counted = {"rangemode": "tozero", "autorangeoptions": {"include": FEWEST_OFFSETS}, "tickformat": "~s"}
        figure.update_yaxes(title_text=f"{title},<br>offsets", nticks=4, **counted, row=row, col=1)
    for trace in _lane_traces(lanes, view):
        figure.add_trace(trace.update(showlegend=False), row=4, col=1)
    names = [lane_text(name) for name in lanes.names]
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=names[::-1], range=[-0.5, len(names) - 0.5], row=4, col=1
    )
    framed(figure, view.from_ms, view.to_ms, whole + LEGEND_PX)
    return figure.update_layout(
        barmode="overlay",
        bargap=0.25,
        uniformtext={"minsize": 9, "mode": "hide"},
        shapes=[*_not_sampled(drawn, view), _cursor(at_ms)],
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "itemclick": False,
                "itemdoubleclick": False},
        margin_t=LEGEND_PX,
    )  # fmt: skip


def _line_traces(plot: Lines, view: View) -> Iterator[go.Scatter]:
    looks = ((line_colour(view), "solid"), *OTHERS)
    names = lanes_in_figure(list(plot.values))
    for name, values, (colour, dash) in zip(names, plot.values.values(), looks, strict=False):
        yield go.Scatter(
            x0=time_text(plot.from_ms),
            dx=plot.bucket_ms,
            y=values.astype(np.float32),
            # A value between two gaps has no line to be seen by.
            mode="lines+markers",
            marker={"size": 3},
            line={"color": colour, "width": 1.5, "dash": dash},
            connectgaps=False,
            name=name,
            legendgroup=name,
            hovertemplate="%{y:,.0f} offsets<br>%{x|%H:%M:%S} UTC<extra>" + name + "</extra>",
        )


def _lane_traces(lanes: IncidentLanes, view: View) -> Iterator[go.Bar | go.Scatter]:
    yield from bar_traces(lanes.spans, view.from_ms, BARS)
    for spans, colour, name in ((lanes.at_most, AT_MOST, "at most"), (lanes.at_least, REBALANCING, "at least")):
        if spans:
            yield bars_of(_without_words(spans), colour, name, view.from_ms).update(
                hovertext=[in_figure(span.text, 90) for span in spans],
                hovertemplate="%{y}, " + name + "<br>%{hovertext}<extra></extra>",
            )
    yield from mark_traces(lanes.marks, line_colour(view), view.from_ms)


def _without_words(spans: Sequence[Span]) -> list[Span]:
    """Two bars over one another show no words."""
    return [Span(span.lane, span.from_ms, span.to_ms, span.tone, "") for span in spans]


def _not_sampled(drawn: IncidentLines, view: View) -> Iterator[dict[str, object]]:
    """Grey over the times of which no offsets are drawn: outside the quarter of an hour, and where nothing is kept."""
    stretches = [(view.from_ms, drawn.detail[0]), (drawn.detail[1], view.to_ms)]
    plots = [("y2", drawn.not_replicated), ("y3", drawn.held)]
    if drawn.lag.is_empty:
        yield _grey(view.from_ms, view.to_ms, "y")
    for axis, plot in plots:
        for start, end in [(view.from_ms, view.to_ms)] if plot.is_empty else stretches:
            if start < end:
                yield _grey(start, end, axis)


def _grey(from_ms: int, to_ms: int, axis: str) -> dict[str, object]:
    return {
        "type": "rect", "xref": "x", "yref": f"{axis} domain", "x0": time_text(from_ms), "x1": time_text(to_ms),
        "y0": 0, "y1": 1, "fillcolor": NOT_SAMPLED, "line_width": 0, "layer": "below",
    }  # fmt: skip


def _cursor(at_ms: int) -> dict[str, object]:
    moment = time_text(at_ms)
    return {
        "type": "line", "xref": "x", "yref": "paper", "x0": moment, "x1": moment, "y0": 0, "y1": 1,
        "line": {"color": CURSOR, "width": 2, "dash": "dash"},
    }  # fmt: skip
