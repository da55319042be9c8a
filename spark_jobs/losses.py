"""Job: ids of a pipeline's source that its group's commit has passed and its sink has not shown.

An id is judged once the commit has been past it for the settle delay and everything written to the sink until then has
been decided and read. Until then it is unseen; what comes after all makes a lost id late.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from settings import PipelineSettings
from spark_jobs.commits import CommitSample, due_to, judging_starts_at, passed_at, seen_before
from spark_jobs.ranges import Part
from spark_jobs.sampling import is_kept_column
from spark_jobs.statistics import ids_at_rates
from spark_jobs.transforms.losses import judged_ids

LOST, LATE = "lost", "late"


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


@dataclass(frozen=True, slots=True)
class LossRound:
    """The outcome of a pipeline's round: the new state by partition, and rows of lost_ids that are new or changed."""

    judged: Mapping[Part, Judged] = field(default_factory=dict)
    lost_ids: tuple[dict[str, Any], ...] = ()


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


def judge(
    source: DataFrame,
    sink: DataFrame,
    steps: Mapping[Part, Step],
    commits: Mapping[Part, list[CommitSample]],
    *,
    pipeline: PipelineSettings,
    rate: float,
    now_ms: int,
) -> LossRound:
    """Judge the due ids of all partitions in one Spark job.

    `rate` is the lowest of all samples that are compared: of other ids one side may lack what the other has.
    """
    by_partition = {part.partition: step for part, step in steps.items()}
    kept = is_kept_column(sf.col("id_hash"), rate)
    candidates = source.where(kept & _between(by_partition)).withColumn("is_due", _is_due(by_partition))
    found = judged_ids(candidates, sink.where(kept), pipeline.fan_out).toArrow().to_pylist()
    rows = {row["partition"]: row for row in found}
    judged: dict[Part, Judged] = {}
    lost_ids: list[dict[str, Any]] = []
    for part, step in steps.items():
        row = rows.get(part.partition, {"ids_judged": 0, "ids_unseen": 0, "lost": []})
        before = step.before.at_rate(rate) if step.is_due else step.before
        judged[part] = replace(
            before,
            judged_to=step.due_to,
            ids_judged=step.before.ids_judged + row["ids_judged"],
            ids_unseen=row["ids_unseen"],
            ids_lost=step.before.ids_lost + len(row["lost"]),
        )
        lost_ids += [_lost_row(pipeline, part, lost, commits[part], rate, now_ms) for lost in row["lost"]]
    return LossRound(judged, tuple(lost_ids))


def late_arrivals(
    lost: Mapping[int, list[dict[str, Any]]], sink_samples: list[tuple[str, int, int, int]], now_ms: int
) -> list[dict[str, Any]]:
    """Rows of lost ids (by hash) of which newly read sink records show one: late, once nothing of them is missing.

    A sink sample is (topic, partition, offset, hash).
    """
    changed: dict[tuple[object, ...], dict[str, Any]] = {}
    for topic, partition, offset, id_hash in sink_samples:
        for row in lost.get(id_hash, []):
            row = changed.get(place_of(row), row)
            if row["state"] == LOST:
                changed[place_of(row)] = _shown_once(row, f"{topic}-{partition}:{offset}", now_ms)
    return list(changed.values())


def place_of(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Of the source record."""
    return tuple(row[name] for name in ("topic_id", "partition", "offset"))


def _shown_once(row: Mapping[str, Any], found_at: str, now_ms: int) -> dict[str, Any]:
    """A row from before fan-outs were counted lacks one record."""
    missing = (row["missing"] or 1) - 1
    if missing:
        return {**row, "missing": missing, "observed_at": now_ms}
    return {**row, "missing": 0, "state": LATE, "found_at": found_at, "observed_at": now_ms}


def losses_row(
    pipeline: PipelineSettings,
    part: Part,
    judged: Judged,
    *,
    lost: Iterable[Mapping[str, Any]],
    sink_read_to: Mapping[int, int],
    now_ms: int,
) -> dict[str, object]:
    """A row of the table `losses`, without its run; `lost` are the partition's rows of lost_ids that are lost."""
    seen = Counter(row["sampling_rate"] or judged.sampling_rate for row in lost)
    interval = ids_at_rates({judged.sampling_rate: 0, **seen})
    return {
        "pipeline": pipeline.name,
        **_place(part),
        "judged_from": judged.judged_from,
        "judged_to": judged.judged_to,
        "ids_judged": judged.ids_judged,
        "ids_unseen": judged.ids_unseen,
        "ids_lost": judged.ids_lost,
        "ids_late": judged.ids_late,
        "lower": interval.lower,
        "estimate": interval.estimate,
        "upper": interval.upper,
        "sampling_rate": judged.sampling_rate,
        "settle_s": pipeline.settle_s,
        "sink_read_to": json.dumps(sorted(sink_read_to.items())),
        "observed_at": now_ms,
    }


def _between(steps: Mapping[int, Step]) -> Column:
    condition = sf.lit(False)
    for partition, step in steps.items():
        offset = sf.col("offset")
        condition |= (sf.col("partition") == partition) & (offset >= step.before.judged_to) & (offset < step.seen_to)
    return condition


def _is_due(steps: Mapping[int, Step]) -> Column:
    condition = sf.lit(False)
    for partition, step in steps.items():
        condition |= (sf.col("partition") == partition) & (sf.col("offset") < step.due_to)
    return condition


def _lost_row(
    pipeline: PipelineSettings,
    part: Part,
    lost: Mapping[str, Any],
    commits: list[CommitSample],
    rate: float,
    now_ms: int,
) -> dict[str, Any]:
    return {
        "pipeline": pipeline.name,
        **_place(part),
        "offset": lost["offset"],
        "id_hash": lost["id_hash"],
        "message_id": lost["message_id"],
        "state": LOST,
        "missing": lost["missing"],
        "sampling_rate": rate,
        "record_observed_at": round(lost["observed_at"].timestamp() * 1000),
        "passed_at": passed_at(commits, lost["offset"]),
        "decided_at": now_ms,
        "found_at": None,
        "observed_at": now_ms,
    }


def _place(part: Part) -> dict[str, object]:
    return {
        "cluster_id": part.cluster_id,
        "topic": part.topic,
        "topic_id": part.topic_id,
        "partition": part.partition,
    }
