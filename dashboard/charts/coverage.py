"""What was read of a topic, offset by offset."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard.audit_coverage import Lane, Piece, Stretch
from dashboard.charts.frame import LANE_PX, line_colour, sized
from dashboard.names import lanes_in_figure
from dashboard.view import View

PIECES = 1_000
LEGEND_PX = 34


@dataclass(frozen=True, slots=True)
class Fill:
    """Colour and hatching: never colour alone."""

    colour: str
    hatching: str


FILLS: Mapping[Stretch, Fill] = {
    Stretch.PURGED: Fill("#D55E00", "x"),
    Stretch.GAP: Fill("#E69F00", "/"),
    Stretch.LEFT: Fill("#7A8793", "."),
}


def coverage_lanes(lanes: Sequence[Lane], view: View) -> go.Figure:
    """A lane for each partition: offsets counted from its lowest one of the window, by what became of them."""
    names = lanes_in_figure([lane.label for lane in lanes])
    shown = list(zip(names, lanes, strict=True))
    figure = go.Figure([trace for stretch in Stretch if (trace := _trace(stretch, shown, view)) is not None])
    figure.update_xaxes(title_text="offsets since the first one of the window", rangemode="tozero", tickformat="~s")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=names[::-1])
    figure = sized(figure, max(2, len(lanes)) * LANE_PX + LEGEND_PX + 18)
    figure.update_layout(
        barmode="overlay",
        bargap=0.3,
        showlegend=True,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "itemclick": False},
        margin_t=LEGEND_PX,
    )
    return figure


def _trace(stretch: Stretch, lanes: Sequence[tuple[str, Lane]], view: View) -> go.Bar | None:
    """The longest pieces of one kind; offsets travel as differences, which a browser's numbers hold exactly."""
    pieces = [
        (name, piece.first_offset - lane.first_offset, piece)
        for name, lane in lanes
        for piece in lane.pieces
        if piece.stretch is stretch and piece.offsets
    ]
    if not pieces:
        return None
    shown = sorted(pieces, key=lambda one: -one[2].offsets)[:PIECES]
    fill = FILLS.get(stretch, Fill(line_colour(view), ""))
    return go.Bar(
        orientation="h",
        y=[name for name, _, _ in shown],
        base=[base for _, base, _ in shown],
        x=[piece.offsets for _, _, piece in shown],
        name=stretch,
        marker={"color": fill.colour, "line": {"width": 0}, "pattern": {"shape": fill.hatching, "size": 6}},
        text=[_said(piece) for _, _, piece in shown],
        textposition="none",
        hovertemplate="%{y}<br>%{text}<extra></extra>",
    )


def _said(piece: Piece) -> str:
    return f"{piece.stretch}: offsets {piece.first_offset} to {piece.next_offset - 1}"
