"""stable_offset_frozen: an open transaction holds the last stable offset, and read_committed readers wait (T1, T2)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from guarantees.amounts import counted
from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.lag import MARKER_SLACK
from guarantees.memory import Hold, Memory
from guarantees.observations import PartitionOffsets, Round
from guarantees.places import TopicPartition
from guarantees.rules import transactions
from guarantees.rules.transactions import Holder, TransactionClass
from guarantees.times import utc
from guarantees.triage import Reading
from guarantees.unknown import Unknown
from guarantees.view import View, known, number, partition_place, present, topic_partition

# Who holds the offset is asked in the same rounds: without a name wait so many times longer for the answer.
NAMELESS_PATIENCE = 3


def opened(view: View) -> Iterator[Finding]:
    """The stable offset stood below the high watermark over two rounds or more, longer than short transactions do."""
    for partition, hold in view.now.holds.items():
        place = partition_place(view.cluster_id, partition, hold.topic_id)
        patience = 1 if hold.producer_id is not None else NAMELESS_PATIENCE
        is_long = hold.last_ms - hold.since_ms >= view.thresholds.frozen_after_s * 1000 * patience
        if hold.rounds >= 2 and is_long and (Kind.STABLE_OFFSET_FROZEN, place) not in view.open_places:
            offsets = view.offsets.get(partition)
            if offsets is not None:
                yield _finding(view, partition, hold, offsets)


def continued(finding: Finding, view: View) -> Finding:
    """Closes when the stable offset has passed the transaction's start: its marker was written."""
    partition, offsets = present(topic_partition(finding.place)), view.offsets_of(finding.place)
    if offsets is None or isinstance(offsets.last_stable_offset, Unknown):
        return finding
    start = number(finding.evidence, "start_offset")
    seen = replace(finding, last_seen_at_ms=offsets.observed_at_ms)
    hold = view.now.holds.get(partition)
    if offsets.last_stable_offset > start:
        return replace(seen, closed_reason=f"the transaction ended, {_outcome(finding, view)}: its marker was written")
    if hold is None or offsets.last_stable_offset < start:
        return replace(seen, closed_reason="the log was cut below the transaction's start")
    since_ms = min(hold.since_ms, number(finding.evidence, "held_since_ms"))
    renewed = _finding(view, partition, replace(hold, since_ms=since_ms), offsets)
    if _knows_less(renewed, finding):
        blocked = known(offsets.high_watermark) - start
        return replace(seen, bounds=Bounds(blocked, blocked, blocked, Unit.OFFSETS))
    return replace(renewed, anchor=finding.anchor)


def remember(
    before: Memory, observed: Round, offsets: Mapping[TopicPartition, PartitionOffsets]
) -> dict[TopicPartition, Hold]:
    """Stable offsets below the high watermark; partitions without a trusted answer in this round stay as they were."""
    holds = {partition: hold for partition, hold in before.holds.items() if partition not in offsets}
    for partition, answer in offsets.items():
        stable, high = answer.last_stable_offset, answer.high_watermark
        if isinstance(stable, int) and isinstance(high, int) and stable < high:
            holds[partition] = _lasting(before.holds.get(partition), observed, partition, answer, stable)
    return holds


def _lasting(
    before: Hold | None, observed: Round, partition: TopicPartition, answer: PartitionOffsets, stable: int
) -> Hold:
    producer = transactions.producer_at(observed, partition, stable)
    now_ms = answer.observed_at_ms
    if before is None or before.topic_id != answer.topic_id or before.start_offset != stable:
        before = Hold(answer.topic_id, stable, None, None, since_ms=now_ms, last_ms=now_ms, rounds=0)
    if producer is not None:
        before = replace(before, producer_id=producer.producer_id, producer_epoch=producer.producer_epoch)
    return replace(before, last_ms=now_ms, rounds=before.rounds + 1)


def _knows_less(renewed: Finding, finding: Finding) -> bool:
    """A round in which the producers or coordinators did not answer must not make a hanging transaction look young."""
    return any(
        finding.evidence.get(name) is not None and renewed.evidence.get(name) is None
        for name in ("last_timestamp_ms", "is_listed_by_coordinator")
    )


def _outcome(finding: Finding, view: View) -> str:
    producer_id = finding.evidence.get("producer_id")
    states = {t.state for t in view.round.transactions if t.producer_id == producer_id}
    if states & {"PrepareCommit", "CompleteCommit"}:
        return "committed"
    return "aborted" if states & {"PrepareAbort", "CompleteAbort"} else "committed or aborted (not seen which)"


def _finding(view: View, partition: TopicPartition, hold: Hold, offsets: PartitionOffsets) -> Finding:
    found = transactions.holder(view, partition, hold)
    now_ms = offsets.observed_at_ms
    kind = transactions.classify(found, hold.since_ms, view.thresholds.transaction_overdue_share, now_ms)
    blocked = known(offsets.high_watermark) - hold.start_offset
    waiting = [
        r for r in view.waiting.get(partition, ()) if 0 <= hold.start_offset - r.committed_offset <= MARKER_SLACK
    ]
    transaction, producer = found.transaction, found.producer
    producer_id, epoch = hold.producer_id, hold.producer_epoch
    if producer_id is None and transaction is not None:
        producer_id, epoch = transaction.producer_id, transaction.producer_epoch
    name = None if transaction is None else transaction.transactional_id
    where = f"{partition.topic}-{partition.partition}"
    return Finding(
        kind=Kind.STABLE_OFFSET_FROZEN,
        place=partition_place(view.cluster_id, partition, offsets.topic_id),
        anchor=f"producer {producer_id}, epoch {epoch}, offset {hold.start_offset}",
        severity=transactions.SEVERITY[kind],
        title=f"{where}: {kind} transaction of {_named(producer_id, name)} holds back {counted(blocked, 'offset')}",
        statements=_statements(where, hold, found, kind, blocked, waiting, now_ms),
        bounds=Bounds(blocked, blocked, blocked, Unit.OFFSETS),
        evidence={
            "class": str(kind),
            "start_offset": hold.start_offset,
            "high_watermark": known(offsets.high_watermark),
            "held_since_ms": hold.since_ms,
            "producer_id": producer_id,
            "producer_epoch": epoch,
            "transactional_id": name,
            "transaction_state": None if transaction is None else transaction.state,
            "transaction_timeout_ms": None if transaction is None else transaction.timeout_ms,
            "transaction_started_at_ms": None if transaction is None else transaction.started_at_ms,
            "transaction_coordinator": None if transaction is None else transaction.coordinator,
            "last_timestamp_ms": None if producer is None else producer.last_timestamp_ms,
            "is_listed_by_coordinator": found.is_listed,
            "waiting_groups": [{"group_id": r.key.group_id, "committed_offset": r.committed_offset} for r in waiting],
        },
        happened_at_ms=hold.since_ms,
        last_seen_at_ms=now_ms,
    )


def _named(producer_id: int | None, transactional_id: str | None) -> str:
    if producer_id is None:
        return "an unknown producer"
    return f"producer {producer_id}" + (f" ({transactional_id})" if transactional_id is not None else "")


def _statements(
    where: str,
    hold: Hold,
    found: Holder,
    kind: TransactionClass,
    blocked: int,
    waiting: list[Reading],
    now_ms: int,
) -> tuple[Statement, ...]:
    stands = (
        f"The last stable offset of {where} stands at {hold.start_offset:,} since {utc(hold.since_ms)} at the latest: "
        f"read_committed readers do not see {counted(blocked, 'offset')} up to the high watermark."
    )
    statements = [Statement(Grade.PROVEN, stands), _who(found, hold), _age(found, kind, hold, now_ms)]
    if waiting:
        text = f"Groups waiting there: {', '.join(r.key.group_id for r in waiting)}."
        statements.append(Statement(Grade.PROBABLE, text, "they read with isolation level read_committed"))
    return tuple(statements)


def _who(found: Holder, hold: Hold) -> Statement:
    if hold.producer_id is not None:
        who = f"Producer {hold.producer_id}, epoch {hold.producer_epoch},"
        return Statement(Grade.PROVEN, f"{who} has a transaction open there.")
    if found.transaction is not None:
        text = f"{found.transaction.transactional_id} (producer {found.transaction.producer_id}) holds it."
        return Statement(
            Grade.PROBABLE, text, "the oldest transaction that lists the partition is the one that starts there"
        )
    return Statement(Grade.NOT_OBSERVABLE, "Who holds it: no answer names it (describing producers needs READ).")


def _age(found: Holder, kind: TransactionClass, hold: Hold, now_ms: int) -> Statement:
    age_ms = transactions.coordinator_age_ms(found.transaction, now_ms)
    if found.is_listed is False and found.is_denied_by_description:
        return Statement(
            Grade.PROVEN, f"It is {kind}: its coordinator describes the transaction without this partition."
        )
    if found.is_listed is False:
        text = f"It is {kind}: no coordinator knows a transaction of this producer."
        return Statement(
            Grade.PROBABLE, text, "every transactional id may be described: a missing right looks the same"
        )
    seen_s = f"It is {kind}: seen open for {(now_ms - hold.since_ms) / 1000:.0f} s"
    if found.transaction is None:
        most_s = transactions.MAX_TIMEOUT_MS // 1000
        text = f"{seen_s}; its timeout is not known, by default the brokers allow {most_s} s at most."
        return Statement(Grade.NOT_OBSERVABLE, text)
    timeout_s = found.transaction.timeout_ms / 1000
    if age_ms is None:
        return Statement(Grade.NOT_OBSERVABLE, f"{seen_s}, timeout {timeout_s:.0f} s; when it began is not known.")
    return Statement(
        Grade.PROVEN, f"It is {kind}: begun {age_ms / 1000:.0f} s ago by its coordinator, timeout {timeout_s:.0f} s."
    )
