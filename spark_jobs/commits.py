"""A group's commits over time, how far its topics were read, and how far they may be judged by that. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from guarantees.unknown import Unknown
from spark_jobs.ranges import Part, PartNow

JUDGE_EVERY = 0.1  # of the settle delay: an id that waits for 10 minutes may wait for one more


@dataclass(frozen=True, slots=True, order=True)
class CommitSample:
    """One observation of a group's committed offset on one partition."""

    observed_at_ms: int
    committed_offset: int


@dataclass(frozen=True, slots=True)
class Reading:
    """How far one partition of a topic has been read, in time.

    Everything written to it before `read_through_ms` is decided and read: the reading has passed the high watermark
    sampled then. `awaited` is the newer sample (time, high watermark) the reading has yet to pass.
    """

    read_through_ms: int | None = None
    awaited: tuple[int, int] | None = None

    def after(self, observed_at_ms: int, high_watermark: int, covered_to: int) -> "Reading":
        """The state after a round that sampled the high watermark and then read up to `covered_to`."""
        awaited = self.awaited or (observed_at_ms, high_watermark)
        if covered_to >= high_watermark:
            return Reading(observed_at_ms, None)
        if covered_to >= awaited[1]:
            return Reading(awaited[0], (observed_at_ms, high_watermark))
        return Reading(self.read_through_ms, awaited)


def read_on(
    readings: Mapping[int, Reading], partitions: Iterable[PartNow], covered_to: Mapping[Part, int]
) -> dict[int, Reading]:
    """The readings, by partition, after a round that sampled these partitions and then read them this far."""
    sampled = {
        now.part.partition: readings.get(now.part.partition, Reading()).after(
            now.observed_at_ms, now.high_watermark, covered_to[now.part]
        )
        for now in partitions
        if now.part in covered_to and not isinstance(now.high_watermark, Unknown)
    }
    return {**readings, **sampled}


def read_through(readings: Mapping[int, Reading], partitions: Sequence[int]) -> int | Unknown:
    """Until when the whole topic has been read, ms since 1970; Unknown while one partition has not been read at all."""
    if not partitions:
        return Unknown("it has no partition that can be seen")
    times = [readings[p].read_through_ms if p in readings else None for p in partitions]
    known = [time for time in times if time is not None]
    if len(known) < len(times):
        return Unknown(f"{len(times) - len(known)} of {len(times)} partitions have not been read to an end")
    return min(known)


def rising(samples: Iterable[CommitSample]) -> list[CommitSample]:
    """Only the samples above all earlier ones: enough to say how far and when the commit had passed a record.

    A rewind takes nothing back: the records were passed once.
    """
    kept: list[CommitSample] = []
    for sample in sorted(samples):
        if not kept or sample.committed_offset > kept[-1].committed_offset:
            kept.append(sample)
    return kept


def seen_before(samples: Sequence[CommitSample], offset: int) -> int | None:
    """A time at which the commit had certainly not passed the record yet; None where no sample says so."""
    return max((s.observed_at_ms for s in samples if s.committed_offset <= offset), default=None)


def due_to(samples: Sequence[CommitSample], until_ms: int) -> int | None:
    """Below it the commit had passed every record by `until_ms`; None where nothing had been committed."""
    return max((s.committed_offset for s in samples if s.observed_at_ms <= until_ms), default=None)


def passed_at(samples: Sequence[CommitSample], offset: int) -> int | None:
    """When a commit was first seen past the record; None where none of the samples is."""
    return min((s.observed_at_ms for s in samples if s.committed_offset > offset), default=None)


def judging_starts_at(samples: Sequence[CommitSample], watched_since_ms: int) -> int | None:
    """Where the commit stood when both topics were first watched, or was first seen after; None before that.

    What was passed earlier may have left its trace in a part of the sink that was never read.
    """
    before = due_to(samples, watched_since_ms)
    return before if before is not None else (min(samples).committed_offset if samples else None)
