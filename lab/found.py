"""A finding of a monitor, reduced to what the judge compares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from guarantees.findings import Evidence, Grade, Kind
from guarantees.lifecycle import FindingHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One finding of a monitor. What it does not count or bound is None.

    `first_offset` and `last_offset` (inclusive) are those of the records concerned, where the finding names them;
    `first_seen_ms` is when the finding was in the store. `title` is for people. Grade and evidence are its newest.
    """

    kind: Kind
    topic: str
    partition: int | None
    group_id: str | None
    lower: int | None
    estimate: int | None
    upper: int | None
    first_offset: int | None
    last_offset: int | None
    first_seen_ms: int
    title: str
    grade: Grade | None = None
    evidence: Mapping[str, object] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """As people write it."""
        return self.topic if self.partition is None else f"{self.topic}-{self.partition}"


def as_found(history: FindingHistory) -> Found:
    """A finding as the judge sees it."""
    finding, bounds = history.finding, history.finding.bounds
    offsets = _OFFSETS[finding.kind](finding.evidence) if finding.kind in _OFFSETS else ()
    return Found(
        kind=finding.kind,
        topic=finding.place.topic or "",
        partition=finding.place.partition,
        group_id=finding.place.group_id,
        lower=None if bounds is None else bounds.lower,
        estimate=None if bounds is None else bounds.estimate,
        upper=None if bounds is None else bounds.upper,
        first_offset=min(offsets, default=None),
        last_offset=max(offsets, default=None),
        first_seen_ms=history.opened_at_ms,
        title=finding.title,
        grade=finding.grade,
        evidence=finding.evidence,
    )


def _number(value: object) -> int:
    return int(str(value))


def _records(*lists: Any) -> list[Mapping[str, int]]:
    return [record for each in lists for record in each]


def _span(first: str, end: str) -> Callable[[Evidence], tuple[int, ...]]:
    """Offsets from one value of the evidence to the one before another."""
    return lambda evidence: (_number(evidence[first]), _number(evidence[end]) - 1)


# How a finding's evidence says which records it is about; other kinds concern no single records.
_OFFSETS: Mapping[Kind, Callable[[Evidence], tuple[int, ...]]] = {
    Kind.DUPLICATE_WRITE: lambda evidence: (_number(evidence["first_offset"]), _number(evidence["last_offset"])),
    Kind.LOST_WRITE: lambda evidence: tuple(one["offset"] for one in _records(evidence["lost"], evidence["late"])),
    Kind.ABORTED_AT_SINK: lambda evidence: (_number(evidence["first_offset"]), _number(evidence["last_offset"])),
    Kind.POSSIBLE_REDELIVERY: _span("committed_offset_before", "high_watermark"),
    Kind.STABLE_OFFSET_FROZEN: lambda evidence: (_number(evidence["start_offset"]),),
    Kind.TRANSACTION_TIMED_OUT: _span("first_offset", "marker_offset"),
    Kind.REWIND: _span("committed_offset", "committed_offset_before"),
    Kind.SKIPPED_FORWARD: _span("committed_offset_before", "committed_offset"),
    Kind.EXPIRED_UNREAD: _span("committed_offset", "log_start_offset"),
    Kind.LOG_TRUNCATED: _span("first_lost_offset", "high_watermark_before"),
    Kind.TAIL_TRUNCATED: _span("first_lost_offset", "log_end_offset_before"),
}
