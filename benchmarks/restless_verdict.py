"""What half an hour of broken brokers must leave in the store: every round, honest coverage, no growth. Values only."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

Row = Mapping[str, Any]

# A broker that is back loads its logs, and its replicas catch up.
SETTLED_AFTER_MS = 20_000


@dataclass(frozen=True, slots=True)
class Away:
    """A broker that could not answer from `from_ms` until `to_ms`, when it was started or resumed; back later."""

    broker: int
    deed: str
    from_ms: int
    to_ms: int
    back_ms: int


@dataclass(frozen=True, slots=True)
class Answer:
    """An offset as it is stored: who was asked and when; `value` None where it is unknown."""

    broker: int | None
    value: int | None
    requested_ms: int | None
    observed_ms: int


@dataclass(frozen=True, slots=True)
class Used:
    """What the collectors' process used at a moment."""

    resident_mib: float
    threads: int
    open_files: int


def missing_ticks(rounds: Iterable[Row]) -> list[int]:
    """Rounds that are not in the store although later ones are."""
    ticks = {row["tick"] for row in rounds}
    return sorted(set(range(min(ticks), max(ticks) + 1)) - ticks)


def late_ticks(rounds: Iterable[Row], interval_s: float) -> list[int]:
    """Rounds that began more than two intervals after the one before."""
    began: dict[int, int] = {}
    for row in rounds:
        began[row["tick"]] = min(row["started_ms"], began.get(row["tick"], row["started_ms"]))
    return [tick for tick, at_ms in began.items() if at_ms - began.get(tick - 1, at_ms) > 2000 * interval_s]


def impossible_answers(answers: Iterable[Answer], aways: Sequence[Away]) -> list[Answer]:
    """Known offsets of a broker that was asked and answered while it could not: an old value under a new time."""
    return [
        answer
        for answer in answers
        if answer.value is not None
        and answer.requested_ms is not None
        and any(
            away.broker == answer.broker and away.from_ms < answer.requested_ms and answer.observed_ms < away.to_ms
            for away in aways
        )
    ]


def falsely_complete(rounds: Iterable[Row], signal: str, aways: Sequence[Away]) -> list[int]:
    """Rounds that claim every answer of a signal that asks every broker, though one of them was away throughout."""
    return [
        row["tick"]
        for row in rounds
        if row["signal"] == signal
        and row["answered"] == row["asked"]
        and any(away.from_ms < row["started_ms"] and row["ended_ms"] < away.to_ms for away in aways)
    ]


def incomplete_in_peace(rounds: Iterable[Row], aways: Sequence[Away]) -> list[Row]:
    """Signals that lacked something although all brokers had been back for a while."""
    return [
        row
        for row in rounds
        if row["answered"] < row["asked"]
        and not any(
            away.from_ms - 1_000 < row["ended_ms"] and row["started_ms"] < away.back_ms + SETTLED_AFTER_MS
            for away in aways
        )
    ]


def growth(used: Sequence[Used]) -> tuple[Used, Used]:
    """Medians of the second quarter and of the last: what is held at first (caches, pools) is no growth."""
    quarter = len(used) // 4
    return _middle(used[quarter : 2 * quarter]), _middle(used[-quarter:])


def _middle(used: Sequence[Used]) -> Used:
    return Used(
        median(each.resident_mib for each in used),
        round(median(each.threads for each in used)),
        round(median(each.open_files for each in used)),
    )
