"""Which share of a topic's ids is kept so that the kept records stay within a budget a second. Pure.

Rates are the declared one and the powers of two below it. Samples nest, so two rates have the lower one in common.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import frexp

from guarantees.unknown import Unknown
from spark_jobs.ledger import Coverage
from spark_jobs.ranges import Part, PartNow

SPEED_OVER_MS = 60_000  # a dozen rounds: over fewer their own jitter would be followed
RAISED_BELOW = 0.7  # of the budget: at a load that sways about a limit the rate stays the lower one


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a pipeline wants a topic sampled: at most this share of ids, and at most so many kept records a second."""

    rate: float
    records_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """The end of a partition at a time."""

    at_ms: int
    high_watermark: int


def chosen_rate(sampling: Sampling, offsets_per_s: float | None, current: float | None) -> float:
    """The rate to go on with: lowered at once where the budget is passed, raised only well below it.

    `offsets_per_s` None: not known yet; `current` None: nothing has been read.
    """
    if sampling.records_per_s is None:
        return sampling.rate
    if offsets_per_s is None:
        return sampling.rate if current is None else min(current, sampling.rate)
    highest = _within(sampling.rate, sampling.records_per_s, offsets_per_s)
    if current is None or current > highest or not _is_power_of_two(current):
        return highest
    return max(current, _within(sampling.rate, RAISED_BELOW * sampling.records_per_s, offsets_per_s))


def topic_rate(samplings: Iterable[Sampling], offsets_per_s: float | None, current: float | None) -> float:
    """Pipelines that share a topic share its sample: the finest that one of them wants and may have."""
    return max(chosen_rate(sampling, offsets_per_s, current) for sampling in samplings)


def newest_rate(coverage: Mapping[Part, Coverage], topic_id: str) -> float | None:
    """What a topic's newest range was sampled at; None where nothing of it was read lately."""
    newest = [
        covered.sampled[-1] for part, covered in coverage.items() if part.topic_id == topic_id and covered.sampled
    ]
    return max(newest, key=lambda each: each.until_ms).rate if newest else None


def marked(marks: Mapping[Part, Sequence[Mark]], parts: Iterable[PartNow]) -> dict[Part, list[Mark]]:
    """The marks after a look: those of the last minute, and one before them. An unknown end leaves none."""
    after = {part: list(known) for part, known in marks.items()}
    for now in parts:
        if not isinstance(now.high_watermark, Unknown):
            known = [*after.get(now.part, []), Mark(now.observed_at_ms, now.high_watermark)]
            older = [mark for mark in known if mark.at_ms <= now.observed_at_ms - SPEED_OVER_MS]
            after[now.part] = known[max(0, len(older) - 1) :]
    return after


def offsets_per_s(marks: Mapping[Part, Sequence[Mark]], topic_id: str) -> float | None:
    """How fast a topic grows, of partitions seen twice; None where none was. Records are never more than offsets."""
    spans = [
        (known[-1].high_watermark - known[0].high_watermark, known[-1].at_ms - known[0].at_ms)
        for part, known in marks.items()
        if part.topic_id == topic_id and known[-1].at_ms > known[0].at_ms
    ]
    return sum(max(0, offsets) * 1000 / ms for offsets, ms in spans) if spans else None


def first_guess(parts: Iterable[PartNow], topic_id: str, horizon_s: float) -> float | None:
    """Of a topic seen first: its offsets since its history begins, one horizon ago; None where no partition says."""
    offsets = [
        now.high_watermark - now.start
        for now in parts
        if now.part.topic_id == topic_id and not isinstance(now.high_watermark, Unknown)
        if not isinstance(now.start, Unknown)
    ]
    return sum(max(0, each) for each in offsets) / horizon_s if offsets else None


def _within(declared: float, records_per_s: float, offsets_per_s: float) -> float:
    if declared * offsets_per_s <= records_per_s:
        return declared
    rate = 1.0
    while rate >= declared or rate * offsets_per_s > records_per_s:
        rate /= 2
    return rate


def _is_power_of_two(rate: float) -> bool:
    return frexp(rate)[0] == 0.5
