"""What broke when, small: an ECharts option for the overview, whose first paint cannot wait for Plotly."""

from collections.abc import Mapping, Sequence

from dashboard import wording
from dashboard.names import cut
from dashboard.shapes import Mark
from dashboard.view import View
from guarantees.promises import Verdict

LANES, LANE_PX, FRAME_PX = 6, 20, 34
UTC_PX = 38  # room for the name of the time axis at its end
DAY, MINUTE, SECOND = "{yyyy}-{MM}-{dd}", "{HH}:{mm}", "{HH}:{mm}:{ss}"
TIMES = {"year": DAY, "month": DAY, "day": DAY, "hour": MINUTE, "minute": MINUTE, "second": SECOND,
         "millisecond": SECOND}  # fmt: skip
# The shapes of the other charts, which Plotly draws, in the words of ECharts; cross and hourglass it does not know.
SHAPES: Mapping[str, str] = {
    "x": "path://M0,2 L2,0 L5,3 L8,0 L10,2 L7,5 L10,8 L8,10 L5,7 L2,10 L0,8 L3,5 Z",
    "triangle-up": "triangle",
    "circle-open": "emptyCircle",
    "hourglass-open": "path://M0,0 L10,0 L0,10 L10,10 Z",
    "circle": "circle",
}
SYMBOLS: Mapping[Verdict | None, str] = {
    None: "rect", **{verdict: SHAPES[look.marker] for verdict, look in wording.LOOKS.items()}
}  # fmt: skip
# A triangle turned to the left, out of the window; filled or not, it tells a verdict as the other shapes do.
BEFORE: Mapping[Verdict | None, str] = {Verdict.VIOLATED: "triangle", None: "arrow"}
BEFORE_OTHERS = "emptyTriangle"
INFORMATION = "#5B6B7B"


def small_strip(marks: Sequence[Mark], view: View) -> dict[str, object]:
    """The worst kinds by time: shape and colour say what a finding means for the promises."""
    lanes = worst_lanes(marks)
    return {
        "useUTC": True,
        "animation": False,
        "grid": {"left": 8, "right": UTC_PX, "top": 4, "bottom": 4, "containLabel": True},
        "xAxis": {
            "type": "time",
            "min": view.from_ms,
            "max": view.to_ms,
            "axisLabel": {"hideOverlap": True, "formatter": TIMES},
            "name": "UTC",
            "nameGap": 6,
        },
        "yAxis": {"type": "category", "data": [cut(lane) for lane in lanes], "inverse": True},
        "series": [
            _series(verdict, [mark for mark in marks if mark.verdict is verdict and mark.lane in lanes], view.from_ms)
            for verdict in dict.fromkeys(mark.verdict for mark in marks)
        ],
    }


def worst_lanes(marks: Sequence[Mark]) -> list[str]:
    """The kinds worth a lane: those that break a promise, then those that weaken one, then the rest."""
    rank = {verdict: number for number, verdict in enumerate((*wording.WORST_FIRST, None))}
    worst: dict[str, int] = {}
    for mark in marks:
        worst[mark.lane] = min(rank[mark.verdict], worst.get(mark.lane, len(rank)))
    return sorted(worst, key=lambda lane: (worst[lane], lane))[:LANES]


def height_px(marks: Sequence[Mark]) -> int:
    return FRAME_PX + LANE_PX * max(2, len(worst_lanes(marks)))


def _series(verdict: Verdict | None, marks: Sequence[Mark], from_ms: int) -> dict[str, object]:
    look = wording.LOOKS[verdict] if verdict else None
    return {
        "type": "scatter",
        "name": look.word if look else "Information",
        "symbol": SYMBOLS[verdict],
        "symbolSize": 10 if look else [2, 10],
        "itemStyle": {"color": look.colour if look else INFORMATION, "opacity": 1},
        "silent": True,
        "data": [
            *(
                _at_the_edge(verdict, lane, from_ms)
                for lane in dict.fromkeys(mark.lane for mark in marks if mark.at_ms < from_ms)
            ),
            *([mark.at_ms, cut(mark.lane)] for mark in marks if mark.at_ms >= from_ms),
        ],
    }


def _at_the_edge(verdict: Verdict | None, lane: str, from_ms: int) -> dict[str, object]:
    """What was before the window points out of it, however much that was: all of it would stand on one spot."""
    symbol = BEFORE.get(verdict, BEFORE_OTHERS)
    return {"value": [from_ms, cut(lane)], "symbol": symbol, "symbolRotate": 90, "symbolSize": 10}
