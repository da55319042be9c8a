"""Extra copies of one window: a finding of them counts all since its group began, which may be long ago."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dashboard import extra_copies
from guarantees.findings import Bounds, Finding, Kind

Row = Mapping[str, Any]
Group = tuple[object, ...]  # copies that share partition, cause and producer
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Copies:
    """What is stored of a window: what live rounds found in it, and exact audits that counted there, by their windows.

    `read`: topics of which anything was read in it.
    """

    from_ms: int
    to_ms: int
    found: Mapping[Group, Row]
    audited: Mapping[Group, Sequence[Span]]
    read: Collection[str]


def copies(
    from_ms: int, to_ms: int, found: Iterable[Row], audited: Iterable[Row], read: Collection[str] = ()
) -> Copies:
    """Rows of EXTRA_COPIES and of AUDITED_COPIES (dashboard.audit_questions)."""
    spans: dict[Group, list[Span]] = {}
    for row in audited:
        spans.setdefault(group_of(row), []).append((row["from_ms"], row["to_ms"]))
    return Copies(from_ms, to_ms, {group_of(row): row for row in found}, spans, read)


def group_of(row: Row) -> Group:
    return tuple(row[name] for name in ("topic_id", "partition", "cause", "producer_id", "producer_epoch"))


def group_of_finding(finding: Finding) -> Group:
    """The metrics say −1 where there is no producer id, and no epoch."""
    place, told = finding.place, finding.evidence
    producer = (-1 if told.get(name) is None else told[name] for name in ("producer_id", "producer_epoch"))
    return (place.topic_id, place.partition, told.get("cause"), *producer)


def reaches_beyond(finding: Finding, from_ms: int, to_ms: int) -> bool:
    """It counts copies of the window and others."""
    is_whole = from_ms <= finding.happened_at_ms and finding.last_seen_at_ms <= to_ms
    is_met = finding.happened_at_ms <= to_ms and finding.last_seen_at_ms >= from_ms
    return finding.kind is Kind.DUPLICATE_WRITE and is_met and not is_whole


def narrowed(finding: Finding, known: Copies) -> Finding | None:
    """The finding with the copies of the window alone; None where none of them was found in it.

    Without an estimate where it is not known how many of its copies are of the window: there are no more than all.
    """
    if finding.bounds is None or not reaches_beyond(finding, known.from_ms, known.to_ms):
        return finding
    row = known.found.get(group_of_finding(finding))
    if audits(finding, known) or (row is None and not _is_told_of_others(finding, known)):
        return replace(finding, bounds=_some_of(finding.bounds, 0 if row is None else row["seen"]))
    return None if row is None else replace(finding, bounds=extra_copies.of_group(row))


def audits(finding: Finding, known: Copies) -> Sequence[Span]:
    """Windows of the exact audits that counted for the finding and reach into this one."""
    return known.audited.get(group_of_finding(finding), ()) if finding.evidence.get("audited") else ()


def _is_told_of_others(finding: Finding, known: Copies) -> bool:
    """Its newest copy came after the window, of which the topic was read: what is not stored of it was not there."""
    return finding.last_seen_at_ms > known.to_ms and finding.place.topic in known.read


def _some_of(bounds: Bounds, seen: int) -> Bounds:
    return Bounds(min(seen, bounds.lower), None, bounds.upper, bounds.unit)
