"""min_isr_above_replicas: min.insync.replicas asks for more replicas than the topic has (L6, a configuration note)."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.amounts import counted
from guarantees.findings import Finding, Grade, Kind, Place, Statement
from guarantees.observations import PartitionState
from guarantees.places import TopicPartition
from guarantees.topic_settings import min_insync_replicas
from guarantees.view import View, present


def opened(view: View) -> Iterator[Finding]:
    """Nothing is under-replicated by it: the minimum that counts is the number of replicas, and is met."""
    for topic in view.round.topic_settings:
        state = _first(view, topic)
        if state is not None and _is_above(view, topic, state):
            place = Place(view.cluster_id, topic, state.topic_id)
            if (Kind.MIN_ISR_ABOVE_REPLICAS, place) not in view.open_places:
                yield _finding(view, place, topic, state)


def continued(finding: Finding, view: View) -> Finding:
    """Closes when either number has changed."""
    topic = present(finding.place.topic)
    state = _first(view, topic)
    if state is None or topic not in view.round.topic_settings:
        return finding
    seen = replace(finding, last_seen_at_ms=state.observed_at_ms)
    if (_minimum(view, topic), len(state.replicas)) != (
        finding.evidence["min_insync_replicas"],
        finding.evidence["replicas"],
    ):
        return replace(seen, closed_reason="the setting or the number of replicas changed")
    return seen


def _first(view: View, topic: str) -> PartitionState | None:
    """All partitions of a topic have as many replicas, but while they are reassigned."""
    return view.round.states.get(TopicPartition(topic, 0))


def _minimum(view: View, topic: str) -> int | None:
    return min_insync_replicas(view.round.topic_settings.get(topic))


def _is_above(view: View, topic: str, state: PartitionState) -> bool:
    minimum = _minimum(view, topic)
    return minimum is not None and minimum > len(state.replicas)


def _finding(view: View, place: Place, topic: str, state: PartitionState) -> Finding:
    minimum, replicas = _minimum(view, topic), len(state.replicas)
    text = (
        f"{topic} has min.insync.replicas={minimum} and {counted(replicas, 'replica')}: the minimum "
        f"that counts is {replicas}, so acks=all promises no more than {replicas} cop{'y' if replicas == 1 else 'ies'}."
    )
    return Finding(
        kind=Kind.MIN_ISR_ABOVE_REPLICAS,
        place=place,
        anchor=f"min.insync.replicas {minimum}, replicas {replicas}",
        severity=1,
        title=f"Configured min.insync.replicas {minimum} exceeds the {counted(replicas, 'replica')} of {topic}",
        statements=(Statement(Grade.PROVEN, text),),
        bounds=None,
        evidence={"min_insync_replicas": minimum, "replicas": replicas, "effective_minimum": replicas},
        happened_at_ms=state.observed_at_ms,
        last_seen_at_ms=state.observed_at_ms,
    )
