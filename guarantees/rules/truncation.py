"""log_truncated: offsets that could be read are gone since a change of leader (L3 a, b), seen as unclean or not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from guarantees.amounts import counted
from guarantees.beyond_end import BeyondEnd, Readers, beyond_end
from guarantees.elections import is_outside, last_state_before
from guarantees.epochs import EpochCheck
from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.observations import EpochEnd, PartitionOffsets, PartitionState, ReplicaOffset
from guarantees.places import TopicPartition
from guarantees.times import utc
from guarantees.view import View, known, number, partition_place, present, topic_partition


@dataclass(frozen=True, slots=True)
class Loss:
    """Offsets [first_lost, last_high_watermark) were readable under the old leader and are gone, more perhaps.

    `end` is the new leader's answer about the old epoch, None where the high watermark alone fell; `log_end_offset` the
    old leader's when last seen, `new_leaders_end` the new one's.
    """

    partition: TopicPartition
    first_lost: int
    last_high_watermark: int
    log_end_offset: int | None
    new_leaders_end: int | None
    leader_epoch_before: int
    leader_before: int | None
    last_observed_at_ms: int
    after: PartitionOffsets
    end: EpochEnd | None

    @property
    def count(self) -> int:
        return self.last_high_watermark - self.first_lost

    @property
    def most(self) -> int | None:
        """All that the new leader's log lacked when last seen."""
        if self.new_leaders_end is None:
            return None
        return max(self.count, self.last_high_watermark - self.new_leaders_end)

    @property
    def tail(self) -> int | None:
        """Offsets only the old leader had, above its high watermark."""
        return None if self.log_end_offset is None else max(0, self.log_end_offset - self.last_high_watermark)


def opened(view: View) -> Iterator[Finding]:
    """The leader of a newer epoch has a lower high watermark than was seen before, or its log, asked twice for the end
    of an old epoch, lacks what was seen of it.

    A replaced leader's late answer and a lower answer within one epoch are no samples (`trust.trusted_offsets`). The
    high watermark need not fall at a loss: records written since may hide it, or a longer log of an older epoch.
    """
    losses = [*_falls(view), *_cuts(view)]
    readers = view.readers({loss.partition for loss in losses})
    for loss in losses:
        yield _finding(view, loss, readers[loss.partition])


def continued(finding: Finding, view: View) -> Finding:
    """Takes in what the new leader says of the old epoch; closes when the log has grown past its old end: from then on
    no commit can lie beyond it.
    """
    offsets = view.offsets_of(finding.place)
    if offsets is None:
        return finding
    seen = replace(_with_end(finding, view), last_seen_at_ms=offsets.observed_at_ms)
    if isinstance(offsets.high_watermark, int) and offsets.high_watermark >= _old_end(finding):
        return replace(seen, closed_reason="the log has grown past its old end; what was cut stays lost")
    return seen


def _falls(view: View) -> Iterator[Loss]:
    for partition, after in view.offsets.items():
        before = view.before.offsets.get(partition)
        if before is not None and _fell(before, after):
            yield _fall(view, partition, before, after)


def _fell(before: PartitionOffsets, after: PartitionOffsets) -> bool:
    if after.topic_id is None or after.topic_id != before.topic_id:
        return False
    old, new = before.high_watermark, after.high_watermark
    return isinstance(old, int) and isinstance(new, int) and new < old


def _fall(view: View, partition: TopicPartition, before: PartitionOffsets, after: PartitionOffsets) -> Loss:
    old, new = known(before.high_watermark), known(after.high_watermark)
    replicas = view.before.replicas.get(partition, ())
    return Loss(
        partition=partition,
        first_lost=new,
        last_high_watermark=old,
        log_end_offset=_log_end(replicas, before.broker, before.topic_id),
        new_leaders_end=_log_end(replicas, after.broker, after.topic_id),
        leader_epoch_before=known(before.leader_epoch),
        leader_before=before.broker,
        last_observed_at_ms=before.observed_at_ms,
        after=after,
        end=None,
    )


def _cuts(view: View) -> Iterator[Loss]:
    """Where the high watermark fell too, that opened the finding, and this only adds to it."""
    for partition, check in view.epoch_checks.items():
        loss = _cut(view, partition, check)
        if loss is not None and known(loss.after.high_watermark) >= loss.last_high_watermark:
            yield loss


def _cut(view: View, partition: TopicPartition, check: EpochCheck) -> Loss | None:
    if check.cut is None:
        return None
    return Loss(
        partition=partition,
        first_lost=check.cut.first_lost,
        last_high_watermark=check.cut.last_high_watermark,
        log_end_offset=check.newest.log_end_offset,
        new_leaders_end=None,
        leader_epoch_before=check.newest.leader_epoch,
        leader_before=check.newest.leader,
        last_observed_at_ms=check.newest.last_observed_at_ms,
        after=view.now.epochs.begun[partition],
        end=check.end,
    )


def _with_end(finding: Finding, view: View) -> Finding:
    """The same finding with more to say, once the end of the old epoch is known."""
    partition = present(topic_partition(finding.place))
    check = view.epoch_checks.get(partition)
    loss = None if check is None else _cut(view, partition, check)
    if loss is None or loss.after.leader_epoch != finding.evidence["leader_epoch"]:
        return finding
    return _finding(view, loss, view.readers({loss.partition})[loss.partition])


def _old_end(finding: Finding) -> int:
    return number(finding.evidence, "high_watermark_before")


def _finding(view: View, loss: Loss, readers: Readers) -> Finding:
    after, epoch = loss.after, known(loss.after.leader_epoch)
    last = last_state_before(view.before, loss.partition, after.topic_id, epoch)
    beyond = beyond_end(readers, loss.first_lost)
    eligible = None if last is None else last.eligible_leader_replicas
    return Finding(
        kind=Kind.LOG_TRUNCATED,
        place=partition_place(view.cluster_id, loss.partition, after.topic_id),
        anchor=f"leader epoch {epoch}",
        severity=4,
        title=f"{loss.partition.topic}-{loss.partition.partition} was cut: "
        f"{counted(loss.count, 'visible offset')} or more are gone",
        statements=_statements(loss, last, beyond),
        bounds=Bounds(loss.count, loss.most, loss.most, Unit.OFFSETS),
        evidence={
            "first_lost_offset": loss.first_lost,
            "high_watermark_before": loss.last_high_watermark,
            "high_watermark": known(after.high_watermark),
            "leader_epoch_before": loss.leader_epoch_before,
            "leader_epoch": epoch,
            "leader_before": loss.leader_before,
            "leader": after.broker,
            "observed_before_at_ms": loss.last_observed_at_ms,
            "observed_at_ms": after.observed_at_ms,
            "epoch_end": None if loss.end is None else [loss.end.answered_epoch, loss.end.end_offset],
            "in_sync_replicas_before": None if last is None else list(last.in_sync_replicas),
            "eligible_leader_replicas_before": None if eligible is None else list(eligible),
            "is_unclean": is_outside(last, after.broker),
            "new_leader_log_end_offset_before": loss.new_leaders_end,
            "offsets_above_high_watermark_before": loss.tail,
            **beyond.evidence,
        },
        happened_at_ms=after.observed_at_ms,
        last_seen_at_ms=after.observed_at_ms,
    )


def _statements(loss: Loss, last: PartitionState | None, beyond: BeyondEnd) -> tuple[Statement, ...]:
    found = [Statement(Grade.PROVEN, _headline(loss)), _cause(last, loss.after)]
    if loss.most is not None and loss.most > loss.count:
        text = f"Up to {counted(loss.most, 'offset')}: the new leader's log ended there when last seen."
        found.append(Statement(Grade.POSSIBLE, text))
    if loss.tail:
        text = (
            f"The old leader had {counted(loss.tail, 'more offset')} above the high watermark, "
            f"{loss.count + loss.tail:,} in all; only acks 0 or 1 acknowledge such."
        )
        found.append(Statement(Grade.POSSIBLE, text))
    if beyond.commits:
        text = f"Groups committed beyond the new end {loss.first_lost:,}: {beyond.named}."
        found.append(Statement(Grade.PROVEN, text))
    return (*found, *beyond.not_observed)


def _headline(loss: Loss) -> str:
    where, epoch = f"{loss.partition.topic}-{loss.partition.partition}", loss.leader_epoch_before
    old = f"{loss.last_high_watermark:,} (leader epoch {epoch}, {utc(loss.last_observed_at_ms)})"
    if loss.end is None:
        new = (
            f"{known(loss.after.high_watermark):,} (leader epoch {loss.after.leader_epoch}, "
            f"{utc(loss.after.observed_at_ms)})"
        )
        seen = f"The high watermark of {where} fell from {old} to {new}"
    else:
        answer = f"epoch {loss.end.answered_epoch} ends at {loss.end.end_offset:,}"
        seen = (
            f"{where} could be read up to {old}; the leader of epoch {loss.end.current_leader_epoch}, asked twice for "
            f"the end of epoch {loss.end.asked_epoch}, says that {answer} ({utc(loss.end.observed_at_ms)})"
        )
    return f"{seen}: {counted(loss.count, 'offset')} or more that consumers could read are gone. {_HIDDEN}"


_HIDDEN = "Records written since may hide more."


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
            text = "Whether the election was unclean is not known: who was in sync or eligible before was not seen."
            return Statement(Grade.NOT_OBSERVABLE, text)


def _log_end(replicas: Sequence[ReplicaOffset], broker: int | None, topic_id: str | None) -> int | None:
    ends = [r.log_end_offset for r in replicas if r.broker == broker and r.topic_id == topic_id]
    return ends[0] if ends and isinstance(ends[0], int) else None
