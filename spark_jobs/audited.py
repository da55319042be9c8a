"""Which topics are read record by record: the sources and sinks of the pipelines in the settings."""

from collections.abc import Iterable
from dataclasses import dataclass

from settings import MessageId, PipelineSettings, SettingsError
from spark_jobs.budget import Sampling


@dataclass(frozen=True, slots=True)
class AuditedTopic:
    """How one topic is sampled. Pipelines that share it share its ids; the finest sampling and longest horizon count.

    `copies` of an id are meant to be there: a sink has as many as the pipeline's fan-out.
    """

    cluster: str
    topic: str
    message_id: MessageId
    samplings: frozenset[Sampling]
    horizon_s: float
    store_ids: bool
    copies: int = 1


def audited_topics(pipelines: Iterable[PipelineSettings]) -> tuple[AuditedTopic, ...]:
    """One entry per cluster and topic. Raises SettingsError where two pipelines see different ids in one topic."""
    found: dict[tuple[str, str], AuditedTopic] = {}
    for pipeline in pipelines:
        for topic in filter(None, (pipeline.source, pipeline.sink)):
            key = pipeline.cluster, topic
            found[key] = _joined(found.get(key), _as_audited(pipeline, topic), pipeline.name)
    return tuple(found.values())


def decoders(pipelines: Iterable[PipelineSettings]) -> list[str]:
    """Names of those that ids need, each once."""
    return sorted({pipeline.id.decoder for pipeline in pipelines if pipeline.id.decoder is not None})


def _as_audited(pipeline: PipelineSettings, topic: str) -> AuditedTopic:
    return AuditedTopic(
        cluster=pipeline.cluster,
        topic=topic,
        message_id=pipeline.id,
        samplings=frozenset({Sampling(pipeline.rate, pipeline.records_per_s)}),
        horizon_s=pipeline.horizon_s,
        store_ids=pipeline.store_ids,
        copies=pipeline.fan_out if topic == pipeline.sink else 1,
    )


def _joined(known: AuditedTopic | None, added: AuditedTopic, pipeline: str) -> AuditedTopic:
    if known is None:
        return added
    if known.message_id != added.message_id:
        raise SettingsError(
            f"pipelines.{pipeline}.id: another pipeline reads the ids of topic {added.topic!r} differently; "
            "a topic's records have one id"
        )
    return AuditedTopic(
        cluster=known.cluster,
        topic=known.topic,
        message_id=known.message_id,
        samplings=known.samplings | added.samplings,
        horizon_s=max(known.horizon_s, added.horizon_s),
        store_ids=known.store_ids and added.store_ids,
        copies=max(known.copies, added.copies),
    )
