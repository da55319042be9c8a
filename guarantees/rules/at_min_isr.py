"""at_min_isr: replicas are missing and one more would stop acks=all writes, or a single copy is acknowledged (L6)."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.isr import (
    effective_minimum,
    is_at,
    is_single_copy,
    is_stale,
    low_evidence,
    remember_low,
    seconds,
    while_low,
)
from guarantees.memory import LowIsr, Memory
from guarantees.observations import PartitionState, Round
from guarantees.places import TopicPartition
from guarantees.times import utc
from guarantees.topic_settings import min_insync_replicas
from guarantees.view import View, number, partition_place, present, topic_partition


def opened(view: View) -> Iterator[Finding]:
    """In-sync replicas equal the effective minimum: after two samples where that is a single copy, otherwise once it
    was seen, without gaps, for longer than a broker takes to restart.
    """
    for partition, low in view.now.at_min_isr.items():
        state = view.round.states.get(partition)
        place = partition_place(view.cluster_id, partition, low.topic_id)
        if state is not None and (Kind.AT_MIN_ISR, place) not in view.open_places and _is_long(view, partition, low):
            yield _finding(view, partition, low, state)


def continued(finding: Finding, view: View) -> Finding:
    """A single copy seen while it lasts makes it graver for good."""
    partition = present(topic_partition(finding.place))
    lasting = while_low(finding, view, view.now.at_min_isr, "no longer at the minimum of in-sync replicas")
    if not _is_single(view, partition):
        return lasting
    state = view.round.states[partition]
    text = _sentence(partition, state, number(lasting.evidence, "since_ms"), is_single=True)
    evidence = {**lasting.evidence, "min_insync_replicas": _minimum(view, partition), "effective_minimum": 1}
    return replace(lasting, severity=3, title=_single_copy(partition), statements=(text,), evidence=evidence)


def remember(before: Memory, observed: Round, gap_s: float) -> dict[TopicPartition, LowIsr]:
    unbroken = {p: low for p, low in before.at_min_isr.items() if not _has_changed_places(before, observed, p)}
    return remember_low(unbroken, before, observed, gap_s, is_at)


def _has_changed_places(before: Memory, observed: Round, partition: TopicPartition) -> bool:
    """One replica came into the in-sync replicas and another one left them between two samples, as when one broker is
    restarted after the other: in between there were more of them, or fewer.
    """
    last, state = before.states.get(partition), observed.states.get(partition)
    if last is None or state is None or is_stale(before, partition, state):
        return False
    earlier, now = set(last.in_sync_replicas), set(state.in_sync_replicas)
    return bool(now - earlier) and bool(earlier - now)


def _is_long(view: View, partition: TopicPartition, low: LowIsr) -> bool:
    is_lasting = low.observed_ms >= view.thresholds.at_min_isr_after_s * 1000
    return is_lasting or (low.rounds >= 2 and _is_single(view, partition))


def _is_single(view: View, partition: TopicPartition) -> bool:
    state = view.round.states.get(partition)
    if state is None or is_stale(view.before, partition, state):
        return False
    return is_single_copy(state, _minimum(view, partition))


def _minimum(view: View, partition: TopicPartition) -> int | None:
    return min_insync_replicas(view.round.topic_settings.get(partition.topic))


def _finding(view: View, partition: TopicPartition, low: LowIsr, state: PartitionState) -> Finding:
    minimum = _minimum(view, partition)
    evidence = low_evidence(low, state, minimum)
    is_single = is_single_copy(state, minimum)
    needed = f"{len(state.in_sync_replicas)} of {effective_minimum(state, minimum)} needed"
    spare = f"{_where(partition)} has no in-sync replica to spare: {needed}"
    return Finding(
        kind=Kind.AT_MIN_ISR,
        place=partition_place(view.cluster_id, partition, low.topic_id),
        anchor=f"leader epoch {low.leader_epoch}, since {low.since_ms}",
        severity=3 if is_single else 1,
        title=_single_copy(partition) if is_single else spare,
        statements=(_sentence(partition, state, low.since_ms, is_single=is_single),),
        bounds=seconds(evidence, state.observed_at_ms),
        evidence=evidence,
        happened_at_ms=low.since_ms,
        last_seen_at_ms=state.observed_at_ms,
    )


def _where(partition: TopicPartition) -> str:
    return f"{partition.topic}-{partition.partition}"


def _single_copy(partition: TopicPartition) -> str:
    return f"{_where(partition)} acknowledges a single copy"


def _sentence(partition: TopicPartition, state: PartitionState, since_ms: int, *, is_single: bool) -> Statement:
    consequence = (
        "acks=all acknowledges what the leader alone has, and its loss loses that"
        if is_single
        else "one replica less and writes with acks=all are refused"
    )
    in_sync, replicas = list(state.in_sync_replicas), list(state.replicas)
    text = f"{_where(partition)} has the in-sync replicas {in_sync} of {replicas}"
    return Statement(Grade.PROVEN, f"{text}; at the minimum since {utc(since_ms)} at the latest: {consequence}.")
