"""below_min_isr: too few in-sync replicas to accept acks=all writes, or no leader at all (L6)."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Statement, Unit
from guarantees.memory import BelowMinIsr, Memory
from guarantees.observations import PartitionState, Round
from guarantees.places import TopicPartition
from guarantees.times import utc
from guarantees.topic_settings import min_insync_replicas
from guarantees.view import View, number, partition_place, topic_partition


def opened(view: View) -> Iterator[Finding]:
    """Two samples in a row show fewer in-sync replicas than min(min.insync.replicas, replicas), or no leader.

    One sample alone may come from a broker with old metadata. A replication factor below min.insync.replicas is a
    matter of configuration: the effective minimum never exceeds the number of replicas.
    """
    for partition, below in view.now.below_min_isr.items():
        place = partition_place(view.cluster_id, partition, below.topic_id)
        state = view.round.states.get(partition)
        if state is not None and below.rounds >= 2 and (Kind.BELOW_MIN_ISR, place) not in view.open_places:
            yield _finding(view, partition, below, state)


def continued(finding: Finding, view: View) -> Finding:
    """Closes when a sample shows a leader and enough in-sync replicas; time in gaps counts for the upper bound only."""
    partition = topic_partition(finding.place)
    state = None if partition is None else view.round.states.get(partition)
    if partition is None or state is None or is_stale(view.before, partition, state):
        return finding
    if partition not in view.now.below_min_isr:
        bounds = _bounds(finding.evidence, state.observed_at_ms)
        closed = replace(finding, bounds=bounds, last_seen_at_ms=state.observed_at_ms)
        return replace(closed, closed_reason="a leader and enough in-sync replicas again")
    span_ms = state.observed_at_ms - number(finding.evidence, "last_below_at_ms")
    observed_ms = span_ms if span_ms <= view.thresholds.gap_s * 1000 else 0
    evidence = {
        **finding.evidence,
        "observed_below_ms": number(finding.evidence, "observed_below_ms") + observed_ms,
        "last_below_at_ms": state.observed_at_ms,
        "in_sync_replicas": list(state.in_sync_replicas),
        "leader": state.leader,
    }
    bounds = _bounds(evidence, state.observed_at_ms)
    return replace(finding, evidence=evidence, bounds=bounds, last_seen_at_ms=state.observed_at_ms)


def remember(before: Memory, observed: Round, gap_s: float) -> dict[TopicPartition, BelowMinIsr]:
    """Partitions below their minimum now; those not seen in this round stay as they were."""
    found = {p: below for p, below in before.below_min_isr.items() if p not in observed.states}
    for partition, state in observed.states.items():
        known = before.below_min_isr.get(partition)
        if is_stale(before, partition, state):
            if known is not None:
                found[partition] = known
        elif is_below(state, min_insync_replicas(observed.topic_settings.get(partition.topic))):
            found[partition] = _lasting(known, before.states.get(partition), state, gap_s)
    return found


def is_below(state: PartitionState, minimum: int | None) -> bool:
    """acks=all writes are refused; a minimum that may not be read leaves only the missing leader."""
    if state.leader is None:
        return True
    if minimum is None:
        return False
    return len(state.in_sync_replicas) < min(minimum, len(state.replicas))


def is_stale(before: Memory, partition: TopicPartition, state: PartitionState) -> bool:
    """A broker with old metadata answered: an older epoch of the same topic."""
    known = before.states.get(partition)
    return known is not None and known.topic_id == state.topic_id and state.leader_epoch < known.leader_epoch


def _lasting(
    known: BelowMinIsr | None, last: PartitionState | None, state: PartitionState, gap_s: float
) -> BelowMinIsr:
    now_ms = state.observed_at_ms
    if known is None or known.topic_id != state.topic_id:
        after_ms = last.observed_at_ms if last is not None and last.topic_id == state.topic_id else None
        return BelowMinIsr(state.topic_id, state.leader_epoch, after_ms, now_ms, now_ms, observed_ms=0, rounds=1)
    span_ms = now_ms - known.last_ms
    observed_ms = known.observed_ms + (span_ms if span_ms <= gap_s * 1000 else 0)
    return replace(known, last_ms=now_ms, observed_ms=observed_ms, rounds=known.rounds + 1)


def _bounds(evidence: Evidence, until_ms: int) -> Bounds:
    """Seconds: below at both ends of a span without gap, at least; from the last good sample to now, at most."""
    lower = number(evidence, "observed_below_ms") // 1000
    upper = None if evidence["after_ms"] is None else -((number(evidence, "after_ms") - until_ms) // 1000)
    return Bounds(lower, None, upper, Unit.SECONDS)


def _finding(view: View, partition: TopicPartition, below: BelowMinIsr, state: PartitionState) -> Finding:
    minimum = min_insync_replicas(view.round.topic_settings.get(partition.topic))
    effective = None if minimum is None else min(minimum, len(state.replicas))
    where, in_sync = f"{partition.topic}-{partition.partition}", len(state.in_sync_replicas)
    evidence = {
        "in_sync_replicas": list(state.in_sync_replicas),
        "replicas": list(state.replicas),
        "min_insync_replicas": minimum,
        "effective_minimum": effective,
        "leader": state.leader,
        "leader_epoch": below.leader_epoch,
        "after_ms": below.after_ms,
        "since_ms": below.since_ms,
        "observed_below_ms": below.observed_ms,
        "last_below_at_ms": below.last_ms,
    }
    title = f"{where} has {in_sync} in-sync replicas and needs {effective}"
    return Finding(
        kind=Kind.BELOW_MIN_ISR,
        place=partition_place(view.cluster_id, partition, below.topic_id),
        anchor=f"leader epoch {below.leader_epoch}, since {below.since_ms}",
        severity=2,
        title=f"{where} has no leader" if state.leader is None else title,
        statements=(Statement(Grade.PROVEN, _sentence(where, state, effective, below.since_ms)),),
        bounds=_bounds(evidence, state.observed_at_ms),
        evidence=evidence,
        happened_at_ms=below.since_ms,
        last_seen_at_ms=state.observed_at_ms,
    )


def _sentence(where: str, state: PartitionState, effective: int | None, since_ms: int) -> str:
    if state.leader is None:
        return f"{where} has no leader since {utc(since_ms)} at the latest: it can be neither written nor read."
    in_sync, replicas = list(state.in_sync_replicas), list(state.replicas)
    return (
        f"{where} has the in-sync replicas {in_sync} of {replicas} and needs {effective}, "
        f"since {utc(since_ms)} at the latest: writes with acks=all are refused and the high watermark stands still."
    )
