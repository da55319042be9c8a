"""What the operator looks at: the cluster, the window, the pace and the search, as the URL says them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

RANGES_MS: Mapping[str, int] = {
    "15m": 15 * 60_000,
    "1h": 3_600_000,
    "6h": 6 * 3_600_000,
    "24h": 24 * 3_600_000,
    "7d": 7 * 24 * 3_600_000,
}
DEFAULT_RANGE = "15m"
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

    def finds(self, *texts: str | None) -> bool:
        """Whether the search word is in one of the texts; an empty search finds everything."""
        word = self.search.strip().casefold()
        return not word or any(word in text.casefold() for text in texts if text)


def live_window(range_name: str, now_ms: int, step_ms: int) -> tuple[int, int]:
    """The newest window, ending on a sampling step: views of one step share their answers."""
    to_ms = now_ms - now_ms % step_ms
    return to_ms - RANGES_MS.get(range_name, RANGES_MS[DEFAULT_RANGE]), to_ms


def parse_window(from_text: str | None, to_text: str | None) -> tuple[int, int] | None:
    """The absolute window of a link; None where there is none or where it makes no sense."""
    start, end = _parse_time(from_text), _parse_time(to_text)
    if start is None or end is None or start >= end:
        return None
    return start, end


def format_time(time_ms: int) -> str:
    """A time as it stands in a link: UTC, to the millisecond."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _parse_time(text: str | None) -> int | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
