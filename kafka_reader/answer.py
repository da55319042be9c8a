"""A broker's answer, and the clock it is timed by."""

import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What a broker answered; times are ms since 1970, UTC: when the request left and when the answer arrived."""

    response: Any
    requested_at_ms: int
    observed_at_ms: int


def now_ms() -> int:
    """Milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000
