"""Leader epochs as they were seen, and what a newer leader's log says of them (KIP-101, KIP-279, KIP-320)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from guarantees.memory import Epochs, EpochSight, Memory
from guarantees.observations import EpochEnd, PartitionOffsets, ReplicaOffset, Round
from guarantees.places import TopicPartition

# Of a partition whose leader changes again and again the newest epochs are kept.
MOST_FORMER_EPOCHS = 4

# How long after an election its epoch ends are waited for; nobody may be able to answer.
CHECK_WITHIN_MS = 60_000


@dataclass(frozen=True, slots=True)
class Cut:
    """Offsets [first_lost, last_high_watermark) were readable and are not in the log of the answering leader."""

    first_lost: int
    last_high_watermark: int


@dataclass(frozen=True, slots=True)
class EpochCheck:
    """The second answer about an old epoch. `cut` is None where all that was seen of it is still there.

    `newest` is the newest former epoch seen, not above the asked one.
    """

    end: EpochEnd
    newest: EpochSight
    cut: Cut | None


def remember(before: Memory, observed: Round, offsets: Mapping[TopicPartition, PartitionOffsets]) -> Epochs:
    """The first offsets of each current epoch, the epochs before it, and what leaders answered about them."""
    begun, former = dict(before.epochs.begun), dict(before.epochs.former)
    for partition, now in offsets.items():
        first = begun.get(partition)
        if not isinstance(now.leader_epoch, int):
            continue
        if first is None or first.topic_id != now.topic_id:
            begun[partition] = now
            former.pop(partition, None)
        elif first.leader_epoch != now.leader_epoch:
            begun[partition] = now
            ended = _sight(first, before.offsets[partition], before.replicas.get(partition, ()))
            # Where the high watermark fell at the start of this epoch, that was told: it is not lost a second time.
            earlier = (_shortened(sight, ended.first_high_watermark) for sight in former.get(partition, ()))
            former[partition] = (*earlier, ended)[-MOST_FORMER_EPOCHS:]
    return Epochs(begun, former, _answers(before, observed))


def _sight(first: PartitionOffsets, last: PartitionOffsets, replicas: Sequence[ReplicaOffset]) -> EpochSight:
    epoch, start, end = last.leader_epoch, first.high_watermark, last.high_watermark
    if not (isinstance(epoch, int) and isinstance(start, int) and isinstance(end, int)):
        raise TypeError("trusted offsets have an epoch and a high watermark")
    return EpochSight(
        topic_id=last.topic_id,
        leader_epoch=epoch,
        leader=last.broker,
        first_high_watermark=start,
        last_high_watermark=end,
        log_end_offset=leaders_log_end(last, replicas),
        last_observed_at_ms=last.observed_at_ms,
    )


def leaders_log_end(offsets: PartitionOffsets, replicas: Iterable[ReplicaOffset]) -> int | None:
    """The leader's own log end, if it answered in the same epoch."""
    for replica in replicas:
        is_same_log = replica.topic_id == offsets.topic_id and replica.leader_epoch == offsets.leader_epoch
        if replica.broker == offsets.broker and is_same_log and isinstance(replica.log_end_offset, int):
            return replica.log_end_offset
    return None


def log_ends(before: Memory, observed: Round) -> dict[TopicPartition, tuple[ReplicaOffset, ...]]:
    """Log ends by replica. A leader that does not answer keeps its own as it was last seen, below which its log did not
    end when it died: until another one leads, whole rounds may pass (broker.session.timeout.ms). A follower's would
    tell nothing of what it has now.
    """
    kept = {
        partition: _with_leaders_end(before, partition, replicas)
        for partition, replicas in observed.replicas.items()
        if any(not isinstance(replica.log_end_offset, int) for replica in replicas)
    }
    return {**before.replicas, **observed.replicas, **kept}


def _with_leaders_end(
    before: Memory, partition: TopicPartition, replicas: Sequence[ReplicaOffset]
) -> tuple[ReplicaOffset, ...]:
    last = before.offsets.get(partition)
    leader = None if last is None else last.broker
    known = {replica.broker: replica for replica in before.replicas.get(partition, ()) if replica.broker == leader}
    return tuple(
        replica if isinstance(replica.log_end_offset, int) else known.get(replica.broker, replica)
        for replica in replicas
    )


def _answers(before: Memory, observed: Round) -> dict[TopicPartition, Mapping[int, tuple[EpochEnd, ...]]]:
    """The last two known answers per asked epoch, both of the same leader's epoch."""
    known = dict(before.epochs.ends)
    for partition, ends in observed.epoch_ends.items():
        its = dict(known.get(partition, {}))
        for end in ends:
            if isinstance(end.end_offset, int):
                its[end.asked_epoch] = (*_comparable(its.get(end.asked_epoch, ()), end), end)[-2:]
        known[partition] = its
    return known


def _comparable(answers: Iterable[EpochEnd], end: EpochEnd) -> list[EpochEnd]:
    """Earlier answers of the same leader in the same epoch of the same topic."""
    return [
        one for one in answers if one.topic_id == end.topic_id and one.current_leader_epoch == end.current_leader_epoch
    ]


def confirmed_end(answers: Sequence[EpochEnd]) -> EpochEnd | None:
    """The higher of two answers: a leader that is still recovering may have answered too low."""
    return max(answers, key=lambda one: _place(one)) if len(answers) > 1 else None


def is_beyond(committed_offset: int, end: EpochEnd) -> bool | None:
    """A consumer that goes on from here would find its log cut (KIP-320); None where the log knows no such epoch."""
    return committed_offset > end.end_offset if isinstance(end.end_offset, int) else None


def _place(end: EpochEnd) -> tuple[int, int]:
    if not (isinstance(end.answered_epoch, int) and isinstance(end.end_offset, int)):
        raise TypeError("only known answers are kept")
    return end.answered_epoch, end.end_offset


def epoch_checks(observed: Round, epochs: Epochs) -> dict[TopicPartition, EpochCheck]:
    """What this round's answers, each the second of its kind and of the leader whose offsets are the newest known, say
    of the epochs that were seen: a leader that was replaced tells of a log that is no more.
    """
    found: dict[TopicPartition, EpochCheck] = {}
    for partition, given in observed.epoch_ends.items():
        first = epochs.begun.get(partition)
        for asked in {end.asked_epoch for end in given if isinstance(end.end_offset, int)}:
            end = confirmed_end(epochs.ends[partition][asked])
            if first is None or end is None or end.current_leader_epoch != first.leader_epoch:
                continue
            check = _check(epochs.former.get(partition, ()), end)
            if check is not None and (check.cut is not None or partition not in found):
                found[partition] = check
    return found


def _check(former: Sequence[EpochSight], end: EpochEnd) -> EpochCheck | None:
    """Nothing missing is said only of an answer about the newest epoch: later ones may be gone as a whole."""
    seen = [sight for sight in former if sight.topic_id == end.topic_id and sight.leader_epoch <= end.asked_epoch]
    if not seen:
        return None
    cut = cut_shown(seen, end)
    is_newest = seen[-1] is former[-1]
    return EpochCheck(end, seen[-1], cut) if cut is not None or is_newest else None


def cut_shown(seen: Sequence[EpochSight], end: EpochEnd) -> Cut | None:
    """Of epochs up to the asked one: what lay at or past the answered end is gone, whatever its epoch, and everything
    of the epochs above the answered one, whatever its offset.

    An epoch without records is answered by a lower one too: only what rose within an epoch is known to be of it. An
    epoch that has aged out ends at the log start, above all that was seen of it.
    """
    answered, end_offset = _place(end)
    gone = [sight.first_high_watermark for sight in seen if sight.leader_epoch > answered]
    cut = Cut(min([end_offset, *gone]), max(sight.last_high_watermark for sight in seen))
    return cut if cut.first_lost < cut.last_high_watermark else None


def without_cuts(epochs: Epochs, checks: Mapping[TopicPartition, EpochCheck]) -> Epochs:
    """What was cut is told once: from then on only what the new leader's log still holds is expected of it."""
    shortened = {
        partition: tuple(_shortened(sight, check.cut.first_lost) for sight in epochs.former[partition])
        for partition, check in checks.items()
        if check.cut is not None
    }
    return replace(epochs, former={**epochs.former, **shortened}) if shortened else epochs


def _shortened(sight: EpochSight, end_offset: int) -> EpochSight:
    return replace(
        sight,
        first_high_watermark=min(sight.first_high_watermark, end_offset),
        last_high_watermark=min(sight.last_high_watermark, end_offset),
    )
