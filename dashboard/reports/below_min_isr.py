"""The section of a durability report on times below min ISR and offline, partition by partition."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import low_isr, wording
from dashboard.low_isr import LowStretch
from dashboard.names import cut
from dashboard.replication import label
from dashboard.reports.document import Cell, Column, Lanes, Part, Sentence, Table, Type
from dashboard.reports.finding_tables import limited
from dashboard.reports.look import Look
from dashboard.reports.states import WHILE_OBSERVED, StatesSeen, none_was
from guarantees.findings import Bounds, Unit
from guarantees.promise_time import union
from guarantees.promises import Verdict
from guarantees.unknown import Unknown

Row = Mapping[str, Any]
BELOW = (
    Column("Partition"), Column("At least, s", Type.COUNT), Column("At most, s", Type.COUNT), Column("Unknown because"),
    Column("Offline at least, s", Type.COUNT), Column("Offline at most, s", Type.COUNT),
)  # fmt: skip
LOW = (
    Column("Partition"), Column("Below by", Type.TIME), Column("Last seen below", Type.TIME), Column("State"),
    Column("Began after", Type.TIME), Column("Over by", Type.TIME), Column("How long"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Below:
    """One partition that was below min ISR or offline; times in seconds, at least and at most.

    `no_upper_end`: why the time below has none.
    """

    name: str
    stretches: tuple[LowStretch, ...]
    below: Bounds | Unknown
    offline: Bounds
    no_upper_end: Unknown | None

    @property
    def unknown_because(self) -> str | None:
        """Why one of the times has no upper end; None where both have."""
        of_offline = low_isr.NOT_WATCHED if self.offline.upper is None else None
        why = self.no_upper_end or of_offline
        return None if why is None else why.reason


def below(history: Sequence[Row], look: Look, gap_ms: int) -> Below:
    """Of a window with gaps no upper end is known: what nobody saw of one partition, nobody saw of any."""
    window = (look.from_ms, look.to_ms, gap_ms)
    found = low_isr.stretches(history, *window)
    offline = low_isr.stretches(history, *window, low_isr.is_offline)
    is_always_on = not look.gaps and low_isr.is_watched(history, *window, low_isr.is_offline)
    seconds, why = low_isr.time_below(history, *window), low_isr.no_upper_end(history, *window)
    if why is None and look.gaps:
        why = low_isr.NOT_WATCHED
    return Below(
        name=cut(label(history[0])),
        stretches=tuple(found),
        below=seconds if isinstance(seconds, Unknown) else low_isr.spent(found, is_bounded=why is None),
        offline=low_isr.spent(offline, is_bounded=is_always_on),
        no_upper_end=why,
    )


def _sum(bounds: Iterable[Bounds]) -> Bounds:
    known = list(bounds)
    upper = None if any(one.upper is None for one in known) else sum(one.upper or 0 for one in known)
    return Bounds(sum(one.lower for one in known), None, upper, Unit.SECONDS)


def parts(look: Look, seen: StatesSeen, below: Sequence[Below]) -> Iterator[Part]:
    yield from _below_sentences(look, seen, below)
    none = none_was("seen", look, seen)
    stretches = _stretches(below, none)
    if below:
        yield Lanes("Partitions below min ISR", _alt(below), stretches, "Partition", "Below by", "Last seen below",
                    "State", look.from_ms, look.to_ms)  # fmt: skip
    yield stretches
    yield _by_partition(below, none)


def _below_sentences(look: Look, seen: StatesSeen, below: Sequence[Below]) -> Iterator[Sentence]:
    if not seen.partitions:
        yield Sentence("No partition was observed in the window: nothing is known of its durability.")
        return
    number = f"{wording.count(len(below))} of {wording.plural(seen.partitions, 'partition')}"
    yield Sentence(f"{number} seen were below min ISR or offline at some time.")
    least = union((one.since_ms, one.last_ms) for own in below for one in own.stretches)
    most = union((one.after_ms, one.until_ms) for own in below for one in own.stretches)
    is_whole = not look.gaps and all(one.no_upper_end is None for one in below)
    observed = f"{_seconds(most)} at most{'' if is_whole else WHILE_OBSERVED}"
    yield Sentence(f"At least one of them was for {_seconds(least)} at least and {observed}.")
    if look.gaps:
        yield Sentence(f"{_unobserved(look)} without any round are not counted: what was below then is unknown.")
    total = _sum(one.below for one in below if isinstance(one.below, Bounds))
    is_bounded = total.upper is not None and not look.gaps
    upper = f"{total.upper:,} s at most" if is_bounded else "no upper bound is known"
    yield Sentence(f"All of them together: {total.lower:,} partition-seconds at least; {upper}.")
    if seen.unread:
        unread = wording.plural(seen.unread, "partition")
        yield Sentence(f"Of {unread} min ISR could not be read at some time: whether they were below it is unknown.")


def _unobserved(look: Look) -> str:
    return wording.duration(sum(one.to_ms - one.from_ms for one in look.gaps))


def _seconds(spans: Sequence[tuple[int, int]]) -> str:
    return f"{sum(end - start for start, end in spans) // 1000:,} s"


def _alt(below: Sequence[Below]) -> str:
    return f"{wording.plural(len(below), 'partition')} with the times in which each was seen below min ISR or offline."


def _stretches(below: Sequence[Below], none: str) -> Table:
    rows: list[dict[str, Cell]] = [
        {"Partition": own.name, "Below by": one.since_ms, "Last seen below": one.last_ms,
         "State": wording.LOOKS[Verdict.DEGRADED].text, "Began after": one.after_ms, "Over by": one.until_ms,
         "How long": wording.bounds(one.bounds)}
        for own in below for one in own.stretches
    ]  # fmt: skip
    return limited("below_times", "Each time below min ISR", LOW, rows, none)


def _by_partition(below: Sequence[Below], none: str) -> Table:
    longest_first = sorted(below, key=lambda one: (-_least(one), one.name))
    rows: list[dict[str, Cell]] = [
        {"Partition": one.name, **_ends(one.below, "At least, s", "At most, s"),
         "Unknown because": one.unknown_because,
         **_ends(one.offline, "Offline at least, s", "Offline at most, s")}
        for one in longest_first
    ]  # fmt: skip
    return limited("below_by_partition", "Time below min ISR by partition", BELOW, rows, none)


def _least(one: Below) -> int:
    return one.below.lower if isinstance(one.below, Bounds) else 0


def _ends(bounds: Bounds | Unknown, least: str, most: str) -> dict[str, Cell]:
    if isinstance(bounds, Unknown):
        return {least: None, most: None}
    return {least: bounds.lower, most: bounds.upper}
