"""A pipeline explained: its promise and why it is taken for it, what the verdict rests on, what the promise needs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dashboard.promise_facts import Answers, Row, Seen
from guarantees.cause_links import LINKS
from guarantees.causes import causes
from guarantees.findings import Finding
from guarantees.incidents import Incident, incidents
from guarantees.inference import Inference, inferred
from guarantees.links import Cause, GroupRebalance
from guarantees.places import TopicPartition
from guarantees.promise_audit import Requirement, audited
from guarantees.promises import Pipeline, Verdict, judge
from guarantees.unknown import Unknown
from guarantees.verdicts import PipelineVerdict, concerns

# What a promise that its owner declared still cannot be checked against, whoever watches from outside.
NOT_OBSERVABLE = (
    "the consumer's position between two commits, and whether it processed what it read",
    "the producers' acks, and whether a missing sequence had been acknowledged",
    "the isolation.level of a group that never passed the last stable offset",
    "records lost before the first sample, and duplicates under new ids",
    "whether a member left by timeout, crash or request",
)


@dataclass(frozen=True, slots=True)
class Touching:
    """An open finding that concerns the pipeline, what it means for the promise, and what explains it."""

    finding: Finding
    means: Verdict
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a promise is taken for, and what it needs. `inference` None: it was declared."""

    pipeline: Pipeline
    inference: Inference | None
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """`incidents`: those that lasted into the verdict's window.

    `missed`: by finding id, why no rebalance could be looked for that explains it.
    """

    judged: PipelineVerdict
    needs: Needs
    open_findings: tuple[Touching, ...]
    incidents: tuple[Incident, ...]
    missed: Mapping[str, Unknown]

    @property
    def pipeline(self) -> Pipeline:
        return self.judged.pipeline


def needs(judged: PipelineVerdict, answers: Answers) -> Needs:
    """By what was answered of the pipeline."""
    pipeline, facts = judged.pipeline, Seen(answers).facts(judged.pipeline, judged.sight.coverage)
    inference = inferred(pipeline.group_id, facts) if pipeline.is_inferred else None
    return Needs(pipeline, inference, audited(pipeline, facts))


def explanation(
    judged: PipelineVerdict,
    answers: Answers,
    findings: Iterable[Finding],
    explained: Mapping[str, tuple[Cause, ...]],
    missed: Mapping[str, Unknown],
) -> Explanation:
    """`findings` are the cluster's; `explained` what `causes_of` gave for them, `missed` rebalances_read.missed_by."""
    pipeline, known, from_ms = judged.pipeline, list(findings), judged.sight.rounds.from_ms
    return Explanation(
        judged=judged,
        needs=needs(judged, answers),
        open_findings=tuple(
            Touching(one, judge(one.kind, one.severity, pipeline.promise), explained.get(one.finding_id, ()))
            for one in sorted(known, key=lambda one: (-one.severity, -one.last_seen_at_ms))
            if one.closed_reason is None and concerns(pipeline, one)
        ),
        incidents=tuple(
            one for one in incidents(known, explained, [pipeline]) if one.to_ms is None or one.to_ms >= from_ms
        ),
        missed=missed,
    )


def causes_of(
    findings: Iterable[Finding], rebalances: Sequence[Row], cluster_id: str, pipelines: Iterable[Pipeline]
) -> dict[str, tuple[Cause, ...]]:
    """What explains the findings of a cluster; `rebalances` are the stored ones, which expire before findings do."""
    return causes(findings, (_rebalance(row, cluster_id) for row in rebalances), pipelines, LINKS)


def _rebalance(row: Row, cluster_id: str) -> GroupRebalance:
    return GroupRebalance(
        cluster_id=cluster_id,
        group_id=row["group_id"],
        left=tuple(json.loads(row["left"])),
        moved=frozenset(TopicPartition(topic, partition) for topic, partition, *_ in json.loads(row["moved"])),
        cause=row["cause"],
        changed_after_ms=row["changed_after_ms"],
        observed_at_ms=row["observed_at_ms"],
    )
