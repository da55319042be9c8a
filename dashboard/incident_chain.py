"""The story of an incident as it is read: many partitions as one link of the chain, offsets in full digits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboard import wording
from dashboard.finding_ranges import Offsets
from dashboard.incident_story import Loss, Told, Touched
from dashboard.names import cut
from guarantees.findings import Finding, Grade
from guarantees.unknown import Unknown

Row = dict[str, object]
WHY_NONE = "Offsets not named because"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """Findings of one kind, topic and group that the same kind of link explains, in the order they happened."""

    told: tuple[Told, ...]

    @property
    def first(self) -> Told:
        return self.told[0]

    @property
    def where(self) -> str:
        """How many partitions stand behind the sentence of the first one; empty where it is the only one."""
        number = len(self.told)
        return "" if number == 1 else f"and {wording.plural(number - 1, 'more finding')} of this kind on {self._places}"

    @property
    def grades(self) -> list[Grade]:
        """Every grade among them, the surest first."""
        found = {one.finding.grade for one in self.told}
        return [grade for grade in Grade if grade in found]

    @property
    def from_ms(self) -> int:
        return min(one.finding.happened_at_ms for one in self.told)

    @property
    def to_ms(self) -> int:
        return max(one.finding.happened_at_ms for one in self.told)

    @property
    def when(self) -> str:
        """The moment it happened; of several the first and the last one, with its day where that is another."""
        return wording.utc(self.from_ms) if self.from_ms == self.to_ms else wording.span(self.from_ms, self.to_ms)

    @property
    def _places(self) -> str:
        places = {(one.finding.place.topic_id, one.finding.place.partition) for one in self.told}
        return wording.plural(len(places), "partition")


def chain(told: Iterable[Told]) -> list[ChainLink]:
    """In the order of the story; a link stands where its first finding does."""
    links: dict[tuple[object, ...], list[Told]] = {}
    for one in told:
        place = one.finding.place
        why = one.causes[0].link if one.causes else None
        links.setdefault((one.finding.kind, place.topic_id, place.topic, place.group_id, why), []).append(one)
    return [ChainLink(tuple(found)) for found in links.values()]


def loss_row(loss: Loss) -> Row:
    first, last = ends(loss.offsets)
    return {
        "What": loss.effect,
        "How": wording.KINDS[loss.finding.kind],
        "Where": cut(where(loss.finding)),
        "How much": wording.bounds(loss.bounds) if loss.bounds else "not counted",
        "First offset": first,
        "Last offset": last,
        "Grade": loss.finding.grade.value,
        WHY_NONE: why_none(loss.offsets),
    }


def touched_row(one: Touched) -> Row:
    first, last = ends(one.offsets)
    partition = "" if one.partition is None else f"-{one.partition}"
    return {
        "Touched": cut(one.name),
        "As": "consumer" if one.is_consumer else "downstream topic",
        "Of": cut(f"{one.topic}{partition}"),
        "First offset": first,
        "Last offset": last,
        "Grade": one.grade.value,
        "Because": cut(one.why, 240),
        WHY_NONE: why_none(one.offsets),
    }


def with_reasons(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows, with the column of why there are no offsets only where one of them needs it."""
    if any(row[WHY_NONE] for row in rows):
        return rows
    return [{name: cell for name, cell in row.items() if name != WHY_NONE} for row in rows]


def why_none(offsets: Offsets | Unknown) -> str:
    """Why no offsets can be named; empty where they are."""
    if isinstance(offsets, Unknown):
        return offsets.reason
    return "the range is empty" if offsets.first == offsets.following else ""


def ends(offsets: Offsets | Unknown) -> tuple[str, str]:
    """The first and the last offset in full digits; where there are none, that they are unknown or none."""
    if isinstance(offsets, Unknown):
        return "unknown", "unknown"
    if offsets.first == offsets.following:
        return "none", "none"
    return str(offsets.first), str(offsets.following - 1)


def who_is_touched(touched: Sequence[Touched], pipeline: str | None) -> str:
    """How many consumers and downstream topics, as a sentence; `pipeline`: that of the incident."""
    consumers = len({one.name for one in touched if one.is_consumer})
    topics = len({one.name for one in touched if not one.is_consumer})
    if not touched:
        return f"No consumer and no downstream topic is known to be touched: {none_touched(pipeline)}."
    is_sure = any(one.grade in (Grade.PROVEN, Grade.PROBABLE) for one in touched)
    number = f"{wording.plural(consumers, 'consumer')} and {wording.plural(topics, 'downstream topic')}"
    return f"{number} {'are' if is_sure else 'may be'} touched."


def none_touched(pipeline: str | None) -> str:
    """Why nobody is known to be touched by an incident."""
    if pipeline is None:
        return "no known pipeline reads or writes here"
    return "none of its findings names offsets that a consumer met"


def where(finding: Finding) -> str:
    place = finding.place
    partition = "" if place.partition is None else f"-{place.partition}"
    parts = (f"{place.topic}{partition}" if place.topic else None, place.group_id)
    return " · ".join(part for part in parts if part)
