"""Whether each part of Tidemark lives: by what it wrote, and by what `tidemark up` saw of it."""

import pytest

from dashboard import startup
from dashboard.view import View

NOW_MS = 1_764_000_000_000
DAY_MS = 86_400_000
PACE_MS = 5_000
VIEW = View("production", NOW_MS - 900_000, NOW_MS, False, 10, "")


def said_of_collect(event: str, event_at_ms: int, wrote_at_ms: int | None) -> str:
    row = {"part": "collect", "event": event, "exit_code": 1, "message": "it fell", "observed_at_ms": event_at_ms}
    traces = {} if wrote_at_ms is None else {"collect": (wrote_at_ms, PACE_MS)}
    return startup.parts_line([row], traces, VIEW).splitlines()[0].rstrip()


@pytest.mark.parametrize("event", ["stopped", "died"])
def test_a_part_that_wrote_after_it_was_seen_to_end_was_started_alone_and_lives(event):
    assert said_of_collect(event, NOW_MS - DAY_MS, NOW_MS - 5_000) == (
        ":green-badge[✓ alive] **collect** :gray[samples the cluster] last wrote 5 s ago"
    )
    assert said_of_collect(event, NOW_MS - DAY_MS, NOW_MS - 3_600_000).startswith(":gray-badge[◷ silent]")


@pytest.mark.parametrize("wrote_at_ms", [None, NOW_MS - DAY_MS - PACE_MS, NOW_MS - DAY_MS + PACE_MS])
def test_what_a_part_wrote_as_it_ended_makes_it_no_living_one(wrote_at_ms):
    assert said_of_collect("stopped", NOW_MS - DAY_MS, wrote_at_ms).startswith(":gray-badge[? stopped]")
    assert said_of_collect("died", NOW_MS - DAY_MS, wrote_at_ms).startswith(":red-badge[✕ died]")
