"""How long something lasted, in words: nobody reads more than two minutes in seconds."""

from dashboard import wording
from guarantees.findings import Bounds, Unit

LONG_S = 120


def how_much(value: Bounds | None) -> str:
    """As wording.bounds, but a time of more than two minutes as `5 min 44 s to 5 min 50 s`."""
    if value is None or value.unit is not Unit.SECONDS or _longest(value) <= LONG_S:
        return wording.bounds(value)
    least = wording.duration(value.lower * 1000)
    if value.upper is None:
        return f"at least {least}" if value.lower else "unknown how long"
    most = _at_most(value.upper)
    if least == most:
        return most
    ends = f"{least} to {most}" if value.lower else f"at most {most}"
    return f"{wording.duration(value.estimate * 1000)} ({ends})" if value.estimate else ends


def _longest(value: Bounds) -> int:
    return max(value.lower, value.estimate or 0, value.upper or 0)


def _at_most(seconds: int) -> str:
    """An upper end in two units: rounded up, or it would be too low."""
    unit_s = 3_600 if seconds >= 86_400 else 60 if seconds >= 3_600 else 1
    return wording.duration(-(-seconds // unit_s) * unit_s * 1000)
