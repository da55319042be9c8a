"""What the figures share: frame, colours, marks and bars. Times are UTC; names are escaped for Plotly."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import plotly.graph_objects as go

from dashboard import wording
from dashboard.names import in_figure
from dashboard.shapes import Mark, Span
from dashboard.view import View, format_time
from guarantees.promises import Verdict

LINE, LINE_ON_DARK = "#0072B2", "#56B4E9"
TONES = ("#0072B2", "#56B4E9")
INKS = ("#FFFFFF", "#10202C", "#FFFFFF")
REBALANCING = "#D55E00"
LANE_PX, AXIS_PX, CLICK_PX = 22, 46, 10
WHOLE = 1_000  # characters
STILL = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}
SYMBOLS: Mapping[Verdict, str] = {verdict: look.marker for verdict, look in wording.LOOKS.items()}
# To the left out of the window; filled or not, it tells a verdict as the other shapes do.
BEFORE: Mapping[Verdict | None, str] = {Verdict.VIOLATED: "triangle-left", None: "arrow-bar-left-open"}
BEFORE_OTHERS = "triangle-left-open"
NOT_OBSERVED = "rgba(128, 140, 152, 0.22)"


def mark_traces(marks: Iterable[Mark], line: str, from_ms: int) -> list[go.Scatter]:
    """One trace for each verdict: its shape, its colour, its word; and one for what it had before `from_ms`."""
    by_look: dict[tuple[Verdict | None, bool], list[Mark]] = {}
    for mark in marks:
        by_look.setdefault((mark.verdict, mark.at_ms < from_ms), []).append(mark)
    return [
        _marks_before(verdict, group, line, from_ms) if is_before else _mark_trace(verdict, group, line)
        for (verdict, is_before), group in by_look.items()
    ]


def _mark_trace(verdict: Verdict | None, marks: Sequence[Mark], line: str) -> go.Scatter:
    if verdict is None:
        return marks_of(marks, "line-ns-open", line, "information")
    return marks_of(marks, SYMBOLS[verdict], wording.LOOKS[verdict].colour, wording.LOOKS[verdict].word)


def _marks_before(verdict: Verdict | None, marks: Sequence[Mark], line: str, from_ms: int) -> go.Scatter:
    """At the edge of the window, pointing out of it: the moment they have is in their words alone."""
    return _mark_trace(verdict, marks, line).update(
        x=[time_text(from_ms)] * len(marks),
        marker_symbol=BEFORE.get(verdict, BEFORE_OTHERS),
        text=[f"{in_figure(mark.text, 120)}<br>{wording.utc(mark.at_ms)[:19]}" for mark in marks],
        hovertemplate="%{text} UTC, before the window<extra></extra>",
        cliponaxis=False,
    )


def marks_of(marks: Sequence[Mark], symbol: str, colour: str, name: str) -> go.Scatter:
    """Moments that mean the same: one shape, one colour, one word; a larger mark counts more."""
    return go.Scatter(
        x=[time_text(mark.at_ms) for mark in marks],
        y=[lane_text(mark.lane) for mark in marks],
        mode="markers",
        marker={
            "symbol": symbol,
            "color": colour,
            "opacity": 1,
            "size": [_mark_px(mark.size) for mark in marks],
            "line": {"width": 1.5, "color": colour},
        },
        text=[in_figure(mark.text, 120) for mark in marks],
        customdata=[mark.finding_id for mark in marks] if marks[0].finding_id else None,
        name=name,
        hovertemplate="%{text}<br>%{x|%Y-%m-%d %H:%M:%S} UTC<extra></extra>",
    )


def _mark_px(size: int | None) -> float:
    """9 to 20 px, growing with the decimal digits of the count."""
    return 9.0 if size is None else min(20.0, 9.0 + 2.5 * float(np.log10(size + 1)))


def line_to_click(line: go.Scatter, first_ms: int, step_ms: int, view: View) -> go.Scatter:
    """A line of a window that stands still can be clicked: its points carry their moments, as a link names them.

    Plotly selects only what has a marker, so each point has one that is not seen until it is chosen.
    """
    if not view.is_frozen:
        return line
    moments = [max(view.from_ms, first_ms + step_ms * at) for at in range(len(line.y))]
    return line.update(
        mode="lines+markers",
        customdata=[format_time(at_ms) for at_ms in moments],
        marker={"size": CLICK_PX, "opacity": 0},
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0}},
    )


def marks_to_click(marks: Iterable[Mark], view: View) -> list[go.Scatter]:
    """Marks that carry their moments, as a link names them."""
    found = mark_traces(marks, line_colour(view), view.from_ms)
    return [trace.update(customdata=[f"{moment}Z" for moment in trace.x]) for trace in found]


def bar_traces(
    spans: Sequence[Span], from_ms: int, names: Sequence[str] = ("assignment", "next assignment", "rebalancing")
) -> list[go.Bar]:
    """One trace for each tone: horizontal bars from where the window begins. `names` are of the tones 0, 1 and None."""
    return [
        bars_of(group, colour, name, from_ms, ink)
        for tone, colour, ink, name in zip((0, 1, None), (*TONES, REBALANCING), INKS, names, strict=True)
        if (group := [span for span in spans if span.tone == tone])
    ]


def bars_of(spans: Sequence[Span], colour: str, name: str, from_ms: int, ink: str | None = None) -> go.Bar:
    """Stretches of time that mean the same, as horizontal bars that begin in the window, their text in `ink`."""
    return go.Bar(
        orientation="h",
        y=[lane_text(span.lane) for span in spans],
        base=[time_text(max(from_ms, span.from_ms)) for span in spans],
        x=[max(1, span.to_ms - max(from_ms, span.from_ms)) for span in spans],
        marker={"color": colour, "line": {"width": 0}},
        text=[in_figure(span.text, 60) for span in spans],
        textposition="inside",
        insidetextanchor="start",
        insidetextfont={"color": ink},
        textangle=0,
        name=name,
        hovertemplate="%{y}<br>%{text}<extra></extra>",
    )


def lane_text(lane: str) -> str:
    """The name of a lane, whole: cut here, two lanes might become one."""
    return in_figure(lane, WHOLE)


def line_colour(view: View) -> str:
    """Blue that is neither too dim nor too bright."""
    return LINE_ON_DARK if view.is_dark else LINE


def gaps(values: np.ndarray, from_ms: int, bucket_ms: int) -> list[dict[str, object]]:
    """A grey rectangle of the upper plot over each run of bars that are not known (NaN)."""
    edges = np.flatnonzero(np.diff(np.isnan(values).astype(np.int8), prepend=0, append=0))
    return [
        {
            "type": "rect", "xref": "x", "yref": "y domain", "y0": 0, "y1": 1, "layer": "below", "line_width": 0,
            "x0": time_text(from_ms + first * bucket_ms), "x1": time_text(from_ms + end * bucket_ms),
            "fillcolor": NOT_OBSERVED,
        }
        for first, end in edges.reshape(-1, 2).tolist()
    ]  # fmt: skip


# UTC and the day stand once, under the first moment of each day.
TICKS = [
    {"dtickrange": [None, 1_000], "value": "%H:%M:%S.%L\n%Y-%m-%d UTC"},
    {"dtickrange": [1_000, 60_000], "value": "%H:%M:%S\n%Y-%m-%d UTC"},
    {"dtickrange": [60_000, 86_399_999], "value": "%H:%M\n%Y-%m-%d UTC"},
    {"dtickrange": [86_400_000, None], "value": "%Y-%m-%d\nUTC"},
]


def framed(figure: go.Figure, from_ms: int, to_ms: int, height_px: int) -> go.Figure:
    """The window as the x axis, nothing to drag or zoom, so high."""
    figure.update_xaxes(type="date", range=[time_text(from_ms), time_text(to_ms)], tickformatstops=TICKS)
    return sized(figure, height_px)


def sized(figure: go.Figure, height_px: int) -> go.Figure:
    """Nothing to drag or zoom, so high above its x axis."""
    figure.update_xaxes(fixedrange=True, showgrid=True)
    figure.update_yaxes(fixedrange=True, automargin=True)
    return figure.update_layout(
        height=height_px + AXIS_PX,
        margin={"l": 8, "r": 8, "t": 8, "b": AXIS_PX - 8},
        showlegend=False,
        hovermode="closest",
    )


def time_text(time_ms: int) -> str:
    """A moment as Plotly reads it, UTC."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
