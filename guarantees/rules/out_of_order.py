"""out_of_order: a record stored behind one of its key that should follow it, as an exact audit counted (ORD)."""

from collections.abc import Iterable, Mapping

from guarantees.amounts import counted
from guarantees.audited_order import OrderCause, OrderedRecord, OrderExample, OrderGroup
from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Place, Statement, Unit

CAUSES: Mapping[OrderCause, str] = {
    OrderCause.NOT_IDEMPOTENT: "by a producer that is not idempotent: a batch that was retried after the next one was "
    "written, or the application sent them so",
    OrderCause.SAME_PRODUCER: "by the producer that had stored the other: the application sent them in this order",
    OrderCause.OTHER_PRODUCER: "by another producer id: two writers of one key, or a restart that sent older records",
}


def order_findings(groups: Iterable[OrderGroup], now_ms: int) -> list[Finding]:
    """One finding per pipeline, partition, cause and producer of the records that are out of order.

    That a record lies behind a higher place is a fact; that it should not is the declaration. What is stored stays as
    it is: the finding closes when no audit has added a record for the horizon.
    """
    return [_finding(group, now_ms) for group in groups]


def _finding(group: OrderGroup, now_ms: int) -> Finding:
    where, horizon_s = f"{group.topic}-{group.partition}", group.horizon_s
    is_settled = now_ms - group.decided_at_ms > horizon_s * 1000
    return Finding(
        kind=Kind.OUT_OF_ORDER,
        place=Place(group.cluster_id, group.topic, group.topic_id, group.partition),
        anchor=f"{group.pipeline}, {group.cause}, producer {group.producer_id}, epoch {group.producer_epoch}",
        severity=3,
        title=f"{counted(group.out_of_order, 'record')} of {where} out of order within their keys",
        statements=_statements(group, where),
        bounds=Bounds(group.out_of_order, group.out_of_order, group.out_of_order, Unit.RECORDS),
        evidence=_evidence(group),
        happened_at_ms=_happened_at_ms(group),
        last_seen_at_ms=group.decided_at_ms,
        pipeline=group.pipeline,
        closed_reason=f"settled: no audit found a further one for {horizon_s:.0f} s" if is_settled else None,
    )


def _happened_at_ms(group: OrderGroup) -> int:
    """The time of the first record that is known, within the window; records' times are their producers' word."""
    begin_ms, end_ms = group.window_ms
    first = min((example.later for example in group.examples), key=lambda record: record.offset, default=None)
    return begin_ms if first is None else min(max(begin_ms, first.timestamp_ms), end_ms)


def _statements(group: OrderGroup, where: str) -> tuple[Statement, ...]:
    stored = (
        f"{where} has {counted(group.out_of_order, 'record')}, from the offset {group.first_offset:,} to "
        f"{group.last_offset:,}, behind one of the same key that should follow, stored {CAUSES[group.cause]}."
    )
    windows = ", ".join(f"{first:,} to {following - 1:,}" for first, following in group.audited)
    compared = (
        f"Each lies {_distance(group)} behind the record with the highest place before it. Every record of the offsets "
        f"{windows} was compared within its key, on this partition alone."
    )
    found = [
        Statement(Grade.PROBABLE, stored, f"{group.order} rises from record to record of a key, as declared"),
        Statement(Grade.PROVEN, compared),
    ]
    if group.keys_elsewhere:
        found.append(Statement(Grade.NOT_OBSERVABLE, _elsewhere(group)))
    return tuple(found)


def _distance(group: OrderGroup) -> str:
    if group.nearest_offsets == group.farthest_offsets:
        return counted(group.nearest_offsets, "offset")
    return f"{group.nearest_offsets:,} to {counted(group.farthest_offsets, 'offset')}"


def _elsewhere(group: OrderGroup) -> str:
    return (
        f"Other partitions hold {counted(group.keys_elsewhere, 'key')} of these offsets too, as after partitions were "
        "added or where producers choose partitions differently: offsets of two partitions have no order."
    )


def _evidence(group: OrderGroup) -> Evidence:
    return {
        "cause": str(group.cause),
        "producer_id": group.producer_id,
        "producer_epoch": group.producer_epoch,
        "first_producer_ids": list(group.first_producer_ids),
        "first_offset": group.first_offset,
        "last_offset": group.last_offset,
        "nearest_offsets": group.nearest_offsets,
        "farthest_offsets": group.farthest_offsets,
        "keys_elsewhere": group.keys_elsewhere,
        "order": group.order,
        "examples": [_example(example) for example in group.examples],
        "audited": [list(window) for window in group.audited],
    }


def _example(example: OrderExample) -> Evidence:
    earlier, later = _record(example.earlier), _record(example.later)
    return {"record_key": example.key, "key_hash": example.key_hash, "earlier": earlier, "later": later}


def _record(record: OrderedRecord) -> Evidence:
    return {
        "place": record.place,
        "offset": record.offset,
        "producer_id": record.producer_id,
        "producer_epoch": record.producer_epoch,
        "sequence": record.sequence,
        "timestamp_ms": record.timestamp_ms,
    }
