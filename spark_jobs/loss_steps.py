"""Where the judging of a pipeline stands, partition by partition, and how far it may go next. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from spark_jobs.commits import CommitSample, due_to, judging_starts_at, seen_before
from spark_jobs.ranges import Part


@dataclass(frozen=True, slots=True)
class Judged:
    """Where the judging of one source partition stands: ids in [judged_from, judged_to) are judged.

    `sampling_rate` is the lowest they were compared at; what is lost is scaled by the rate each id was compared at.
    """

    judged_from: int
    judged_to: int
    ids_judged: int = 0
    ids_unseen: int = 0
    ids_lost: int = 0
    ids_late: int = 0
    sampling_rate: float = 1.0

    def at_rate(self, rate: float) -> "Judged":
        """The state once ids up to `judged_to` are compared at this rate."""
        return replace(
            self, sampling_rate=rate if self.judged_to == self.judged_from else min(self.sampling_rate, rate)
        )


@dataclass(frozen=True, slots=True)
class Step:
    """What the next judgement of one partition covers: ids in [judged_to, due_to) are judged, up to seen_to counted."""

    part: Part
    before: Judged
    due_to: int
    seen_to: int

    @property
    def is_due(self) -> bool:
        return self.due_to > self.before.judged_to


def next_step(
    part: Part,
    before: Judged | None,
    commits: list[CommitSample],
    *,
    covered_to: int,
    watched_since_ms: int,
    until_ms: int | None,
) -> Step | None:
    """How far a partition may be judged now; None before the first commit seen while both topics were watched.

    `until_ms` is until when the sink has been read, less the settle delay; None where it has not been read at all.
    """
    if before is None:
        start = judging_starts_at(commits, watched_since_ms)
        if start is None:
            return None
        before = Judged(start, start)
    due = None if until_ms is None else due_to(commits, until_ms)
    newest = max((sample.committed_offset for sample in commits), default=before.judged_to)
    due_offset = max(before.judged_to, min(due if due is not None else 0, covered_to))
    return Step(part, before, due_offset, max(due_offset, min(newest, covered_to)))


def sink_needed_since(steps: Mapping[Part, Step], commits: Mapping[Part, list[CommitSample]]) -> int | None:
    """A time before which no id to be judged can have been processed; None where the samples do not say."""
    times = [seen_before(commits[part], step.before.judged_to) for part, step in steps.items() if step.is_due]
    known = [time for time in times if time is not None]
    return min(known) if known and len(known) == len(times) else None
