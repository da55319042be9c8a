"""For how much of a window a promise was kept: known violations, lost margins, and time in which nobody can tell.

Everything is widened to whole minutes, so that a loss of an instant is not a violation of no time at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from guarantees.promises import Verdict

MINUTE_MS = 60_000
Span = tuple[int, int]  # from, up to and not including; ms since 1970, UTC


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which a promise was not plainly kept, and why."""

    from_ms: int
    to_ms: int
    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class PromiseTime:
    """The window cut into stretches of one verdict each, by verdict; each moment counts for its worst."""

    from_ms: int
    to_ms: int
    spans: Mapping[Verdict, Sequence[Span]]

    def ms(self, verdict: Verdict) -> int:
        return sum(end - start for start, end in self.spans.get(verdict, ()))

    @property
    def length_ms(self) -> int:
        return self.to_ms - self.from_ms

    @property
    def kept_ms(self) -> tuple[int, int]:
        """At least, and at most: in unknown time it may have been kept. A lost margin is a promise still kept."""
        least = self.ms(Verdict.OK) + self.ms(Verdict.DEGRADED)
        return least, least + self.ms(Verdict.UNKNOWN)


def promise_time(from_ms: int, to_ms: int, stretches: Iterable[Stretch]) -> PromiseTime:
    """`stretches` may overlap and reach beyond the window; where there is none the promise was kept."""
    known = list(stretches)
    left: list[Span] = [(from_ms, to_ms)] if from_ms < to_ms else []
    spans: dict[Verdict, Sequence[Span]] = {}
    for verdict in (Verdict.VIOLATED, Verdict.DEGRADED, Verdict.UNKNOWN):
        own = union(widened(one) for one in known if one.verdict is verdict)
        spans[verdict], left = common(left, own), without(left, own)
    return PromiseTime(from_ms, to_ms, spans | {Verdict.OK: left})


def widened(one: Stretch) -> Span:
    """The whole minutes it touches, at least one."""
    start = one.from_ms - one.from_ms % MINUTE_MS
    return start, max(start + MINUTE_MS, -(-one.to_ms // MINUTE_MS) * MINUTE_MS)


def union(spans: Iterable[Span]) -> list[Span]:
    """Disjoint and in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif start < end:
            found.append((start, end))
    return found


def common(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """What lies in both; both disjoint and in order."""
    found, number = list[Span](), 0
    for start, end in spans:
        while number < len(others) and others[number][1] <= start:
            number += 1
        place = number
        while place < len(others) and others[place][0] < end:
            found.append((max(start, others[place][0]), min(end, others[place][1])))
            place += 1
    return found


def without(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """What lies in the first alone; both disjoint and in order."""
    gaps = zip([-(2**62), *(end for _, end in others)], [*(start for start, _ in others), 2**62], strict=True)
    return common(spans, [(start, end) for start, end in gaps if start < end])
