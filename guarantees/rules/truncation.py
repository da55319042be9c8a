"""log_truncated: the high watermark of a partition fell at a change of leader (L3 a), seen or not as unclean (L3 e)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.observations import PartitionOffsets, PartitionState, ReplicaOffset
from guarantees.places import TopicPartition
from guarantees.times import utc
from guarantees.triage import Reading
from guarantees.view import View, known, number, partition_place


def opened(view: View) -> Iterator[Finding]:
    """The leader of a newer epoch has a lower high watermark than was seen before, on the same topic id.

    A replaced leader's late answer and a lower answer within one epoch are no samples (`trust.trusted_offsets`). The
    high watermark need not fall at a loss, so silence proves nothing.
    """
    fallen = {
        partition: (before, after)
        for partition, after in view.offsets.items()
        if (before := view.before.offsets.get(partition)) is not None and _fell(before, after)
    }
    if fallen:
        readings = view.readers(fallen.keys())
        for partition, (before, after) in fallen.items():
            yield _finding(view, partition, before, after, readings[partition])


def continued(finding: Finding, view: View) -> Finding:
    """Closes when the log has grown past its old end: from then on no commit can lie beyond it."""
    offsets = view.offsets_of(finding.place)
    if offsets is None:
        return finding
    seen = replace(finding, last_seen_at_ms=offsets.observed_at_ms)
    if isinstance(offsets.high_watermark, int) and offsets.high_watermark >= _old_end(finding):
        return replace(seen, closed_reason="the log has grown past its old end; what was cut stays lost")
    return seen


def _old_end(finding: Finding) -> int:
    return number(finding.evidence, "high_watermark_before")


def _fell(before: PartitionOffsets, after: PartitionOffsets) -> bool:
    if after.topic_id is None or after.topic_id != before.topic_id:
        return False
    old, new = before.high_watermark, after.high_watermark
    return isinstance(old, int) and isinstance(new, int) and new < old


def _finding(
    view: View, partition: TopicPartition, before: PartitionOffsets, after: PartitionOffsets, readings: list[Reading]
) -> Finding:
    old, new = known(before.high_watermark), known(after.high_watermark)
    epoch = known(after.leader_epoch)
    last = last_state_before(view, partition, after)
    cut = _new_leaders_last_end(view, partition, after)
    tail = _tail_above(view, partition, before, old)
    beyond = [r for r in readings if r.committed_offset > new]
    upper = None if cut is None else max(old - new, old - min(cut, old))
    return Finding(
        kind=Kind.LOG_TRUNCATED,
        place=partition_place(view.cluster_id, partition, after.topic_id),
        anchor=f"leader epoch {epoch}",
        severity=4,
        title=f"{partition.topic}-{partition.partition} was cut: at least {old - new:,} visible offsets are gone",
        statements=_statements(partition, before, after, last, upper, tail, beyond),
        bounds=Bounds(old - new, upper, upper, Unit.OFFSETS),
        evidence={
            "high_watermark_before": old,
            "high_watermark": new,
            "leader_epoch_before": known(before.leader_epoch),
            "leader_epoch": epoch,
            "leader_before": before.broker,
            "leader": after.broker,
            "observed_before_at_ms": before.observed_at_ms,
            "observed_at_ms": after.observed_at_ms,
            "in_sync_replicas_before": None if last is None else list(last.in_sync_replicas),
            "eligible_leader_replicas_before": _listed(None if last is None else last.eligible_leader_replicas),
            "is_unclean": is_outside(last, after.broker),
            "new_leader_log_end_offset_before": cut,
            "offsets_above_high_watermark_before": tail,
            "groups_beyond_end": [{"group_id": r.key.group_id, "committed_offset": r.committed_offset} for r in beyond],
        },
        happened_at_ms=after.observed_at_ms,
        last_seen_at_ms=after.observed_at_ms,
    )


def _statements(
    partition: TopicPartition,
    before: PartitionOffsets,
    after: PartitionOffsets,
    last: PartitionState | None,
    upper: int | None,
    tail: int | None,
    beyond: Sequence[Reading],
) -> tuple[Statement, ...]:
    old, new = known(before.high_watermark), known(after.high_watermark)
    headline = (
        f"The high watermark of {partition.topic}-{partition.partition} fell from {old:,} (leader epoch "
        f"{before.leader_epoch}, {utc(before.observed_at_ms)}) to {new:,} (leader epoch {after.leader_epoch}, "
        f"{utc(after.observed_at_ms)}): at least {old - new:,} offsets that consumers could read are gone. "
        "Records written since may hide more."
    )
    found = [Statement(Grade.PROVEN, headline), _cause(last, after)]
    if upper is not None and upper > old - new:
        found.append(
            Statement(Grade.POSSIBLE, f"Up to {upper:,} offsets: the new leader's log ended there when last seen.")
        )
    if tail:
        text = (
            f"{tail:,} more offsets above the high watermark were on the old leader; only acks 0 or 1 acknowledge such."
        )
        found.append(Statement(Grade.POSSIBLE, text))
    if beyond:
        names = ", ".join(f"{r.key.group_id} ({r.committed_offset:,})" for r in beyond)
        found.append(Statement(Grade.PROVEN, f"Groups committed beyond the new end {new:,}: {names}."))
    return tuple(found)


def _cause(last: PartitionState | None, after: PartitionOffsets) -> Statement:
    match is_outside(last, after.broker):
        case True:
            text = (
                f"Broker {after.broker} became leader outside the in-sync and eligible replicas: an unclean election."
            )
            return Statement(Grade.PROBABLE, text, "the in-sync replicas did not change after they were last sampled")
        case False:
            text = f"Why the log was cut is not known: broker {after.broker} was in sync or eligible when last sampled."
            return Statement(Grade.NOT_OBSERVABLE, text)
        case None:
            text = "Whether the election was unclean is not known: no earlier sample of the in-sync replicas."
            return Statement(Grade.NOT_OBSERVABLE, text)


def last_state_before(view: View, partition: TopicPartition, after: PartitionOffsets) -> PartitionState | None:
    """The newest state of the partition from before the leader epoch that answered."""
    epoch = known(after.leader_epoch)
    for states in (view.before.states, view.before.former_states):
        state = states.get(partition)
        if state is not None and state.topic_id == after.topic_id and state.leader_epoch < epoch:
            return state
    return None


def is_outside(last: PartitionState | None, leader: int | None) -> bool | None:
    """The leader was neither in sync nor eligible (KIP-966: an eligible replica is elected without loss)."""
    if last is None or leader is None:
        return None
    return leader not in {*last.in_sync_replicas, *(last.eligible_leader_replicas or ())}


def _new_leaders_last_end(view: View, partition: TopicPartition, after: PartitionOffsets) -> int | None:
    return _log_end(view.before.replicas.get(partition, ()), after.broker, after.topic_id)


def _tail_above(view: View, partition: TopicPartition, before: PartitionOffsets, old: int) -> int | None:
    end = _log_end(view.before.replicas.get(partition, ()), before.broker, before.topic_id)
    return None if end is None else max(0, end - old)


def _log_end(replicas: Sequence[ReplicaOffset], broker: int | None, topic_id: str | None) -> int | None:
    ends = [r.log_end_offset for r in replicas if r.broker == broker and r.topic_id == topic_id]
    return ends[0] if ends and isinstance(ends[0], int) else None


def _listed(brokers: tuple[int, ...] | None) -> list[int] | None:
    return None if brokers is None else list(brokers)
