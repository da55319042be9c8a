"""The strip under the toolbar: the cluster's total lag over the window, and when findings began."""

from collections.abc import Iterable

from dashboard import wording
from dashboard.total_lag import TotalLag
from dashboard.view import View
from guarantees.findings import Finding

TICKS = 300


def strip(lag: TotalLag, step_ms: int, findings: Iterable[Finding], view: View) -> dict[str, object]:
    """What the browser draws: `lag` in offsets from `first_ms` on, None where any is unknown; findings as ticks."""
    return {
        "from_ms": view.from_ms,
        "to_ms": view.to_ms,
        "first_ms": view.from_ms - view.from_ms % step_ms,
        "step_ms": step_ms,
        "lag": list(lag.series),
        "findings": ticks(findings, view),
        "caption": caption(lag, view.length_ms),
    }


def caption(lag: TotalLag, window_ms: int) -> str:
    """How high the total was; at least so high where a group is not in it, or where it is unknown for a while."""
    seen = [value for value in lag.series if value is not None]
    if not seen:
        return "total lag is unknown"
    lacks = [f"{wording.plural(lag.left_out, 'group')} left out"] if lag.left_out else []
    lacks += ["unknown in the gaps"] if lag.has_gaps(window_ms) else []
    highest = f"{'at least ' if lacks else ''}{wording.compact(max(seen))}"
    return ", ".join([f"total lag up to {highest} offsets", *lacks])


def ticks(findings: Iterable[Finding], view: View) -> list[tuple[int, int]]:
    """When the findings of the window began, with their severity: the worst and newest, last what is drawn on top."""
    begun = ((one.severity, one.happened_at_ms) for one in findings if view.from_ms <= one.happened_at_ms < view.to_ms)
    return [(at_ms, severity) for severity, at_ms in sorted(begun)[-TICKS:]]


def refresh_state(view: View, is_paused: bool, now_ms: int) -> str:
    """Whether what is on screen moves by itself, and when it was last asked for."""
    if view.is_frozen:
        return "Frozen: shows the window above and does not refresh."
    if is_paused:
        return f"Paused at {wording.clock(now_ms)} UTC: P goes on."
    if view.refresh_s is None:
        return f"Refresh is off, asked at {wording.clock(now_ms)} UTC: R asks again."
    return f"Live: every {view.refresh_s} s, asked at {wording.clock(now_ms)} UTC."
