"""From a round to finding events: the rules of guarantees.watch, with what earlier rounds left."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from guarantees.findings import Finding
from guarantees.lifecycle import FindingEvent, FindingHistory, changes, fold
from guarantees.memory import Memory
from guarantees.observations import Round
from guarantees.thresholds import Thresholds
from guarantees.watch import observe, resume


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rules remember, and every finding of the cluster as its newest event left it."""

    memory: Memory
    known: Mapping[str, FindingHistory]


def thresholds(limits: Thresholds, gap_ms: int) -> Thresholds:
    """Those of the settings, and a gap no shorter than a few rounds."""
    return replace(limits, gap_s=max(limits.gap_s, gap_ms / 1000))


def judge(before: Judged, observed: Round, limits: Thresholds, now_ms: int) -> tuple[Judged, list[FindingEvent]]:
    """One round more."""
    memory, found = observe(before.memory, observed, limits)
    return _changed(memory, before.known, found, now_ms)


def judge_again(
    replayed: Iterable[Round],
    findings: Mapping[str, FindingHistory],
    cluster_id: str,
    limits: Thresholds,
    now_ms: int,
) -> tuple[Judged, list[FindingEvent]]:
    """After a restart; a finding that a crash kept from being written is written now."""
    known = {key: history for key, history in findings.items() if history.finding.place.cluster_id == cluster_id}
    is_open = [history.finding for history in known.values() if history.finding.closed_reason is None]
    memory, found = resume(replayed, is_open, limits)
    return _changed(memory, known, found, now_ms)


def _changed(
    memory: Memory, known: Mapping[str, FindingHistory], found: Iterable[Finding], now_ms: int
) -> tuple[Judged, list[FindingEvent]]:
    events = changes(known, found, now_ms)
    return Judged(memory, fold(events, known)), events
