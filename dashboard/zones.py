"""Where the clock of the reader's browser stands: what is written is UTC."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def in_local_time(moments: Sequence[tuple[str, int]], zone: str | None) -> str | None:
    """The moments (ms since 1970) in the reader's time zone, for a hover; None where it is not known."""
    if (where := _known(zone)) is None:
        return None
    times = [f"{name} {datetime.fromtimestamp(at_ms / 1000, where):%Y-%m-%d %H:%M:%S}" for name, at_ms in moments]
    return f"In your time zone, {zone}: " + "; ".join(times)


def note(zone: str | None, at_ms: int) -> str | None:
    """How far the reader's time zone is from UTC at that moment; None where it is not known, or not at all."""
    if (where := _known(zone)) is None:
        return None
    off = f"{datetime.fromtimestamp(at_ms / 1000, where):%z}"
    return None if off == "+0000" else f"In your time zone, {zone}: UTC{off[:3]}:{off[3:]} at the end of the window"


def _known(zone: str | None) -> ZoneInfo | None:
    try:
        return ZoneInfo(zone or "")
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a browser may say anything, a folder's name among it
        return None
