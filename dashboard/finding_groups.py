"""Findings of one event together: one row for an election that cost five hundred partitions, not five hundred rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboard import wording
from dashboard.concerns import Concern
from dashboard.names import cut
from dashboard.shapes import Mark
from guarantees.findings import Bounds, Finding, Unit
from guarantees.incidents import TOGETHER_MS

Key = tuple[str, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Event:
    """Findings of one kind, group and topic whose times overlap, the worst first. Never empty."""

    concerns: tuple[Concern, ...]

    @property
    def worst(self) -> Concern:
        return self.concerns[0]

    @property
    def since_ms(self) -> int:
        return min(one.finding.happened_at_ms for one in self.concerns)

    @property
    def open_count(self) -> int:
        return sum(one.finding.closed_reason is None for one in self.concerns)

    @property
    def acknowledged_count(self) -> int:
        return sum(one.is_acknowledged for one in self.concerns)

    @property
    def bounds(self) -> Bounds | None:
        return added(self.concerns)

    @property
    def title(self) -> str:
        """Of several findings, how many and where; then the worst one's own sentence."""
        number, worst = len(self.concerns), self.worst
        place = worst.finding.place
        where = " of ".join(cut(name, 40) for name in (place.topic, place.group_id) if name) or "the cluster"
        return worst.finding.title if number == 1 else f"{wording.count(number)} on {where}: {worst.finding.title}"

    def holds(self, finding_id: str | None) -> bool:
        return any(one.finding.finding_id == finding_id for one in self.concerns)


def events(concerns: Iterable[Concern]) -> list[Event]:
    """The findings by event, in the order of the worst finding of each: `concerns` come worst first."""
    ordered = list(concerns)
    by_key: dict[Key, list[int]] = {}
    for number, concern in enumerate(ordered):
        by_key.setdefault(_key(concern.finding), []).append(number)
    together = [part for numbers in by_key.values() for part in _overlapping(numbers, ordered)]
    return [Event(tuple(ordered[number] for number in part)) for part in sorted(together)]


def added(concerns: Sequence[Concern]) -> Bounds | None:
    """How much together; None where amounts cannot be added: lengths of time, or one partition counted twice."""
    bounds = [one.finding.bounds for one in concerns]
    known = [one for one in bounds if one is not None]
    if len(concerns) == 1 or not known:
        return bounds[0]
    partitions = {(one.finding.place.topic_id, one.finding.place.partition) for one in concerns}
    units = {one.unit for one in known}
    if len(known) < len(bounds) or len(units) > 1 or Unit.SECONDS in units or len(partitions) < len(concerns):
        return None
    return Bounds(
        sum(one.lower for one in known),
        _total([one.estimate for one in known]),
        _total([one.upper for one in known]),
        units.pop(),
    )


def marks(found: Iterable[Event]) -> list[Mark]:
    """Events by kind, each where it began, also where that is before the window."""
    return [
        Mark(
            lane=wording.KINDS[event.worst.finding.kind],
            at_ms=event.since_ms,
            text=event.title,
            verdict=event.worst.verdict,
            size=event.bounds.estimate if event.bounds else None,
            finding_id=event.worst.finding.finding_id,
        )
        for event in found
    ]


def _key(finding: Finding) -> Key:
    return finding.kind, finding.place.topic, finding.place.group_id


def _overlapping(numbers: Sequence[int], ordered: Sequence[Concern]) -> list[list[int]]:
    """Positions whose findings follow each other without a pause of a minute; each part in its given order."""
    parts: list[list[int]] = []
    until_ms = 0
    for number in sorted(numbers, key=lambda number: ordered[number].finding.happened_at_ms):
        finding = ordered[number].finding
        if parts and finding.happened_at_ms <= until_ms + TOGETHER_MS:
            parts[-1].append(number)
        else:
            parts.append([number])
            until_ms = 0
        until_ms = max(until_ms, finding.last_seen_at_ms)
    return [sorted(part) for part in parts]


def _total(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
