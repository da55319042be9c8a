"""What the operator looks at: the cluster, the window, the pace and the search, as the URL says them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite

RANGES_MS: Mapping[str, int] = {
    "15m": 15 * 60_000,
    "1h": 3_600_000,
    "6h": 6 * 3_600_000,
    "24h": 24 * 3_600_000,
    "7d": 7 * 24 * 3_600_000,
}
DEFAULT_RANGE = "15m"
LONGEST_MS = max(RANGES_MS.values())
SHORTEST_MS = 1_000
LATEST_MS = 253_402_300_800_000  # the year 10000, which no link can name
REFRESH_S: Mapping[str, int | None] = {"Off": None, "10s": 10, "30s": 30}
DEFAULT_REFRESH = "10s"

# Up to here a page reads raw samples; beyond it the minute roll-ups.
RAW_WINDOW_MS = 15 * 60_000


@dataclass(frozen=True, slots=True)
class View:
    """One look at one cluster. `to_ms` is the moment every panel answers for; a frozen view does not move."""

    cluster: str
    from_ms: int
    to_ms: int
    is_frozen: bool
    refresh_s: int | None
    search: str
    is_dark: bool = False

    @property
    def length_ms(self) -> int:
        return self.to_ms - self.from_ms

    @property
    def needs_rollups(self) -> bool:
        return self.length_ms > RAW_WINDOW_MS

    def without_search(self) -> "View":
        """The same look at everything."""
        return replace(self, search="")

    def finds(self, *texts: str | None) -> bool:
        """Whether the search word is in one of the texts; an empty search finds everything."""
        word = self.search.strip().casefold()
        return not word or any(word in text.casefold() for text in texts if text)


def live_window(range_name: str, now_ms: int, step_ms: int) -> tuple[int, int]:
    """The newest window, ending on a sampling step: views of one step share their answers."""
    to_ms = now_ms - now_ms % step_ms
    return to_ms - RANGES_MS.get(range_name, RANGES_MS[DEFAULT_RANGE]), to_ms


def shared_moment(answered_ms: int | None, now_ms: int, pace_ms: int) -> int:
    """The moment to open a page for: the newest, or the one before it where only that was answered for somebody."""
    newest_ms = now_ms - now_ms % pace_ms
    if answered_ms is None or answered_ms % pace_ms or not 0 <= newest_ms - answered_ms <= pace_ms:
        return newest_ms
    return answered_ms


def parse_window(from_text: str | None, to_text: str | None) -> tuple[int, int] | None:
    """The absolute window of a link; None where there is none or where it makes no sense."""
    start, end = parse_time(from_text), parse_time(to_text)
    if start is None or end is None or start >= end:
        return None
    return start, end


def shifted(from_ms: int, to_ms: int, direction: int, now_ms: int) -> tuple[int, int]:
    """The window half its length earlier (−1) or later (1); never beyond now."""
    half = (to_ms - from_ms) // 2
    way = -half if direction < 0 else max(0, min(half, now_ms - to_ms))
    return from_ms + way, to_ms + way


def widened(from_ms: int, to_ms: int, now_ms: int) -> tuple[int, int]:
    """The window twice as long around its middle, up to the longest range; never beyond now."""
    length_ms = min(LONGEST_MS, 2 * (to_ms - from_ms))
    end = max(to_ms, min(now_ms, (from_ms + to_ms + length_ms) // 2))
    return end - length_ms, end


def dragged_window(ends: object) -> tuple[int, int] | None:
    """The window a drag chose, as a browser says it: two moments in ms. None where that makes no window."""
    if not isinstance(ends, list) or len(ends) != 2:
        return None
    if not all(isinstance(end, int | float) and isfinite(end) for end in ends):
        return None
    start, end = (round(moment) for moment in ends)
    is_window = 0 <= start <= end - SHORTEST_MS and end - start <= LONGEST_MS and end < LATEST_MS
    return (start, end) if is_window else None


def format_time(time_ms: int) -> str:
    """A time as it stands in a link: UTC, to the millisecond."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str | None) -> int | None:
    """A moment as it stands in a link or as somebody wrote it: UTC unless it says otherwise. None: no moment."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
