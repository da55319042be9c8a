"""What the page of duplicates and losses asks about, put together from cached answers."""

import json
from collections.abc import Sequence

from dashboard import (
    answers,
    audit_coverage,
    audit_questions,
    cached,
    concerns,
    known_findings,
    promise_questions,
    queries,
    record_evidence,
    record_reading,
    tiles,
)
from dashboard.audit_coverage import Lane
from dashboard.audit_losses import PipelineAudit, pipeline_audits
from dashboard.audit_topics import TopicAudit, read_topics, topic_audits
from dashboard.concerns import Concern
from dashboard.freshness import Freshness
from dashboard.queries import Rows
from dashboard.view import View
from guarantees.findings import Kind
from settings import PipelineSettings


def read_age(view: View) -> Freshness:
    """By when the newest of the topics was read to its end, and which of them cannot be read."""
    topics = dict.fromkeys(topic for one in declared(view) for topic in one.pipeline.topics)
    known = [record_evidence.reading(view, topic) for topic in topics]
    return (
        record_reading.age(known, view.to_ms, record_evidence.jobs_age(view).step_ms)
        if known
        else record_evidence.jobs_age(view)
    )


def declared(view: View) -> list[PipelineSettings]:
    return [pipeline for pipeline in cached.settings().pipelines if pipeline.cluster == view.cluster]


def topics(view: View) -> list[TopicAudit]:
    """Every topic read or named by a pipeline, worst first."""
    if cached.heard(view) is None:
        return []
    return topic_audits(
        read_topics(answers.pipelines(view)),
        cached.last_day_of_window(view, queries.SAMPLED),
        cached.last_day(view, queries.SAMPLED),
        cached.last_day_of_window(view, audit_questions.EXTRA_COPIES),
        _recent(view, Kind.DUPLICATE_WRITE),
        declared(view),
        record_evidence.how_read(view),
        {row["topic"] for row in record_evidence.sampled(view)},
    )


def found_topics(view: View) -> list[TopicAudit]:
    """Those the search finds: by topic, by pipeline, or by the id of an example."""
    with_id = {row["topic"] for row in _with_id(view, audit_questions.TOPICS_WITH_ID)}
    return [one for one in topics(view) if one.topic in with_id or _is_named(one, view)]


def pipelines(view: View) -> list[PipelineAudit]:
    """Every pipeline with its comparison, worst first."""
    if cached.heard(view) is None:
        return []
    return pipeline_audits(
        answers.pipelines(view),
        declared(view),
        cached.last_day(view, queries.COMPARISONS),
        [*_recent(view, Kind.LOST_WRITE), *_recent(view, Kind.ABORTED_AT_SINK)],
        record_evidence.how_read(view),
    )


def found_pipelines(view: View) -> list[PipelineAudit]:
    """Those the search finds: by name, topic or group, or by the id of a lost record."""
    with_id = {row["pipeline"] for row in _with_id(view, audit_questions.PIPELINES_WITH_ID)}
    return [one for one in pipelines(view) if one.pipeline.name in with_id or _finds(one, view)]


def chosen_topic(view: View, asked: str | None) -> TopicAudit | None:
    """The topic of the link; without one the first that has copies, else the first that the search finds."""
    if asked is not None:
        return next((one for one in topics(view) if one.topic == asked), None)
    found = found_topics(view)
    return next((one for one in found if one.groups), found[0] if found else None)


def chosen_pipeline(view: View, asked: str | None) -> PipelineAudit | None:
    """The pipeline of the link; without one the first that is compared, else the first that the search finds."""
    if asked is not None:
        return next((one for one in pipelines(view) if one.pipeline.name == asked), None)
    found = found_pipelines(view)
    return next((one for one in found if one.compared), found[0] if found else None)


def copies(view: View, audit: TopicAudit) -> Rows:
    """The newest examples of copies; where the search does not name the topic, those whose id it finds."""
    word = "" if _is_named(audit, view) else view.search.strip()
    return cached.last_day_of_window(view, audit_questions.COPIES_BY_ID, topic=audit.topic, word=word)


def lost_ids(view: View, audit: PipelineAudit) -> Rows:
    word = "" if _finds(audit, view) else view.search.strip()
    return cached.last_day(view, audit_questions.LOST_IDS, pipeline=audit.pipeline.name, word=word)


def compared(view: View, pipeline: str) -> Rows:
    return cached.last_day(view, audit_questions.COMPARED, pipeline=pipeline)


def lanes(view: View, topic: str) -> list[Lane]:
    return audit_coverage.lanes(
        topic,
        cached.last_day_of_window(view, audit_questions.COVERED, topic=topic),
        cached.now(view, audit_questions.STORED, topic=topic),
    )


def timestamp_type(view: View, topic: str) -> str | None:
    """Whose word the records' times are; None where the topic's settings were not read."""
    rows = cached.now(view, promise_questions.CONFIGURATIONS)
    text = next((row["configuration"] for row in rows if row["topic"] == topic), None)
    return json.loads(text).get("message.timestamp.type") if text else None


def _recent(view: View, kind: Kind) -> Sequence[Concern]:
    """Findings of one kind from the last day with what they break, and what they count of it."""
    histories = [one for one in known_findings.findings(view).values() if one.finding.kind is kind]
    found = tiles.recent(concerns.concerns(histories, answers.pipelines(view)), kind, view.to_ms)
    return record_evidence.counted_in_last_day(view, found)


def _with_id(view: View, question: queries.Question) -> Rows:
    word = view.search.strip()
    return cached.last_day_of_window(view, question, word=word) if word else []


def _is_named(audit: TopicAudit, view: View) -> bool:
    return view.finds(audit.topic, *(pipeline.name for pipeline in audit.declared))


def _finds(audit: PipelineAudit, view: View) -> bool:
    one = audit.pipeline
    return view.finds(one.name, one.source, one.sink, one.group_id)
