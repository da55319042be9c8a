"""Partitions at risk as rows: who leads, who is in sync, what is needed, since when and for how long."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import takewhile
from typing import Any

from dashboard import durations, wording
from dashboard.concerns import Concern
from dashboard.low_isr import MIN_ISR_NOT_READ, state_of, time_below
from dashboard.names import cut
from dashboard.view import View
from guarantees import isr
from guarantees.promises import Verdict
from guarantees.unknown import Unknown

Row = Mapping[str, Any]


class Risk(IntEnum):
    """What endangers a partition, the worst first; the numbers of replication_questions.RISK."""

    OFFLINE = 0
    BELOW_MIN_ISR = 1
    AT_MIN_ISR = 2
    UNDER_REPLICATED = 3
    NONE = 4


RISKS: Mapping[Risk, str] = {
    Risk.OFFLINE: "offline: no leader",
    Risk.BELOW_MIN_ISR: "below min ISR",
    Risk.AT_MIN_ISR: "at min ISR",
    Risk.UNDER_REPLICATED: "under-replicated",
    Risk.NONE: "in sync again",
}


@dataclass(frozen=True, slots=True)
class AtRisk:
    """A partition's state now, its states in the window (the oldest first), and its unclean election if it had one.

    `is_gone`: it is no longer listed, and `now` is its last state.
    """

    now: Row
    history: Sequence[Row]
    unclean: Concern | None
    is_gone: bool = False

    @property
    def is_in_danger(self) -> bool:
        return not self.is_gone and risk_of(self.now) is not Risk.NONE

    @property
    def name(self) -> str:
        return partition_name(self.now)


def partition_name(row: Row) -> str:
    """How a link names it: a topic made anew has another id."""
    return f"{row['topic_id']}-{row['partition']}"


def label(row: Row) -> str:
    return f"{row['topic']}-{row['partition']}"


def risk_of(row: Row) -> Risk:
    """By the rules the findings rest on. Without a minimum nobody can say that a partition is at or below it."""
    state, minimum = state_of(row), row["min_insync_replicas"]
    if state.leader is None:
        return Risk.OFFLINE
    if isr.is_below(state, minimum):
        return Risk.BELOW_MIN_ISR
    if isr.is_at(state, minimum):
        return Risk.AT_MIN_ISR
    return Risk.UNDER_REPLICATED if len(state.in_sync_replicas) < len(state.replicas) else Risk.NONE


def totals(row: Row) -> str:
    """How many partitions are in which danger, and of how many that cannot be said."""
    parts = [
        f"{row['offline']:,} offline",
        f"{row['below_min_isr']:,} below min ISR, offline ones included",
        f"{row['at_min_isr']:,} at min ISR",
        f"{row['under_replicated']:,} under-replicated in all",
    ]
    if row["min_isr_unknown"]:
        parts.append(f"? min ISR could not be read for {row['min_isr_unknown']:,}")
    return f"**{wording.plural(row['partitions'], 'partition')}:** {' · '.join(parts)}"


def risk_row(one: AtRisk, view: View, gap_ms: int, unharmed: Verdict) -> dict[str, object]:
    """`unharmed`: what may be said of a partition without danger, OK, or stale where the evidence is old."""
    row, state = one.now, state_of(one.now)
    return {
        "Verdict": _verdict_words(one, unharmed),
        "Partition": cut(label(row)),
        "State": GONE if one.is_gone else _state_words(row),
        "Since (UTC)": wording.since(since_ms(one), view.to_ms),
        "In sync": in_sync_words(row),
        "Needed": wording.known(effective_minimum(row)),
        "Below min ISR": below_words(one.history, view, gap_ms),
        "Leader": f"{'none' if state.leader is None else state.leader} (epoch {state.leader_epoch})",
        "ELR": brokers(state.eligible_leader_replicas, ELR_UNKNOWN),
        "Last known ELR": brokers(state.last_known_eligible_leader_replicas, ELR_UNKNOWN),
        "Unclean election": "–" if one.unclean is None else _when(one.unclean, view),
    }


ELR_UNKNOWN = "off or not asked"
GONE = "no longer listed"


def effective_minimum(row: Row) -> int | Unknown:
    minimum = isr.effective_minimum(state_of(row), row["min_insync_replicas"])
    return MIN_ISR_NOT_READ if minimum is None else minimum


def brokers(ids: Sequence[int] | None, otherwise: str) -> str:
    """`1, 3`; `none` of an empty list; what to say where there is no list."""
    return otherwise if ids is None else ", ".join(map(str, ids)) or "none"


def in_sync_words(row: Row) -> str:
    """`2 of 3: 1, 2 (without 3)`."""
    in_sync, missing = row["in_sync_replicas"], [r for r in row["replicas"] if r not in row["in_sync_replicas"]]
    words = f"{len(in_sync)} of {len(row['replicas'])}" + (f": {brokers(in_sync, '')}" if in_sync else "")
    return f"{words} (without {brokers(missing, '')})" if missing else words


def below_words(history: Sequence[Row], view: View, gap_ms: int) -> str:
    """`20 to 30 seconds`, or why there is no such number. Never seen is not the same as never."""
    spent = time_below(history, view.from_ms, view.to_ms, gap_ms)
    if isinstance(spent, Unknown):
        return f"unknown: {spent.reason}"
    return "never seen" if spent is None else durations.how_much(spent)


def since_ms(one: AtRisk) -> int:
    """Since when at the latest the partition has been in the danger it is in now, as far as its states go on; of one
    that is gone, since when it is no longer listed.
    """
    if one.is_gone:
        return int(one.now["ended_before_ms"])
    risk = risk_of(one.now)
    same = list(takewhile(lambda row: risk_of(row) is risk, reversed(one.history)))
    return int(same[-1]["started_at_ms"] if same else one.now["started_at_ms"])


def _verdict_words(one: AtRisk, unharmed: Verdict) -> str:
    """The worst of what it is in now and of what its unclean election means for the promises; a dash: it is gone."""
    known = [] if one.is_gone else [Verdict.DEGRADED if one.is_in_danger else unharmed]
    if one.unclean is not None and one.unclean.verdict is not None:
        known.append(one.unclean.verdict)
    return wording.LOOKS[min(known, key=wording.WORST_FIRST.index)].text if known else "–"


def _state_words(row: Row) -> str:
    risk = risk_of(row)
    is_open = risk is Risk.UNDER_REPLICATED and row["min_insync_replicas"] is None
    return f"{RISKS[risk]}, min ISR unknown" if is_open else RISKS[risk]


def _when(unclean: Concern, view: View) -> str:
    return wording.since(unclean.finding.happened_at_ms, view.to_ms)
