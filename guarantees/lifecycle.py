"""How findings live: they open, are updated and close as events, and their state is a fold over these events."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from guarantees.findings import Bounds, Finding

# A finding whose figures creep is written again at most this often; news is written at once.
CREEPING_UPDATE_MS = 60_000


class Change(StrEnum):
    """What became of a finding, in the order of a life."""

    OPENED = "opened"
    UPDATED = "updated"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class FindingEvent:
    """One change, with the whole finding as it stood then. `at_ms` is when Tidemark wrote it (ms since 1970, UTC)."""

    change: Change
    at_ms: int
    finding: Finding


@dataclass(frozen=True, slots=True)
class FindingHistory:
    """A finding as its newest event left it, with the times of its first and its newest event."""

    finding: Finding
    opened_at_ms: int
    updated_at_ms: int


def changes(known: Mapping[str, FindingHistory], found: Iterable[Finding], now_ms: int) -> list[FindingEvent]:
    """The events that bring `known` (by finding id) up to `found`; a known finding that is not found stays as it is.

    Only a finding's own `closed_reason` closes it: absence proves nothing. News (opened, closed, another severity or
    grade, a figure that moved by more than a tenth) is an event at once; figures that creep and a bare newer
    `last_seen_at_ms` are written at most once a minute. Evidence older than the known one changes nothing.
    """
    newest = {finding.finding_id: finding for finding in found}
    return [event for key, finding in newest.items() for event in _events(known.get(key), finding, now_ms)]


def fold(
    events: Iterable[FindingEvent], known: Mapping[str, FindingHistory] | None = None
) -> dict[str, FindingHistory]:
    """The state of every finding after its events, which may come in any order and more than once."""
    histories = dict(known or {})
    for event in sorted(events, key=_order):
        key = event.finding.finding_id
        before = histories.get(key)
        if before is None:
            histories[key] = FindingHistory(event.finding, event.at_ms, event.at_ms)
        elif event.at_ms >= before.updated_at_ms:
            histories[key] = FindingHistory(event.finding, before.opened_at_ms, event.at_ms)
    return histories


_RANK = {Change.OPENED: 0, Change.UPDATED: 1, Change.CLOSED: 2}


def _order(event: FindingEvent) -> tuple[int, int, int]:
    return event.at_ms, _RANK[event.change], event.finding.last_seen_at_ms


def _events(known: FindingHistory | None, finding: Finding, now_ms: int) -> list[FindingEvent]:
    is_closed = finding.closed_reason is not None
    if known is None:
        opened = FindingEvent(Change.OPENED, now_ms, replace(finding, closed_reason=None))
        return [opened, FindingEvent(Change.CLOSED, now_ms, finding)] if is_closed else [opened]
    if finding == known.finding or finding.last_seen_at_ms < known.finding.last_seen_at_ms:
        return []
    if is_closed != (known.finding.closed_reason is not None):
        return [FindingEvent(Change.CLOSED if is_closed else Change.OPENED, now_ms, finding)]
    if _is_news(known.finding, finding) or now_ms - known.updated_at_ms >= CREEPING_UPDATE_MS:
        return [FindingEvent(Change.CLOSED if is_closed else Change.UPDATED, now_ms, finding)]
    return []


def _is_news(before: Finding, after: Finding) -> bool:
    return (
        before.severity != after.severity
        or before.closed_reason != after.closed_reason
        or [statement.grade for statement in before.statements] != [statement.grade for statement in after.statements]
        or _moved(before.bounds, after.bounds)
    )


def _moved(before: Bounds | None, after: Bounds | None) -> bool:
    """A figure appeared, vanished or moved by more than a tenth: growth without end gives few events."""
    if before is None or after is None:
        return before is not after
    pairs = ((before.lower, after.lower), (before.estimate, after.estimate), (before.upper, after.upper))
    return any(_moved_value(old, new) for old, new in pairs)


def _moved_value(old: int | None, new: int | None) -> bool:
    if old is None or new is None:
        return old is not new
    return abs(new - old) * 10 > old
