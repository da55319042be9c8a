"""What a link between an effect and its cause is made of, and what links look up in a finding."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guarantees.findings import Finding, Kind, Statement
from guarantees.places import TopicPartition

# As long as a member needs to settle, or stays listed after it died (the default session timeout is 45 s).
REBALANCE_EXPLAINS_MS = 60_000


@dataclass(frozen=True, slots=True)
class GroupRebalance:
    """A rebalance as the store keeps it; it happened after `changed_after_ms` and no later than `observed_at_ms`."""

    cluster_id: str
    group_id: str
    left: tuple[str, ...]
    moved: frozenset[TopicPartition]
    cause: str
    changed_after_ms: int
    observed_at_ms: int

    @property
    def event(self) -> str:
        return rebalance_event(self.cluster_id, self.group_id, self.observed_at_ms)


@dataclass(frozen=True, slots=True)
class WantedRebalances:
    """The rebalances that may explain some findings: of a group, observed from one moment to another, both included.

    `spans` is never empty; those of one group do not overlap. Times are ms since 1970, UTC.
    """

    spans: tuple[tuple[str, int, int], ...]

    @property
    def from_ms(self) -> int:
        return min(start for _, start, _ in self.spans)

    @property
    def to_ms(self) -> int:
        return max(end for _, _, end in self.spans)

    def within(self, from_ms: int, to_ms: int) -> "WantedRebalances | None":
        """What of them lies in a time; None where nothing does."""
        cut = [(group_id, max(start, from_ms), min(end, to_ms)) for group_id, start, end in self.spans]
        left = tuple(one for one in cut if one[1] <= one[2])
        return WantedRebalances(left) if left else None


@dataclass(frozen=True, slots=True)
class Cause:
    """`statement` is true to its grade. `finding_id`: the earlier finding; None where an event explains it.

    `event` names the event, so that findings with one origin can be told: a rebalance, an election, a producer.
    """

    link: str
    statement: Statement
    at_ms: int
    finding_id: str | None = None
    event: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An effect, a possible cause of it, and the condition on both evidences, which gives the sentence or None."""

    effect: Kind
    cause: Kind
    holds: Callable[[Finding, Finding], Statement | None]


@dataclass(frozen=True, slots=True)
class SinkLink:
    """As Link, from the source to the sink; the effect begins within `within_ms` after its cause may have begun."""

    effect: Kind
    cause: Kind
    within_ms: int
    holds: Callable[[Finding, Finding], Statement | None]


@dataclass(frozen=True, slots=True)
class EventLink:
    """As Link, where the cause is an event that is no finding.

    It is seen within REBALANCE_EXPLAINS_MS of the effect; `while_it_lasts`: or at any time until that was last seen.
    """

    effect: Kind
    holds: Callable[[Finding, GroupRebalance], Statement | None]
    while_it_lasts: bool = False


@dataclass(frozen=True, slots=True)
class EvidenceLink:
    """As Link, where the finding's own evidence names the event. Gives (sentence, name of the event, its time)."""

    effect: Kind
    holds: Callable[[Finding], tuple[Statement, str, int] | None]


@dataclass(frozen=True, slots=True)
class LinkTable:
    """`at_place` link findings of one partition (and group); `to_sink` a sink's findings to those of the source."""

    at_place: Sequence[Link]
    to_sink: Sequence[SinkLink]
    rebalances: Sequence[EventLink]
    evidence: Sequence[EvidenceLink]


def rebalance_event(cluster_id: str, group_id: str | None, observed_at_ms: int) -> str:
    """One name for a rebalance, whether it is read from the store or from a finding's evidence."""
    return f"rebalance of {group_id} at {observed_at_ms} on {cluster_id}"


def whole_number(finding: Finding, name: str) -> int | None:
    """A whole number of the evidence; stored evidence may be older than the link, and then proves nothing."""
    value = finding.evidence.get(name)
    return value if isinstance(value, int) else None


def earliest_ms(finding: Finding) -> int:
    """When the fact may have begun: just after the last sample that did not show it."""
    names = ("observed_before_at_ms", "changed_after_ms", "after_ms")
    known = [value for name in names if (value := whole_number(finding, name)) is not None]
    return min([finding.happened_at_ms, *known])
