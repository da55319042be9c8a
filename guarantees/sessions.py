"""What belongs together in time."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def sessions(found: Iterable[T], at_ms: Callable[[T], tuple[int, int]], gap_ms: float) -> list[list[T]]:
    """In order of (time, offset); a gap above `gap_ms` begins a new session."""
    grouped: list[list[T]] = []
    for one in sorted(found, key=at_ms):
        if grouped and at_ms(one)[0] - at_ms(grouped[-1][-1])[0] <= gap_ms:
            grouped[-1].append(one)
        else:
            grouped.append([one])
    return grouped
