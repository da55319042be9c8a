"""Figures. Gaps stay gaps; times are UTC; colour never says anything alone; names are escaped for Plotly."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard import wording
from dashboard.names import in_figure
from dashboard.shapes import LagHistory, Mark, Span
from dashboard.view import View
from guarantees.promises import Verdict

LINE, LINE_ON_DARK = "#0072B2", "#56B4E9"
TONES = ("#0072B2", "#56B4E9")
REBALANCING = "#D55E00"
NOT_OBSERVED = "rgba(128, 140, 152, 0.18)"
LANE_PX, TOTAL_PX, AXIS_PX = 22, 110, 46
STILL = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}
SYMBOLS: Mapping[Verdict, str] = {verdict: look.marker for verdict, look in wording.LOOKS.items()}


def lag_over_time(history: LagHistory, events: Sequence[Mark], view: View) -> go.Figure:
    """Total lag, lag per partition and what happened, above one another on one time axis."""
    lanes = sorted({mark.lane for mark in events}) or ["no events"]
    heights = [TOTAL_PX, max(3, len(history.labels)) * LANE_PX, len(lanes) * LANE_PX]
    figure = make_subplots(
        rows=3, cols=1, shared_xaxes=True, vertical_spacing=26 / (sum(heights) + 52), row_heights=heights
    )
    figure.add_trace(_total(history, _line(view)), row=1, col=1)
    figure.add_trace(_heatmap(history), row=2, col=1)
    for trace in _marks(events, _line(view)):
        figure.add_trace(trace, row=3, col=1)
    figure.update_yaxes(title_text="total, offsets", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(type="category", autorange="reversed", row=2, col=1)
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=lanes, row=3, col=1)
    figure.add_shape(
        type="rect", xref="x2 domain", yref="y2 domain", x0=0, x1=1, y0=0, y1=1,
        fillcolor=NOT_OBSERVED, line_width=0, layer="below",
    )  # fmt: skip
    return _framed(figure, history.from_ms, view.to_ms, sum(heights) + 52)


def strip(marks: Sequence[Mark], view: View) -> go.Figure:
    """What broke, by kind and time: shape and colour say how bad, size says how much."""
    lanes = sorted({mark.lane for mark in marks}, reverse=True)
    figure = go.Figure(_marks(marks, _line(view)))
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=lanes)
    return _framed(figure, view.from_ms, view.to_ms, max(2, len(lanes)) * (LANE_PX + 6))


def member_lanes(spans: Sequence[Span], view: View) -> go.Figure:
    """Who was in the group when, and when the group was rebalancing."""
    lanes = list(dict.fromkeys(span.lane for span in spans))
    figure = go.Figure(_bars(spans, view.from_ms))
    figure.update_layout(barmode="overlay", bargap=0.25)
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=[in_figure(lane) for lane in reversed(lanes)]
    )
    return _framed(figure, view.from_ms, view.to_ms, max(2, len(lanes)) * (LANE_PX + 8))


def _total(history: LagHistory, line: str) -> go.Scatter:
    return go.Scatter(
        x0=_time(history.from_ms),
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
        x0=_time(history.from_ms),
        dx=history.bucket_ms,
        y=[in_figure(label, 24) for label in history.labels],
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


def _marks(marks: Iterable[Mark], line: str) -> list[go.Scatter]:
    """One trace for each verdict: its shape, its colour, its word."""
    by_verdict: dict[Verdict | None, list[Mark]] = {}
    for mark in marks:
        by_verdict.setdefault(mark.verdict, []).append(mark)
    return [_mark_trace(verdict, group, line) for verdict, group in by_verdict.items()]


def _mark_trace(verdict: Verdict | None, marks: Sequence[Mark], line: str) -> go.Scatter:
    look = wording.LOOKS[verdict] if verdict else None
    return go.Scatter(
        x=[_time(mark.at_ms) for mark in marks],
        y=[in_figure(mark.lane) for mark in marks],
        mode="markers",
        marker={
            "symbol": SYMBOLS[verdict] if verdict else "line-ns-open",
            "color": look.colour if look else line,
            "opacity": 1,
            "size": [_mark_px(mark.size) for mark in marks],
            "line": {"width": 1.5, "color": look.colour if look else line},
        },
        text=[in_figure(mark.text, 120) for mark in marks],
        name=look.word if look else "information",
        hovertemplate="%{text}<br>%{x|%Y-%m-%d %H:%M:%S} UTC<extra></extra>",
    )


def _mark_px(size: int | None) -> float:
    """9 to 20 px, growing with the decimal digits of the count."""
    return 9.0 if size is None else min(20.0, 9.0 + 2.5 * float(np.log10(size + 1)))


def _bars(spans: Sequence[Span], from_ms: int) -> list[go.Bar]:
    return [
        go.Bar(
            orientation="h",
            y=[in_figure(span.lane) for span in group],
            base=[_time(max(from_ms, span.from_ms)) for span in group],
            x=[max(1, span.to_ms - max(from_ms, span.from_ms)) for span in group],
            marker={"color": colour, "line": {"width": 0}},
            text=[in_figure(span.text, 60) for span in group],
            textposition="inside",
            insidetextanchor="start",
            name=name,
            hovertemplate="%{y}<br>%{text}<extra></extra>",
        )
        for tone, colour, name in ((0, TONES[0], "assignment"), (1, TONES[1], "next assignment"),
                                   (None, REBALANCING, "rebalancing"))
        if (group := [span for span in spans if span.tone == tone])
    ]  # fmt: skip


def _line(view: View) -> str:
    """Blue that is neither too dim nor too bright."""
    return LINE_ON_DARK if view.is_dark else LINE


def _framed(figure: go.Figure, from_ms: int, to_ms: int, height_px: int) -> go.Figure:
    figure.update_xaxes(type="date", range=[_time(from_ms), _time(to_ms)], fixedrange=True, showgrid=True)
    figure.update_yaxes(fixedrange=True, automargin=True)
    return figure.update_layout(
        height=height_px + AXIS_PX,
        margin={"l": 8, "r": 8, "t": 8, "b": AXIS_PX - 8},
        showlegend=False,
        hovermode="closest",
    )


def _time(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
