"""unfenced_restart: a new transactional id at every start, so that a dead instance's transaction lives on (T4)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from guarantees.batches import Batch, Marker
from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.header_evidence import where
from guarantees.header_traces import Ending, OpenData, PartitionTrace
from guarantees.transaction_ends import Transactions

# Far above the time between two batches of a living transaction; as long as a frozen stable offset takes to matter.
SILENT_MS = 10_000
# What is new at every start: a UUID, or eight and more hexadecimal digits with a decimal one among them.
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_MADE_UP = re.compile(rf"(?P<prefix>.+?)[-_.:](?:{_UUID}|(?=[0-9a-f]*[0-9])[0-9a-f]{{8,}})", re.IGNORECASE)
ONE_APPLICATION = "transactional ids that differ only in a made-up ending are starts of one application"


@dataclass(frozen=True, slots=True)
class Successor:
    """A COMMIT above the open data of another producer id, that one's last batch, and both transactional ids."""

    last: Batch
    open: OpenData
    dead_id: int
    dead_name: str
    name: str
    prefix: str


def found(end: Ending, trace: PartitionTrace, transactions: Transactions, now_ms: int) -> Iterator[Finding]:
    """A producer that began after another had fallen silent committed above its open transaction, and their
    transactional ids share all but a made-up ending. Two instances that live side by side are no restart.
    """
    new = trace.producers.get(end.producer_id)
    if end.marker is not Marker.COMMIT or new is None:
        return
    for dead_id, dead in trace.producers.items():
        last, open_data = dead.last, dead.open
        if last is None or open_data is None or new.first_offset <= last.last_offset:
            continue
        successor = _successor(transactions, dead_id, last, open_data, end.producer_id)
        if successor is not None and end.ended_at_ms - last.max_timestamp_ms >= SILENT_MS:
            yield _finding(end, successor, now_ms)


def joined(before: Finding, now: Finding) -> Finding:
    """While the transaction stays open, later commits above it say the same."""
    return before


def prefix(transactional_id: str) -> str | None:
    """The part that stays the same over restarts; None where nothing looks made up, so that a restart fences."""
    match = _MADE_UP.fullmatch(transactional_id)
    return None if match is None else match["prefix"]


def _successor(
    transactions: Transactions, dead_id: int, last: Batch, open_data: OpenData, new_id: int
) -> Successor | None:
    old, new = transactions.newest.get(dead_id), transactions.newest.get(new_id)
    if old is None or new is None or old.transactional_id == new.transactional_id:
        return None
    shared = prefix(old.transactional_id)
    if shared is None or shared != prefix(new.transactional_id):
        return None
    return Successor(last, open_data, dead_id, old.transactional_id, new.transactional_id, shared)


def _finding(end: Ending, found: Successor, now_ms: int) -> Finding:
    first = found.open.first_offset
    committed = (
        f"Producer {end.producer_id} committed at offset {end.marker_offset:,} of {where(end.place)}, above the open "
        f"transaction of producer {found.dead_id} at offset {first:,}: read_committed readers stop before it."
    )
    unfenced = (
        f"{found.name} replaced {found.dead_name} (same beginning {found.prefix}, one producer id each) and so fenced "
        f"nobody: the transaction stays open until its timeout."
    )
    return Finding(
        kind=Kind.UNFENCED_RESTART,
        place=end.place,
        anchor=f"producer {found.dead_id}, epoch {found.open.producer_epoch}, offset {first}",
        severity=2,
        title=f"{where(end.place)}: committed above the open transaction of {found.dead_name}",
        statements=(Statement(Grade.PROVEN, committed), Statement(Grade.PROBABLE, unfenced, ONE_APPLICATION)),
        bounds=None,
        evidence={
            "prefix": found.prefix,
            "transactional_ids": [found.dead_name, found.name],
            "producer_ids": [found.dead_id, end.producer_id],
            "open_since_offset": first,
            "last_write_ms": found.last.max_timestamp_ms,
            "marker_offset": end.marker_offset,
            "last_offset": end.marker_offset,
        },
        happened_at_ms=end.ended_at_ms,
        last_seen_at_ms=max(now_ms, end.ended_at_ms),
    )
