"""Asks the cluster which offsets a window is, and the store how far the group had come: the plan of an audit."""

from collections.abc import Callable, Mapping
from pathlib import Path

from guarantees.audits import Job
from guarantees.places import TopicPartition
from guarantees.topic_settings import CLEANUP_POLICY
from guarantees.unknown import Unknown
from kafka_reader.configurations import fetch_configurations
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError
from kafka_reader.list_offsets import (
    high_watermark_request,
    last_stable_offset_request,
    log_start_request,
    offset_at_time_request,
)
from kafka_reader.metadata import Topology, fetch_topology
from settings import ClusterSettings, PipelineSettings
from spark_jobs.audits import words
from spark_jobs.audits.exact import AuditFailedError
from spark_jobs.audits.plans import SINK, SOURCE, AuditPlan, Mapped, compared_at_once, planned_range
from spark_jobs.commits import CommitSample, due_to
from spark_jobs.offsets import NO_RECORD_SINCE, Offsets, listed
from spark_jobs.ranges import Part
from store.audit_requests import AuditRequest
from store.reading import Window, read
from store.rows import python_rows

TIMEOUT_S = 5.0  # nothing waits for an audit's questions as a round does
Committed = Mapping[tuple[str, int], int]  # by topic id and partition of the source


def fetch_plan(
    cluster: ClusterSettings, pipeline: PipelineSettings, request: AuditRequest, data_dir: Path, now_ms: int
) -> AuditPlan:
    """The ranges of both sides as they are now. Raises AuditFailedError with the reason where they cannot be known."""
    if request.job is Job.LOSSES and pipeline.sink is None:
        raise AuditFailedError(words.NO_SINK)
    if request.job is Job.ORDER and pipeline.order is None:
        raise AuditFailedError(words.NO_ORDER)
    if request.to_ms > now_ms:
        raise AuditFailedError(words.NOT_OVER)
    try:
        with Connections(cluster.bootstrap_servers, cluster.security, request_timeout_s=TIMEOUT_S) as connections:
            return _planned(connections, cluster, pipeline, request, data_dir, now_ms)
    except CollectionError as exc:
        raise AuditFailedError(f"the cluster does not say where its records are: {exc}") from exc


def _planned(
    connections: Connections,
    cluster: ClusterSettings,
    pipeline: PipelineSettings,
    request: AuditRequest,
    data_dir: Path,
    now_ms: int,
) -> AuditPlan:
    topology = fetch_topology(connections)
    sides = {side: topic for side, topic in ((SOURCE, pipeline.source), (SINK, pipeline.sink)) if topic is not None}
    policies = fetch_configurations(connections, sides.values())
    committed = committed_for(data_dir, topology.cluster_id, pipeline, now_ms)
    ranges = [
        planned_range(
            side,
            mapped,
            is_compacted=is_compacted(policies[topic]),
            searches_on=side == SINK and request.job.counts_losses,
            committed_to=committed.get((mapped.part.topic_id, mapped.part.partition)) if side == SOURCE else None,
        )
        for side, topic in sides.items()
        for mapped in _mapped(connections, topology, topic, moments(request, pipeline))
    ]
    unknown = [topic for topic, policy in policies.items() if isinstance(policy, Unknown)]
    return AuditPlan(
        job=request.job,
        cluster_id=topology.cluster_id,
        planned_at_ms=now_ms,
        ranges=tuple(ranges),
        blind_spots=words.blind_spots(request.job, pipeline, ranges, unknown),
        at_once=compared_at_once(request.job),
        fan_out=pipeline.fan_out,
        times=(request.from_ms, request.to_ms),
    )


def moments(request: AuditRequest, pipeline: PipelineSettings) -> tuple[int, int, int, int]:
    """The begin of the edge, of the window, their ends; the edges are as long as the settle delay."""
    edge_ms = round(1000 * pipeline.settle_s)
    return max(0, request.from_ms - edge_ms), request.from_ms, request.to_ms, request.to_ms + edge_ms


def committed_for(
    data_dir: Path, cluster_id: str, pipeline: PipelineSettings, now_ms: int
) -> dict[tuple[str, int], int]:
    """How far the group's commits had come by a settle delay ago, by the samples of the collectors; else nothing."""
    until_ms = now_ms - round(1000 * pipeline.settle_s)
    rows = read(
        data_dir,
        "committed_offsets",
        Window(max(0, until_ms - words.COMMITS_SEEN_MS), until_ms + 1),
        "cluster_id = ? AND group_id = ? AND topic = ? AND committed_offset IS NOT NULL",
        [cluster_id, pipeline.group, pipeline.source],
    )
    samples: dict[tuple[str, int], list[CommitSample]] = {}
    for row in python_rows("committed_offsets", rows):
        sample = CommitSample(int(row["observed_at"]), int(row["committed_offset"]))
        samples.setdefault((str(row["topic_id"]), int(row["partition"])), []).append(sample)
    due = {place: due_to(seen, until_ms) for place, seen in samples.items()}
    return {place: offset for place, offset in due.items() if offset is not None}


def is_compacted(policy: Mapping[str, str] | Unknown) -> bool:
    """Where it is not known, a gap stays unexplained."""
    return not isinstance(policy, Unknown) and "compact" in policy.get(CLEANUP_POLICY, "")


def _mapped(connections: Connections, topology: Topology, topic: str, at_ms: tuple[int, int, int, int]) -> list[Mapped]:
    """Log start first, ends last, so that what is mapped lies between them."""
    if topic not in topology.topic_ids:
        raise AuditFailedError(f"topic {topic} is not there, or may not be seen")
    places = [place for place in sorted(topology.states) if place.topic == topic]
    starts = listed(connections, topology, places, log_start_request)
    at_times = [listed(connections, topology, places, _at(time_ms)) for time_ms in at_ms]
    stable = listed(connections, topology, places, last_stable_offset_request)
    high = listed(connections, topology, places, high_watermark_request)
    return [_of_partition(topology, place, starts, at_times, stable, high) for place in places]


def _at(time_ms: int) -> Callable[..., object]:
    return lambda places: offset_at_time_request(places, time_ms)


def _of_partition(
    topology: Topology, place: TopicPartition, starts: Offsets, at_times: list[Offsets], stable: Offsets, high: Offsets
) -> Mapped:
    leader = topology.leader(place)
    if isinstance(leader, Unknown):
        raise AuditFailedError(f"{place.topic}-{place.partition}: {leader.reason}")
    high_watermark = _known(place, high)
    return Mapped(
        part=Part(topology.cluster_id, place.topic, topology.states[place].topic_id, place.partition),
        leader=leader,
        log_start_offset=_known(place, starts),
        last_stable_offset=_known(place, stable),
        high_watermark=high_watermark,
        replicas=tuple(topology.states[place].replicas),
        moments=tuple(_known(place, at, none=high_watermark) for at in at_times),  # type: ignore[arg-type]
    )


def _known(place: TopicPartition, offsets: Offsets, none: int | None = None) -> int:
    """The offset; `none` where every record is older than the time asked about."""
    offset = offsets[place].offset
    if not isinstance(offset, Unknown):
        return offset
    if none is not None and offset.reason == NO_RECORD_SINCE:
        return none
    raise AuditFailedError(f"{place.topic}-{place.partition}: {offset.reason}")
