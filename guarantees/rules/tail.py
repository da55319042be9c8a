"""tail_truncated: records that only the old leader had are gone since a change of leader (L5)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from guarantees.amounts import counted
from guarantees.epochs import CHECK_WITHIN_MS, EpochCheck, leaders_log_end
from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.memory import EpochSight
from guarantees.observations import PartitionOffsets
from guarantees.places import TopicPartition
from guarantees.times import utc
from guarantees.view import View, known, partition_place, present, topic_partition


@dataclass(frozen=True, slots=True)
class Tail:
    """Offsets [first_lost, log_end_offset) of the old leader's log, above its high watermark, are not in the new one.

    `observed_at_ms`: when the new leader's log was seen.
    """

    sight: EpochSight
    leader: int | None
    leader_epoch: int
    first_lost: int
    log_end_offset: int
    observed_at_ms: int


def opened(view: View) -> Iterator[Finding]:
    """The leader of a newer epoch has a shorter log than the leader before had, or says that the old epoch ends below.

    Log ends read from followers are moments apart and prove nothing; each of these was read from the leader of its
    epoch, whose log only grows. Where offsets below the high watermark are gone too, that is the finding.
    """
    for partition in _to_look_at(view):
        tail = _tail(view, partition)
        if tail is not None:
            yield _finding(view, partition, tail)


def continued(finding: Finding, view: View) -> Finding:
    """Takes in what the new leader says of the old epoch and closes; after a while without an answer too."""
    partition = present(topic_partition(finding.place))
    check = view.epoch_checks.get(partition)
    if check is None or check.end.current_leader_epoch != finding.evidence["leader_epoch"]:
        if view.round.ended_at_ms - finding.happened_at_ms < CHECK_WITHIN_MS:
            return finding
        return replace(finding, closed_reason="the election is over; where the old epoch ends was not answered twice")
    tail = _tail(view, partition)
    if tail is None:
        return replace(finding, closed_reason=f"superseded: {_otherwise(check)}")
    told = replace(_finding(view, partition, tail), happened_at_ms=finding.happened_at_ms)
    return replace(told, closed_reason="the election is over; the end of the old epoch is known")


def _to_look_at(view: View) -> list[TopicPartition]:
    """Where an epoch began in this round, or an old one's end was answered for the second time."""
    begun = view.before.epochs.begun
    new = [p for p, first in view.now.epochs.begun.items() if p in begun and begun[p] is not first]
    return list(dict.fromkeys([*new, *view.epoch_checks]))


def _otherwise(check: EpochCheck) -> str:
    if check.cut is not None:
        return "offsets that could be read are gone too, and the finding of that cut tells of both"
    return f"the new leader's log holds the old epoch up to {check.end.end_offset:,}"


def _tail(view: View, partition: TopicPartition) -> Tail | None:
    first, former = view.now.epochs.begun.get(partition), view.now.epochs.former.get(partition)
    if first is None or not former or former[-1].log_end_offset is None:
        return None
    sight, check = former[-1], view.epoch_checks.get(partition)
    is_cut = known(first.high_watermark) < sight.last_high_watermark or (check is not None and check.cut is not None)
    end = _end_of_new_log(view, partition, first) if check is None else _end_of_epoch(sight, check)
    if is_cut or end is None or end[0] >= known(sight.log_end_offset):
        return None
    return Tail(
        sight=sight,
        leader=first.broker,
        leader_epoch=known(first.leader_epoch),
        first_lost=end[0],
        log_end_offset=known(sight.log_end_offset),
        observed_at_ms=end[1],
    )


def _end_of_new_log(view: View, partition: TopicPartition, first: PartitionOffsets) -> tuple[int, int] | None:
    """As the new leader itself says in its epoch; a follower that is not yet leader proves nothing."""
    end = leaders_log_end(first, view.round.replicas.get(partition, ()))
    return None if end is None else (end, first.observed_at_ms)


def _end_of_epoch(sight: EpochSight, check: EpochCheck) -> tuple[int, int]:
    """What only the old leader had was of its own epoch: it is gone as a whole where that epoch is."""
    is_gone = known(check.end.answered_epoch) < sight.leader_epoch
    return sight.last_high_watermark if is_gone else known(check.end.end_offset), check.end.observed_at_ms


def _finding(view: View, partition: TopicPartition, tail: Tail) -> Finding:
    sight, where = tail.sight, f"{partition.topic}-{partition.partition}"
    count = tail.log_end_offset - tail.first_lost
    return Finding(
        kind=Kind.TAIL_TRUNCATED,
        place=partition_place(view.cluster_id, partition, sight.topic_id),
        anchor=f"leader epoch {tail.leader_epoch}",
        severity=3,
        title=f"{where} lost {counted(count, 'offset')} that only its old leader had",
        statements=(
            Statement(
                Grade.PROBABLE,
                f"Up to {counted(count, 'acknowledged record')} of {where} were lost: the offsets "
                f"{tail.first_lost:,} to {tail.log_end_offset - 1:,}.",
                "a producer writes with acks 0 or 1; with acks=all none of them was acknowledged",
            ),
            Statement(
                Grade.PROVEN,
                f"The log of leader {sight.leader} (epoch {sight.leader_epoch}) ended at {tail.log_end_offset:,}, "
                f"above its high watermark {sight.last_high_watermark:,} ({utc(sight.last_observed_at_ms)}); the log "
                f"of leader {tail.leader} (epoch {tail.leader_epoch}, {utc(tail.observed_at_ms)}) has none of it from "
                f"{tail.first_lost:,} on.",
            ),
            Statement(Grade.NOT_OBSERVABLE, "Which acks the producers use."),
        ),
        bounds=Bounds(0, None, count, Unit.OFFSETS),
        evidence={
            "first_lost_offset": tail.first_lost,
            "high_watermark_before": sight.last_high_watermark,
            "log_end_offset_before": tail.log_end_offset,
            "leader_before": sight.leader,
            "leader_epoch_before": sight.leader_epoch,
            "leader": tail.leader,
            "leader_epoch": tail.leader_epoch,
            "observed_at_ms": tail.observed_at_ms,
        },
        happened_at_ms=tail.observed_at_ms,
        last_seen_at_ms=tail.observed_at_ms,
    )
