"""Reading batches for their content, in a worker: the leader's, the other replicas', and those that were read earlier.

A batch's CRC covers all that a producer wrote of it, and the bytes are checked against it as they are read. So two
copies of one offset with different CRCs are two contents.
"""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from guarantees.audited_content import DifferingBatch
from kafka_reader.batch_headers import BatchHeader
from kafka_reader.batches import Records
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError
from kafka_reader.fetch import Fetched, Part, read_replica
from spark_jobs.audits import blocks
from spark_jobs.audits.blocks import Account
from spark_jobs.audits.folders import READ
from spark_jobs.audits.reading import Reading, account_of
from spark_jobs.audits.tasks import ContentTask, Outcome
from spark_jobs.sources.open_clusters import OpenClusters
from spark_jobs.sources.range_reading import MAX_BYTES, decoded

LISTED = 50  # differing batches kept of each piece and copy; all are counted
EARLIER = -1  # in place of a replica: as the collectors read the batch

Contents = dict[int, tuple[int, int]]  # by base offset, leader epoch and CRC


@dataclass(frozen=True, slots=True)
class CopyRead:
    """What one copy of a piece says: batches that both have, and those that differ; or why it could not be read."""

    copy: int
    compared: int
    count: int
    differing: tuple[DifferingBatch, ...]
    error: str | None = None


def read_content(task: ContentTask, clusters: OpenClusters) -> Outcome:
    """The leader's piece as far as there is time, then the same piece of every other copy."""
    leader: Contents = {}

    def noted(fetched: Fetched) -> Records:
        leader.update(contents(fetched.headers))
        return decoded(fetched, task.request.message_id)

    reading = Reading(task.request, clusters, noted)
    account = Account()
    for records, in_range in reading:
        account = account.plus(account_of(records, in_range, task.window, int(in_range.sum())))
        if reading.offsets and time.time_ns() // 1_000_000 >= task.until_ms:
            break
    account = account.plus(Account(purged=reading.pass_purged(task.window)))
    if reading.offsets:
        piece = {offset: known for offset, known in leader.items() if reading.first <= offset < reading.reached}
        copies = _other_copies(task, clusters.connections(task.request), piece, reading.reached) if piece else []
        _write(task.folder, task.name, reading, account, len(piece), copies)
    return Outcome(offsets=reading.offsets, compared=account.compared, error=reading.error)


def contents(headers: Iterable[BatchHeader]) -> Contents:
    """Of batches whose bytes and CRC fit: else there is no header of them."""
    return {header.base_offset: (header.leader_epoch, header.crc) for header in headers}


def compared(copy: int, leader: Mapping[int, tuple[int, int]], other: Mapping[int, tuple[int, int]]) -> CopyRead:
    """Batches that begin at the same offset on both."""
    both = sorted(leader.keys() & other.keys())
    found = [DifferingBatch(offset, *leader[offset], *other[offset]) for offset in both
             if leader[offset][1] != other[offset][1]]  # fmt: skip
    return CopyRead(copy, len(both), len(found), tuple(found[:LISTED]))


def _other_copies(task: ContentTask, connections: Connections, leader: Contents, reached: int) -> list[CopyRead]:
    found = [_replica(task, connections, replica, leader, reached) for replica in task.replicas]
    if earlier := _read_earlier(task, min(leader), max(leader)):
        found.append(compared(EARLIER, leader, earlier))
    return found


def _replica(task: ContentTask, connections: Connections, replica: int, leader: Contents, reached: int) -> CopyRead:
    """A replica that cannot be read, or not so far, is one of which nothing is known."""
    wanted = task.request.range
    part = Part(wanted.part.topic, wanted.part.topic_id, wanted.part.partition)
    found: Contents = {}
    try:
        for fetched in read_replica(
            connections, replica, part, first_offset=min(leader), next_offset=reached, max_bytes=MAX_BYTES
        ):
            found |= contents(fetched.headers)
    except CollectionError as exc:
        return CopyRead(replica, 0, 0, (), error=str(exc))
    return compared(replica, leader, found)


def _read_earlier(task: ContentTask, first: int, last: int) -> Contents:
    """What the collectors kept of these batches, where the topic is one of `header_topics`."""
    found: Contents = {}
    within = (pc.field("base_offset") >= first) & (pc.field("base_offset") <= last)
    for path in task.earlier:
        rows = pq.read_table(path, columns=["base_offset", "leader_epoch", "crc"], filters=within)
        columns = (rows[name].to_pylist() for name in ("base_offset", "leader_epoch", "crc"))
        found |= {offset: (epoch, crc) for offset, epoch, crc in zip(*columns, strict=True)}
    return found


def _write(
    folder: Path, name: str, reading: Reading[Records], account: Account, batches: int, copies: Iterable[CopyRead]
) -> None:
    """The account, written last, makes the piece count."""
    found = {"batches": batches, "copies": [asdict(copy) for copy in copies]}
    blocks.write_json(content_path(folder / READ, name, reading.first, reading.reached), found)
    blocks.write_block(folder / READ, name, reading.first, reading.reached, blocks.NO_COPIES, account, 1)


def pieces(folder: Path) -> dict[str, list[dict[str, object]]]:
    """By the name of a range, what was found of each of its pieces that count."""
    return {
        name: [json.loads(content_path(folder, name, first, following).read_text()) for first, following in ranges]
        for name, ranges in blocks.covered(folder).items()
    }


def content_path(folder: Path, name: str, first: int, following: int) -> Path:
    """Of an audit's piece; one of which nothing was to compare has none."""
    return folder / f"{name}.{first}-{following}.json"
