"""Small logs: one partition, batches with only what a test is about, each after the one before."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from zlib import crc32

from guarantees.batches import Batch, HeaderScan, Marker
from guarantees.findings import Place
from guarantees.header_traces import SeenBatch, begun, walked
from guarantees.unknown import Unknown
from tests.guarantees.builders import CLUSTER, TOPIC, TOPIC_ID, at

PLACE = Place(CLUSTER, TOPIC, TOPIC_ID, 0)
COMMIT, ABORT = Marker.COMMIT, Marker.ABORT


def batch(
    offset: int,
    count: int = 1,
    *,
    pid: int | None = None,
    epoch: int = 0,
    seq: int | None = None,
    leader: int = 0,
    tx: bool = False,
    value: object = None,
    records: int | None = None,
    second: float = 0,
    spans_ms: int = 0,
    append_time: bool = False,
    append_second: float = 0,
) -> Batch:
    """Batches of equal `value`, time and size are the same to the byte; without a value nobody else is like it."""
    payload = crc32(repr(("payload", offset if value is None else value)).encode())
    stamp = at(append_second) if append_time else at(second) + spans_ms
    return Batch(
        base_offset=offset,
        last_offset=offset + count - 1,
        records=count if records is None else records,
        producer_id=pid,
        producer_epoch=None if pid is None else epoch,
        base_sequence=None if pid is None else seq,
        leader_epoch=leader,
        is_transactional=tx,
        crc=crc32(repr((payload, pid, epoch, seq, tx, append_time, at(second), stamp)).encode()),
        body_hash=payload,
        size_bytes=70 + count,
        base_timestamp_ms=at(second),
        max_timestamp_ms=stamp,
        is_log_append_time=append_time,
    )


def marker(offset: int, kind: Marker, *, pid: int, epoch: int = 0, second: float = 0, leader: int = 0) -> Batch:
    return replace(
        batch(offset, pid=pid, epoch=epoch, tx=True, second=second, leader=leader), marker=kind, coordinator_epoch=0
    )


def scan(
    *batches: Batch,
    first: int | None = None,
    following: int | None = None,
    start: int | Unknown = 0,
    policy: str | Unknown = "delete",
    known: Iterable[int] | Unknown = (),
    second: float = 0,
    place: Place = PLACE,
) -> HeaderScan:
    """Read from its first batch to its last, unless said otherwise."""
    return HeaderScan(
        place=place,
        first_offset=batches[0].base_offset if first is None else first,
        next_offset=batches[-1].next_offset if following is None else following,
        batches=batches,
        log_start_offset=start,
        cleanup_policy=policy,
        producers_before=known if isinstance(known, Unknown) else frozenset(known),
        observed_at_ms=at(second),
    )


def walk(*scans: HeaderScan) -> list[SeenBatch]:
    """Every batch as the rules see it."""
    trace, seen = None, []
    for one in scans:
        trace, sights = walked(begun(one, trace), one)
        seen += sights
    return seen


def found_by(rule: object, scans: Sequence[HeaderScan]) -> list:
    return [finding for seen in walk(*scans) for finding in rule.found(seen)]  # type: ignore[attr-defined]
