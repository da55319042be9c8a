"""below_min_isr: too few in-sync replicas to accept acks=all writes, or no leader at all (L6)."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.amounts import counted
from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.isr import effective_minimum, is_below, low_evidence, remember_low, seconds, while_low
from guarantees.memory import LowIsr, Memory
from guarantees.observations import PartitionState, Round
from guarantees.places import TopicPartition
from guarantees.times import utc
from guarantees.topic_settings import min_insync_replicas
from guarantees.view import View, number, partition_place, present, topic_partition


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
    """While it lasts it says what is missing now: a leader, or how many replicas."""
    partition = present(topic_partition(finding.place))
    lasting = while_low(finding, view, view.now.below_min_isr, "a leader and enough in-sync replicas again")
    if lasting is finding or lasting.closed_reason is not None:
        return lasting
    state = view.round.states[partition]
    minimum = min_insync_replicas(view.round.topic_settings.get(partition.topic))
    title, statement = _words(partition, state, minimum, number(lasting.evidence, "since_ms"))
    return replace(lasting, title=title, statements=(statement,))


def remember(before: Memory, observed: Round, gap_s: float) -> dict[TopicPartition, LowIsr]:
    return remember_low(before.below_min_isr, before, observed, gap_s, is_below)


def _finding(view: View, partition: TopicPartition, below: LowIsr, state: PartitionState) -> Finding:
    minimum = min_insync_replicas(view.round.topic_settings.get(partition.topic))
    evidence = low_evidence(below, state, minimum)
    title, statement = _words(partition, state, minimum, below.since_ms)
    return Finding(
        kind=Kind.BELOW_MIN_ISR,
        place=partition_place(view.cluster_id, partition, below.topic_id),
        anchor=f"leader epoch {below.leader_epoch}, since {below.since_ms}",
        severity=2,
        title=title,
        statements=(statement,),
        bounds=seconds(evidence, state.observed_at_ms),
        evidence=evidence,
        happened_at_ms=below.since_ms,
        last_seen_at_ms=state.observed_at_ms,
    )


def _words(
    partition: TopicPartition, state: PartitionState, minimum: int | None, since_ms: int
) -> tuple[str, Statement]:
    where, effective = f"{partition.topic}-{partition.partition}", effective_minimum(state, minimum)
    title = f"{where} has {counted(len(state.in_sync_replicas), 'in-sync replica')} and needs {effective}"
    text = _sentence(where, state, effective, since_ms)
    return f"{where} has no leader" if state.leader is None else title, Statement(Grade.PROVEN, text)


def _sentence(where: str, state: PartitionState, effective: int | None, since_ms: int) -> str:
    low_since = f"since {utc(since_ms)} at the latest"
    if state.leader is None:
        return f"{where} has no leader now and is below its minimum {low_since}: it can be neither written nor read."
    in_sync, replicas = list(state.in_sync_replicas), list(state.replicas)
    return (
        f"{where} has the in-sync replicas {in_sync} of {replicas} and needs {effective}, "
        f"{low_since}: writes with acks=all are refused and the high watermark stands still."
    )
