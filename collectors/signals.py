"""Run the signals of a round one after another: a failure stays its own, and how complete each was is kept."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from guarantees.observations import Coverage, Signal
from guarantees.unknown import Unknown
from kafka_reader.answer import now_ms
from kafka_reader.errors import CollectionError, is_not_permitted

logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answered:
    """How many values were asked for, and what stands in place of those that did not come."""

    asked: int
    unknown: Sequence[Unknown]


class Signals:
    """The signals of one round of one cluster."""

    def __init__(self) -> None:
        self._coverage: dict[Signal, Coverage] = {}

    @property
    def coverage(self) -> tuple[Coverage, ...]:
        return tuple(self._coverage.values())

    def run(
        self,
        signal: Signal,
        collect: Callable[[], T],
        *,
        otherwise: T,
        values: Callable[[T], Iterable[object] | Answered],
    ) -> T:
        """What `collect` gives, or `otherwise` where it fails. `values`: all that was asked for, Unknown where missing,
        or its number where there are many.

        A signal may run in several steps; its coverage is their sum. A bug is told in the log and in the coverage, and
        the other signals go on.
        """
        started_at_ms = now_ms()
        try:
            collected = collect()
            coverage = covered(signal, values(collected), started_at_ms, now_ms())
        except CollectionError as exc:
            collected, coverage = otherwise, failed(signal, str(exc), started_at_ms, now_ms())
        except Exception as exc:
            logger.exception("signal %s failed by a fault of Tidemark", signal)
            sentence = f"a fault of Tidemark, see its log: {type(exc).__name__}: {exc}"
            collected, coverage = otherwise, failed(signal, sentence, started_at_ms, now_ms())
        before = self._coverage.get(signal)
        self._coverage[signal] = coverage if before is None else joined(before, coverage)
        return collected

    def skip_the_rest(self, reason: str) -> None:
        """Every signal that did not run is a failure with this reason."""
        at_ms = now_ms()
        for signal in Signal:
            self._coverage.setdefault(signal, failed(signal, reason, at_ms, at_ms))


def counted(values: Iterable[object]) -> Answered:
    """Of values that are known or Unknown."""
    asked = list(values)
    return Answered(len(asked), [value for value in asked if isinstance(value, Unknown)])


def covered(signal: Signal, values: Iterable[object] | Answered, started_at_ms: int, ended_at_ms: int) -> Coverage:
    """Coverage of values, each known or Unknown."""
    found = values if isinstance(values, Answered) else counted(values)
    refused = sum(is_not_permitted(value) for value in found.unknown)
    return Coverage(
        signal=signal,
        asked=found.asked,
        answered=found.asked - len(found.unknown),
        refused=refused,
        failed=len(found.unknown) - refused,
        error=error_sentence(found.unknown),
        started_at_ms=started_at_ms,
        ended_at_ms=ended_at_ms,
    )


def failed(signal: Signal, error: str, started_at_ms: int, ended_at_ms: int) -> Coverage:
    """Coverage of a signal that brought nothing: one question, no answer."""
    return Coverage(signal, 1, 0, 0, 1, error, started_at_ms, ended_at_ms)


def joined(one: Coverage, other: Coverage) -> Coverage:
    """Two steps of one signal."""
    errors = [error for error in (one.error, other.error) if error is not None]
    return replace(
        one,
        asked=one.asked + other.asked,
        answered=one.answered + other.answered,
        refused=one.refused + other.refused,
        failed=one.failed + other.failed,
        error="; ".join(dict.fromkeys(errors)) or None,
        ended_at_ms=other.ended_at_ms,
    )


def error_sentence(unknown: Iterable[Unknown]) -> str | None:
    """The reasons, the commonest first, with how many values each cost."""
    reasons = Counter(value.reason for value in unknown).most_common()
    shown = "; ".join(f"{reason} ({count})" for reason, count in reasons[:3])
    return f"{shown}; {len(reasons) - 3} more reasons" if len(reasons) > 3 else shown or None
