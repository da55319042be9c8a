"""What a reader of an incident's figure must know: what is drawn, what is left out, and which lanes have no samples."""

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard import wording
from dashboard.incident_lanes import LANES, IncidentLanes
from dashboard.incident_places import Places
from dashboard.incident_series import IncidentLines
from dashboard.names import cut
from dashboard.shapes import before_note
from dashboard.view import View

WHAT_IS_DRAWN = (
    "Lag to the high watermark; not replicated: high watermark to the leader's log end; held: last stable offset to "
    "high watermark. Offsets, not records: the highest of each bucket. ISR below min: full for at least, pale for at "
    "most."
)
UNKNOWN = "A line has a gap where a part of it is unknown: then nobody knows its highest value."


def of_figure(
    view: View, touched: Places, lines: IncidentLines, lanes: IncidentLanes, oldest_ms: int | None
) -> Iterator[str]:
    """`oldest_ms`: the start of the oldest hour of which samples are kept; None where none are."""
    yield " ".join([WHAT_IS_DRAWN, *before_note(lanes.marks, view.from_ms)])
    if any(plot.has_unknown and not plot.is_empty for plot in (lines.lag, lines.not_replicated, lines.held)):
        yield UNKNOWN
    if lines.detail != (view.from_ms, view.to_ms):
        yield (
            "Grey: not sampled, or not read. Offsets are read for the 15 minutes around the cursor, "
            f"{wording.span(*lines.detail)}; lag and the lanes cover the whole window."
        )
    if touched.found > len(touched.partitions):
        yield (
            f"{wording.count(len(touched.partitions))} of {wording.count(touched.found)} partitions are read for the "
            "figure, those of the worst findings; the findings count all."
        )
    if missing := without_samples(lines, lanes):
        yield f"Without samples: {', '.join(missing)}. {why_missing(view, oldest_ms)}"


def without_samples(lines: IncidentLines, lanes: IncidentLanes) -> list[str]:
    """The plots that have no value in the window, and the lanes of intervals where nothing at all is kept."""
    plots = (("lag", lines.lag), ("not replicated", lines.not_replicated), ("held", lines.held))
    empty = [name for name, plot in plots if plot.is_empty]
    seen = {mark.lane for mark in lanes.marks} | {one.lane for one in (*lanes.spans, *lanes.at_most)}
    return [*empty, *(lane for lane in LANES if lane not in seen)] if len(empty) == len(plots) else empty


def why_missing(view: View, oldest_ms: int | None) -> str:
    """Expired, or never stored."""
    if oldest_ms is None or view.to_ms <= oldest_ms:
        return "Samples of this time have expired; the findings below keep their own evidence."
    if view.from_ms < oldest_ms:
        return f"Samples before {wording.utc(oldest_ms)} have expired; the findings below keep their own evidence."
    return "None was stored in this window: not asked, not permitted or not answered; Health says which."


def line_row(row: Mapping[str, Any]) -> dict[str, object]:
    rest = {name: value for name, value in row.items() if name not in ("at_ms", "Partition")}
    return {"Time (UTC)": wording.utc(row["at_ms"]).removesuffix(" UTC"), "Partition": cut(row["Partition"])} | rest


def lane_rows(lanes: IncidentLanes) -> list[dict[str, object]]:
    """What the lanes show, the oldest first."""
    marks = [(mark.at_ms, mark.lane, "", mark.text) for mark in lanes.marks]
    low = [(one.from_ms, one.lane, wording.utc(one.to_ms), f"at most; {one.text}") for one in lanes.at_most]
    spans = [(one.from_ms, one.lane, wording.utc(one.to_ms), one.text) for one in lanes.spans]
    return [
        {
            "Time (UTC)": wording.utc(at_ms).removesuffix(" UTC"),
            "Lane": cut(lane),
            "Until (UTC)": until.removesuffix(" UTC") or "–",
            "What": cut(text, 240),
        }
        for at_ms, lane, until, text in sorted([*marks, *low, *spans])
    ]
