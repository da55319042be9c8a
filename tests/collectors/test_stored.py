import pytest

from collectors.stored import oldest_replayed
from guarantees.observations import Signal


def covered(tick, commits):
    """Two signals of a round that begins at its tick's second; the commits are asked for a moment later."""
    return [
        {"tick": tick, "signal": str(Signal.LOG_START), "started_at": tick * 1000, "answered": 10**9},
        {"tick": tick, "signal": str(Signal.COMMITTED_OFFSETS), "started_at": tick * 1000 + 5, "answered": commits},
    ]


def rounds(*commits):
    """In the order of their files, which is none; the first is of tick 1."""
    return [row for tick, number in reversed(list(enumerate(commits, 1))) for row in covered(tick, number)]


@pytest.mark.parametrize(
    ("commits", "tick"),
    [
        ((40, 30, 30), 1),
        ((41, 30, 30), 2),
        ((1, 99, 2), 3),
        ((5, 5, 101), 3),
        ((0, 0, 0), 1),
    ],
)
def test_as_many_of_the_newest_rounds_are_replayed_as_their_commits_allow(commits, tick):
    assert oldest_replayed(rounds(*commits), 100) == (tick, tick * 1000)
