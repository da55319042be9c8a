"""One partition: what is not replicated or not readable, how far each replica is behind, and who led when."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.frame import LANE_PX, REBALANCING, bar_traces, framed, line_colour, mark_traces, time_text
from dashboard.low_isr import LowStretch
from dashboard.replica_offsets import ReplicaHistory
from dashboard.replication_lanes import BELOW, LANES, ReplicationLanes
from dashboard.view import View

OFFSETS_PX, BEHIND_PX, SPACING_PX = 130, 110, 46
NOT_REPLICATED = "#CC79A7"
AT_MOST = "rgba(213, 94, 0, 0.35)"
# Colour never alone: each replica has its own dashes too.
REPLICAS = (("#CC79A7", "dash"), ("#E69F00", "dot"), ("#009E73", "dashdot"), ("#7A8793", "longdash"))
FEWEST_OFFSETS = 4  # an axis of nothing but zeros still counts in whole offsets
BARS = ("held", "held next", "no leader")


def replication_over_time(history: ReplicaHistory, leaders: set[int], lanes: ReplicationLanes, view: View) -> go.Figure:
    """Three plots on one time axis. `leaders` led all the time that was sampled: behind themselves they are never."""
    heights = [OFFSETS_PX, BEHIND_PX, len(LANES) * (LANE_PX + 4)]
    whole = sum(heights) + 2 * SPACING_PX
    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=SPACING_PX / whole, row_heights=heights)
    for trace in (_area("not replicated yet", history.at_ms, history.not_replicated, NOT_REPLICATED),
                  _area("held by a transaction", history.at_ms, history.held, line_colour(view))):  # fmt: skip
        figure.add_trace(trace, row=1, col=1)
    followers = {one: its for one, its in history.behind.items() if one not in leaders}
    for trace in _behind(history.at_ms, followers, line_colour(view)):
        figure.add_trace(trace, row=2, col=1)
    for trace in (*bar_traces(lanes.spans, view.from_ms, BARS), *_low_bars(lanes.low)):
        figure.add_trace(trace.update(showlegend=False), row=3, col=1)
    for trace in mark_traces(lanes.marks, line_colour(view), view.from_ms):
        figure.add_trace(trace.update(showlegend=False), row=3, col=1)
    counted = {"rangemode": "tozero", "autorangeoptions": {"include": FEWEST_OFFSETS}}
    figure.update_yaxes(title_text="offsets", **counted, row=1, col=1)
    figure.update_yaxes(title_text="behind, offsets", **counted, row=2, col=1)
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=LANES[::-1], range=[-0.5, len(LANES) - 0.5], row=3, col=1
    )
    figure.update_layout(barmode="overlay", bargap=0.25, uniformtext={"minsize": 9, "mode": "hide"})
    return _with_legends(framed(figure, view.from_ms, view.to_ms, whole + SPACING_PX), whole)


def _area(name: str, at_ms: np.ndarray, values: np.ndarray, colour: str) -> go.Scatter:
    return go.Scatter(
        x=at_ms,
        y=values,
        name=name,
        mode="lines",
        fill="tozeroy",
        line={"color": colour, "width": 1.5},
        connectgaps=False,
        legend="legend",
        hovertemplate="%{y:,.0f} offsets<extra>" + name + "</extra>",
    )


def _behind(at_ms: np.ndarray, behind: Mapping[int, np.ndarray], line: str) -> Iterator[go.Scatter]:
    looks = ((line, "solid"), *REPLICAS)
    for number, (replica, values) in enumerate(behind.items()):
        colour, dash = looks[number % len(looks)]
        yield go.Scatter(
            x=at_ms,
            y=values,
            name=f"broker {replica}",
            mode="lines",
            line={"color": colour, "width": 1.5, "dash": dash},
            connectgaps=False,
            legend="legend2",
            hovertemplate=f"%{{y:,.0f}} offsets<extra>broker {replica}</extra>",
        )


def _low_bars(low: Sequence[LowStretch]) -> list[go.Bar]:
    """Pale from the last good sample to the next one: at most; full from the first low sample to the last: at least."""
    return [
        _low_bar([(one.after_ms, one.until_ms) for one in low], AT_MOST, "at most"),
        _low_bar([(one.since_ms, one.last_ms) for one in low], REBALANCING, "at least"),
    ]


def _low_bar(spans: Sequence[tuple[int, int]], colour: str, name: str) -> go.Bar:
    return go.Bar(
        orientation="h",
        y=[BELOW] * len(spans),
        base=[time_text(start) for start, _ in spans],
        x=[max(1, end - start) for start, end in spans],
        marker={"color": colour, "line": {"width": 0}},
        name=name,
        text=[f"{(end - start) / 1000:g} s" for start, end in spans],
        textposition="none",
        hovertemplate=f"below min ISR, {name} %{{text}}<extra></extra>",
    )


def _with_legends(figure: go.Figure, whole_px: int) -> go.Figure:
    """One legend above each of the two plots of offsets."""
    above = {"orientation": "h", "x": 0, "xanchor": "left", "yanchor": "bottom", "itemclick": False,
             "itemdoubleclick": False}  # fmt: skip
    below = figure.layout.yaxis2.domain[1]
    return figure.update_layout(showlegend=True, legend=above | {"y": 1.0}, legend2=above | {"y": below})
