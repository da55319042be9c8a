"""How old and how complete the answers behind a panel are."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guarantees.cadence import ASKED_LESS_OFTEN, rounds_apart
from guarantees.promises import Verdict
from guarantees.verdicts import ESSENTIAL

STALE_AFTER_STEPS = 2
REFUSED = "not permitted"


@dataclass(frozen=True, slots=True)
class Freshness:
    """The newest answer of what a panel rests on. `refused`: a right is missing; `failed`: asked and not answered.

    `rounds_apart`: it is asked for in every so manyth round; `is_older`: it is from before `observed_at_ms`;
    `asked_for`: what is counted, in words.
    """

    observed_at_ms: int | None
    step_ms: int
    refused: int = 0
    failed: int = 0
    asked: int = 0
    reasons: tuple[str, ...] = ()
    rounds_apart: int = 1
    is_older: bool = False
    asked_for: str = "answers"

    @property
    def refused_because(self) -> str:
        """What was not permitted: of all reasons only those, without saying so once more."""
        parts = (part for reason in self.reasons for part in reason.split("; ") if REFUSED in part)
        return "; ".join(dict.fromkeys(part.replace(f"{REFUSED}: ", "") for part in parts))

    @property
    def expected_every_ms(self) -> int:
        return self.rounds_apart * self.step_ms

    def verdict(self, at_ms: int) -> Verdict:
        """UNKNOWN where nothing was ever seen, STALE where the newest answer is overdue by an interval."""
        if self.observed_at_ms is None:
            return Verdict.UNKNOWN
        # A round may last an interval of its own before its answers are stored.
        overdue_ms = self.expected_every_ms + (STALE_AFTER_STEPS - 1) * self.step_ms
        return Verdict.STALE if at_ms - self.observed_at_ms > overdue_ms else Verdict.OK


def freshness(coverage: Sequence[Mapping[str, Any]], signals: Collection[str], step_ms: int) -> Freshness:
    """Of several signals the oldest counts: a panel is as old as its oldest part that every round asks for.

    A question nobody answered makes nothing younger. No signals: those without which nothing can be said. (Others, like
    configurations, are not asked in every round.)
    """
    needed = frozenset(signals or ESSENTIAL)
    rows = [row for row in coverage if row["signal"] in needed and row["answered_at_ms"] is not None]
    if len({row["signal"] for row in rows}) < len(needed):
        return Freshness(None, step_ms)
    of_every_round = [row for row in rows if row["signal"] not in ASKED_LESS_OFTEN] or rows
    apart, oldest = min(
        ((rounds_apart(row["signal"], row["asked"]), row) for row in of_every_round),
        key=lambda one: one[1]["answered_at_ms"] + one[0] * step_ms,  # when the next one is expected
    )
    return Freshness(
        observed_at_ms=oldest["answered_at_ms"],
        step_ms=step_ms,
        refused=sum(row["refused"] for row in rows),
        failed=sum(row["failed"] for row in rows),
        asked=sum(row["asked"] for row in rows),
        reasons=tuple(dict.fromkeys(row["error"] for row in rows if row["error"])),
        rounds_apart=apart,
        is_older=oldest.get("is_older", False),
    )
