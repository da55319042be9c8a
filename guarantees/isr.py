"""How many in-sync replicas a partition has against how many it needs, and for how long (L6)."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from guarantees.findings import Bounds, Evidence, Finding, Unit
from guarantees.memory import LowIsr, Memory
from guarantees.observations import PartitionState, Round
from guarantees.places import TopicPartition
from guarantees.topic_settings import min_insync_replicas
from guarantees.view import View, number, present, topic_partition


def effective_minimum(state: PartitionState, minimum: int | None) -> int | None:
    """min.insync.replicas never counts for more than there are replicas (Partition.effectiveMinIsr)."""
    return None if minimum is None else min(minimum, len(state.replicas))


def is_below(state: PartitionState, minimum: int | None) -> bool:
    """acks=all writes are refused; a minimum that may not be read leaves only the missing leader."""
    if state.leader is None:
        return True
    effective = effective_minimum(state, minimum)
    return effective is not None and len(state.in_sync_replicas) < effective


def is_at(state: PartitionState, minimum: int | None) -> bool:
    """Replicas are missing and no more may: with all of them in sync nothing is wrong, however many are needed."""
    in_sync = len(state.in_sync_replicas)
    return state.leader is not None and in_sync < len(state.replicas) and in_sync == effective_minimum(state, minimum)


def is_single_copy(state: PartitionState, minimum: int | None) -> bool:
    """acks=all acknowledges what only the leader has, although the topic has more replicas."""
    return is_at(state, minimum) and len(state.in_sync_replicas) == 1


def is_stale(before: Memory, partition: TopicPartition, state: PartitionState) -> bool:
    """A broker with old metadata answered: an older epoch of the same topic."""
    known = before.states.get(partition)
    return known is not None and known.topic_id == state.topic_id and state.leader_epoch < known.leader_epoch


def remember_low(
    lasting: Mapping[TopicPartition, LowIsr],
    before: Memory,
    observed: Round,
    gap_s: float,
    holds: Callable[[PartitionState, int | None], bool],
) -> dict[TopicPartition, LowIsr]:
    """Partitions for which it holds now; those not seen in this round stay as they were."""
    found = {p: low for p, low in lasting.items() if p not in observed.states}
    minima = {topic: min_insync_replicas(settings) for topic, settings in observed.topic_settings.items()}
    for partition, state in observed.states.items():
        known = lasting.get(partition)
        if is_stale(before, partition, state):
            if known is not None:
                found[partition] = known
        elif holds(state, minima.get(partition.topic)):
            found[partition] = _lasting(known, _good_until_ms(before.states.get(partition), state), state, gap_s)
    return found


def _good_until_ms(last: PartitionState | None, state: PartitionState) -> int | None:
    """The time of the sample before; None where it showed the same: then only the minimum was not known or another."""
    if last is None or last.topic_id != state.topic_id:
        return None
    is_same = (last.leader, last.in_sync_replicas) == (state.leader, state.in_sync_replicas)
    return None if is_same else last.observed_at_ms


def _lasting(known: LowIsr | None, after_ms: int | None, state: PartitionState, gap_s: float) -> LowIsr:
    """`after_ms`: the last sample in which it did not hold; None where that is not known."""
    now_ms = state.observed_at_ms
    if known is None or known.topic_id != state.topic_id:
        return LowIsr(state.topic_id, state.leader_epoch, after_ms, now_ms, now_ms, observed_ms=0, rounds=1)
    span_ms = now_ms - known.last_ms
    observed_ms = known.observed_ms + (span_ms if span_ms <= gap_s * 1000 else 0)
    return replace(known, last_ms=now_ms, observed_ms=observed_ms, rounds=known.rounds + 1)


def low_evidence(low: LowIsr, state: PartitionState, minimum: int | None) -> dict[str, object]:
    return {
        "in_sync_replicas": list(state.in_sync_replicas),
        "replicas": list(state.replicas),
        "min_insync_replicas": minimum,
        "effective_minimum": effective_minimum(state, minimum),
        "leader": state.leader,
        "leader_epoch": low.leader_epoch,
        "after_ms": low.after_ms,
        "since_ms": low.since_ms,
        "observed_below_ms": low.observed_ms,
        "last_below_at_ms": low.last_ms,
    }


def seconds(evidence: Evidence, until_ms: int) -> Bounds:
    """Low at both ends of a span without gap, at least; from the last good sample to now, at most."""
    lower = number(evidence, "observed_below_ms") // 1000
    upper = None if evidence["after_ms"] is None else -((number(evidence, "after_ms") - until_ms) // 1000)
    return Bounds(lower, None, upper, Unit.SECONDS)


def while_low(finding: Finding, view: View, low: Mapping[TopicPartition, LowIsr], over: str) -> Finding:
    """Closes when a sample shows that it is over; time in gaps counts for the upper bound only."""
    partition = present(topic_partition(finding.place))
    state = view.round.states.get(partition)
    if state is None or is_stale(view.before, partition, state):
        return finding
    if partition not in low or low[partition].since_ms > number(finding.evidence, "last_below_at_ms"):
        bounds = seconds(finding.evidence, state.observed_at_ms)
        return replace(finding, bounds=bounds, last_seen_at_ms=state.observed_at_ms, closed_reason=over)
    span_ms = state.observed_at_ms - number(finding.evidence, "last_below_at_ms")
    observed_ms = span_ms if span_ms <= view.thresholds.gap_s * 1000 else 0
    evidence = {
        **finding.evidence,
        "observed_below_ms": number(finding.evidence, "observed_below_ms") + observed_ms,
        "last_below_at_ms": state.observed_at_ms,
        "in_sync_replicas": list(state.in_sync_replicas),
        "leader": state.leader,
    }
    bounds = seconds(evidence, state.observed_at_ms)
    return replace(finding, evidence=evidence, bounds=bounds, last_seen_at_ms=state.observed_at_ms)
