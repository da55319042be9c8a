"""Job: ids of a pipeline's source that its group's commit has passed and its sink has not shown.

An id is judged once the commit has been past it for the settle delay and everything written to the sink until then has
been decided and read. Until then it is unseen; what comes after all makes a lost id late.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from settings import PipelineSettings
from spark_jobs.commits import CommitSample, passed_at
from spark_jobs.loss_comparison import judged_rows
from spark_jobs.loss_steps import Judged, Step
from spark_jobs.ranges import Part
from spark_jobs.statistics import ids_at_rates
from spark_jobs.stored_samples import Stored

LOST, LATE = "lost", "late"


@dataclass(frozen=True, slots=True)
class LossRound:
    """The outcome of a pipeline's round: the new state by partition, and rows of lost_ids that are new or changed."""

    judged: Mapping[Part, Judged] = field(default_factory=dict)
    lost_ids: tuple[dict[str, Any], ...] = ()


def judge(
    source: Stored,
    sink: Stored,
    steps: Mapping[Part, Step],
    commits: Mapping[Part, list[CommitSample]],
    *,
    pipeline: PipelineSettings,
    rate: float,
    now_ms: int,
) -> LossRound:
    """Judge the due ids of all partitions at once. Both sides are read here, or both by Spark.

    `rate` is the lowest of all samples that are compared: of other ids one side may lack what the other has.
    """
    by_partition = {part.partition: step for part, step in steps.items()}
    found = judged_rows(source, sink, by_partition, rate, pipeline.fan_out)
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
