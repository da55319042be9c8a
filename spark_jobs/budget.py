"""Which share of a topic's ids is kept so that the kept records stay within a budget a second. Pure.

Rates are the declared one and the powers of two below it. Samples nest, so two rates have the lower one in common.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import frexp

from guarantees.unknown import Unknown
from spark_jobs.ledger import Coverage, Sampled
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


def newest_rates(coverage: Mapping[Part, Coverage]) -> dict[str, float]:
    """By topic id, what the newest range was sampled at; of topics of which something was read lately."""
    newest: dict[str, Sampled] = {}
    for part, covered in coverage.items():
        for last in covered.sampled[-1:]:
            known = newest.get(part.topic_id, last)
            newest[part.topic_id] = max(known, last, key=lambda each: each.until_ms)
    return {topic_id: last.rate for topic_id, last in newest.items()}


def marked(marks: Mapping[Part, Sequence[Mark]], parts: Iterable[PartNow]) -> dict[Part, list[Mark]]:
    """The marks after a look: those of the last minute, and one before them. An unknown end leaves none."""
    after = {part: list(known) for part, known in marks.items()}
    for now in parts:
        if not isinstance(now.high_watermark, Unknown):
            known = [*after.get(now.part, []), Mark(now.observed_at_ms, now.high_watermark)]
            older = [mark for mark in known if mark.at_ms <= now.observed_at_ms - SPEED_OVER_MS]
            after[now.part] = known[max(0, len(older) - 1) :]
    return after


def speeds(marks: Mapping[Part, Sequence[Mark]]) -> dict[str, float]:
    """By topic id, the offsets a second of its partitions seen twice. Records are never more than offsets."""
    found: dict[str, float] = {}
    for part, known in marks.items():
        offsets, ms = known[-1].high_watermark - known[0].high_watermark, known[-1].at_ms - known[0].at_ms
        if ms > 0:
            found[part.topic_id] = found.get(part.topic_id, 0.0) + max(0, offsets) * 1000 / ms
    return found


def first_guesses(parts: Iterable[PartNow], horizon_s: Mapping[str, float]) -> dict[str, float]:
    """The same of partitions seen first: their offsets since their history begins, `horizon_s` (by topic) ago."""
    found: dict[str, float] = {}
    for now in parts:
        if not isinstance(now.high_watermark, Unknown) and not isinstance(now.start, Unknown):
            offsets = max(0, now.high_watermark - now.start)
            guess = found.get(now.part.topic_id, 0.0) + offsets / horizon_s[now.part.topic]
            found[now.part.topic_id] = guess
    return found


def _within(declared: float, records_per_s: float, offsets_per_s: float) -> float:
    if declared * offsets_per_s <= records_per_s:
        return declared
    rate = 1.0
    while rate >= declared or rate * offsets_per_s > records_per_s:
        rate /= 2
    return rate


def _is_power_of_two(rate: float) -> bool:
    return frexp(rate)[0] == 0.5
