"""Which ranges of offsets the next round reads: pure planning from the ledger and the offsets as they are now.

A range ends at min(high watermark, last stable offset), fixed before the read: below it every transaction is decided.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from guarantees.unknown import Unknown

ASSUMED_BYTES_PER_OFFSET = 1000.0  # until a topic has been read once


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A partition of one history of a topic; `topic_id` is Kafka's UUID as text."""

    cluster_id: str
    topic: str
    topic_id: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class PartNow:
    """A partition's leader and offsets as sampled for a round. `start` is where a history seen first begins."""

    part: Part
    leader: int | Unknown
    log_start_offset: int | Unknown
    last_stable_offset: int | Unknown
    high_watermark: int | Unknown
    start: int | Unknown
    observed_at_ms: int


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Offsets [first_offset, next_offset) of a partition, to be read from `leader`."""

    part: Part
    leader: int
    first_offset: int
    next_offset: int

    @property
    def offsets(self) -> int:
        return self.next_offset - self.first_offset


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do about the partitions of a round.

    `waiting` says why a partition is not read in it; `left` counts by topic the offsets of ranges cut to the budget.
    """

    ranges: tuple[OffsetRange, ...]
    anchors: tuple[OffsetRange, ...]  # empty ranges: a history seen first that has nothing to read yet
    purged: tuple[OffsetRange, ...]  # deleted by retention before they were read
    waiting: Mapping[Part, str]
    left: Mapping[str, int]

    @property
    def backlog(self) -> int:
        """Offsets left for later rounds, beside those that wait."""
        return sum(self.left.values())


def plan(
    parts: Iterable[PartNow],
    covered_to: Mapping[Part, int],
    *,
    budget_bytes: int,
    bytes_per_offset: Mapping[str, float],
) -> Plan:
    """The ranges of one cluster's next round; `budget_bytes` is what it may read, `bytes_per_offset` is by topic."""
    unread: list[OffsetRange] = []
    anchors: list[OffsetRange] = []
    purged: list[OffsetRange] = []
    waiting: dict[Part, str] = {}
    for now in parts:
        known = covered_to.get(now.part)
        found = unread_range(now, known)
        if isinstance(found, Unknown):
            waiting[now.part] = found.reason
            continue
        if known is not None and known < found.first_offset:
            purged.append(replace(found, first_offset=known, next_offset=found.first_offset))
        if found.offsets:
            unread.append(found)
        elif known is None:
            anchors.append(found)
    ranges = within_budget(unread, budget_bytes, bytes_per_offset)
    return Plan(tuple(ranges), tuple(anchors), tuple(purged), waiting, _left(unread, ranges))


def unread_range(now: PartNow, covered_to: int | None) -> OffsetRange | Unknown:
    """What is stored, decided and not read yet; Unknown where it cannot be said or must not be read now."""
    for value in (now.leader, now.log_start_offset, now.last_stable_offset, now.high_watermark):
        if isinstance(value, Unknown):
            return value
    begin = now.start if covered_to is None else covered_to
    if isinstance(begin, Unknown):
        return begin
    end = min(now.high_watermark, now.last_stable_offset)
    first = max(begin, now.log_start_offset)
    if end < first:
        return Unknown(f"the log ends at {end}, below {first} where reading would go on: it was truncated")
    return OffsetRange(now.part, now.leader, first, end)


def within_budget(
    unread: Sequence[OffsetRange], budget_bytes: int, bytes_per_offset: Mapping[str, float]
) -> list[OffsetRange]:
    """Cut the ranges so that together they are expected to stay within the budget: equal shares, none wasted.

    Each keeps at least one offset, or a topic of large records would never be read.
    """
    left = float(budget_bytes)
    costs = {r: bytes_per_offset.get(r.part.topic_id, ASSUMED_BYTES_PER_OFFSET) for r in unread}
    by_size = sorted(unread, key=lambda r: r.offsets * costs[r])
    cut: list[OffsetRange] = []
    for number, unread_part in enumerate(by_size):
        share = left / (len(by_size) - number)
        offsets = min(unread_part.offsets, max(1, int(share / costs[unread_part])))
        left -= offsets * costs[unread_part]
        cut.append(replace(unread_part, next_offset=unread_part.first_offset + offsets))
    return sorted(cut, key=lambda r: r.part)


def _left(unread: Iterable[OffsetRange], ranges: Iterable[OffsetRange]) -> dict[str, int]:
    """By topic, what is unread and in no range; topics read to their end are not named."""
    left: Counter[str] = Counter()
    for each in unread:
        left[each.part.topic] += each.offsets
    for each in ranges:
        left[each.part.topic] -= each.offsets
    return {topic: offsets for topic, offsets in left.items() if offsets}
