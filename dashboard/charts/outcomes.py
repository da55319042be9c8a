"""How transactions ended, over lanes of those that are late, hang, were slow or aborted."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.frame import LANE_PX, bars_of, framed, gaps, lane_text, marks_of, time_text
from dashboard.outcomes import Lanes, Outcomes
from dashboard.transaction_words import OUTCOMES, STATES, Outcome
from dashboard.view import View
from dashboard.wording import Look
from guarantees.rules.transactions import TransactionClass

BARS_PX, LEGEND_PX = 170, 34
# Bars of one colour are told apart by their hatching too.
PATTERNS: Mapping[Look, str] = {
    OUTCOMES[Outcome.ABORTED]: "/",
    STATES[TransactionClass.EXPIRING]: "\\",
    STATES[TransactionClass.OVERDUE]: "x",
    STATES[TransactionClass.UNLISTED]: ".",
}


def outcomes_over_lanes(shown: Outcomes, lanes: Lanes, view: View) -> go.Figure:
    """Bars stand where their bucket begins; aborted ones are hatched too. Grey: not all headers were read."""
    names = [lane_text(name) for name in lanes.names] or ["none"]
    heights = [BARS_PX, max(2, len(names)) * (LANE_PX + 4)]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=20 / sum(heights), row_heights=heights)
    for outcome, values in ((Outcome.COMMITTED, shown.committed), (Outcome.ABORTED, shown.aborted)):
        figure.add_trace(_bars(OUTCOMES[outcome], values, shown), row=1, col=1)
    for trace in _lane_traces(lanes, view.from_ms):
        figure.add_trace(trace, row=2, col=1)
    figure.update_yaxes(title_text=f"transactions per {shown.bucket}", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=names[::-1], range=[-0.5, len(names) - 0.5], row=2, col=1
    )
    framed(figure, view.from_ms, view.to_ms, sum(heights) + LEGEND_PX)
    return figure.update_layout(
        barmode="stack",
        bargap=0.15,
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        legend_itemclick=False,
        legend_itemdoubleclick=False,
        uniformtext={"minsize": 9, "mode": "hide"},
        margin_t=LEGEND_PX,
        shapes=gaps(shown.committed, shown.from_ms, shown.bucket_ms),
    )


def _bars(look: Look, values: np.ndarray, shown: Outcomes) -> go.Bar:
    return go.Bar(
        x0=time_text(shown.from_ms),
        dx=shown.bucket_ms,
        y=values,
        width=shown.bucket_ms * 0.85,
        offset=0,
        marker={"color": look.colour, "line": {"width": 0}, "pattern": _pattern(look)},
        name=look.text,
        hovertemplate=f"%{{y:,.0f}} {look.word.lower()}<br>from %{{x|%Y-%m-%d %H:%M}} UTC<extra></extra>",
    )


def _lane_traces(lanes: Lanes, from_ms: int) -> Iterator[go.Bar | go.Scatter]:
    """One trace for each look; a word that a bar already has is not in the legend again."""
    told = {OUTCOMES[Outcome.ABORTED].text}
    for look in _looks(one.look for one in lanes.stretches):
        trace = bars_of([one.span for one in lanes.stretches if one.look == look], look.colour, look.text, from_ms)
        yield trace.update(marker_pattern=_pattern(look), showlegend=look.text not in told)
        told.add(look.text)
    for look in _looks(one.look for one in lanes.moments):
        marks = [one.mark for one in lanes.moments if one.look == look]
        yield marks_of(marks, look.marker, look.colour, look.text).update(showlegend=look.text not in told)


def _pattern(look: Look) -> dict[str, object]:
    return {"shape": PATTERNS.get(look, ""), "size": 5}


def _looks(looks: Iterable[Look]) -> list[Look]:
    return list(dict.fromkeys(looks))
