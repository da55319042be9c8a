"""Fetch for the headers of batches: of many partitions at once, everything below the high watermark, open data too."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from kafka.protocol.consumer import FetchRequest
from xxhash import xxh3_64_digest

from guarantees.batches import Batch, Marker
from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.batch_headers import HEADER_BYTES, BatchHeader, CorruptBatchError, batch_headers
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, UnreadableAnswerError, unknown_after, unknown_because
from kafka_reader.fetch import OFFSET_OUT_OF_RANGE, Part
from kafka_reader.fetch_answer import OLDEST_VERSION, PartitionAnswer, parse_fetch_answer
from kafka_reader.list_offsets import READ_UNCOMMITTED
from kafka_reader.markers import ABORT, COMMIT, NoControlRecordError, control_record
from kafka_reader.undecoded import Prepared, Uncopied

UNNAMED = Unknown("the broker's answer does not name the partition")
_MARKERS: Mapping[int, Marker] = {ABORT: Marker.ABORT, COMMIT: Marker.COMMIT}


@dataclass(frozen=True, slots=True)
class FetchedHeaders:
    """The whole batches from an offset on. `is_out_of_range`: the log does not hold that offset, or no longer."""

    batches: tuple[Batch, ...]
    is_out_of_range: bool
    log_start_offset: int | Unknown
    observed_at_ms: int


def tail_request(positions: Mapping[Part, int], max_bytes: int, isolation_level: int) -> Prepared:
    """Of many partitions, in the given order, answered at once: what is new is there or it is not."""
    topic = FetchRequest.FetchTopic
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=max_bytes,
        isolation_level=isolation_level,
        session_id=0,
        session_epoch=-1,
        topics=[
            topic(
                topic=name,
                topic_id=UUID(topic_id),
                partitions=[
                    topic.FetchPartition(
                        partition=part.partition,
                        current_leader_epoch=-1,
                        fetch_offset=positions[part],
                        last_fetched_epoch=-1,
                        log_start_offset=-1,
                        partition_max_bytes=max_bytes,
                    )
                    for part in parts
                ],
            )
            for (name, topic_id), parts in groupby(positions, key=lambda p: (p.topic, p.topic_id))
        ],
        forgotten_topics_data=[],
        rack_id="",
        min_version=OLDEST_VERSION,
    )
    return Prepared(request, answered=Uncopied)


def headers_request(positions: Mapping[Part, int], max_bytes: int) -> Prepared:
    """Isolation level 0: open and aborted data too."""
    in_order = {part: positions[part] for part in sorted(positions, key=_order)}
    return tail_request(in_order, max_bytes, READ_UNCOMMITTED)


def fetch_headers(
    connections: Connections, positions_by_leader: Mapping[int, Mapping[Part, int]], max_bytes: int, timeout_s: float
) -> dict[Part, FetchedHeaders | Unknown]:
    """One entry per partition asked about; a leader's answer is about as large as `max_bytes`."""
    requests = {leader: headers_request(positions, max_bytes) for leader, positions in positions_by_leader.items()}
    found: dict[Part, FetchedHeaders | Unknown] = {}
    for leader, answer in connections.send_all(requests, timeout_s).items():
        found |= parse_headers(positions_by_leader[leader], answer)
    return found


def parse_headers(
    positions: Mapping[Part, int], answer: Answer | CollectionError
) -> dict[Part, FetchedHeaders | Unknown]:
    """A partition that failed is Unknown and costs no other."""
    return {
        part: one if isinstance(one, Unknown) else _fetched(*one, positions[part])
        for part, one in partition_answers(positions, answer).items()
    }


def partition_answers(
    asked: Iterable[Part], answer: Answer | CollectionError
) -> dict[Part, tuple[PartitionAnswer, int] | Unknown]:
    """What a leader said of each partition, and when it arrived; Unknown where it said nothing."""
    if isinstance(answer, CollectionError):
        return dict.fromkeys(asked, unknown_after(answer))
    try:
        parsed = parse_fetch_answer(answer.response)
    except UnreadableAnswerError as exc:
        return dict.fromkeys(asked, unknown_after(exc))
    if parsed.error_code != 0:
        return dict.fromkeys(asked, unknown_because(parsed.error_code))
    given = {(one.topic, one.partition): one for one in parsed.partitions}
    found = {
        part: given.get((part.topic_id, part.partition), given.get((part.topic, part.partition))) for part in asked
    }
    return {part: UNNAMED if one is None else (one, answer.observed_at_ms) for part, one in found.items()}


def parse_batches(blob: bytes | memoryview, position: int) -> tuple[Batch, ...]:
    """Those that begin at the position or later: an answer starts with the whole batch that holds it.

    Raises CorruptBatchError.
    """
    view = memoryview(blob)
    return tuple(_batch(view, header) for header in batch_headers(blob) if header.base_offset >= position)


def log_start(part: PartitionAnswer) -> int | Unknown:
    """Where the log begins, as the answer of a partition says it."""
    start = part.log_start_offset
    return Unknown("the answer names no log start") if start < 0 else start


def _fetched(part: PartitionAnswer, observed_at_ms: int, position: int) -> FetchedHeaders | Unknown:
    if part.error_code == OFFSET_OUT_OF_RANGE:
        return FetchedHeaders((), True, log_start(part), observed_at_ms)
    if part.error_code != 0:
        return unknown_because(part.error_code)
    try:
        batches = parse_batches(part.records, position)
    except CorruptBatchError as exc:
        return Unknown(str(exc))
    return FetchedHeaders(batches, False, log_start(part), observed_at_ms)


def _batch(view: memoryview, header: BatchHeader) -> Batch:
    body = view[header.position + HEADER_BYTES : header.position + header.size_bytes]
    marker, coordinator_epoch = _marker(header, body)
    return Batch(
        base_offset=header.base_offset,
        last_offset=header.last_offset,
        records=header.records,
        producer_id=_known(header.producer_id),
        producer_epoch=_known(header.producer_epoch),
        base_sequence=_known(header.base_sequence),
        leader_epoch=header.leader_epoch,
        is_transactional=header.is_transactional,
        marker=marker,
        coordinator_epoch=coordinator_epoch,
        crc=header.crc,
        body_hash=int.from_bytes(xxh3_64_digest(body), "big", signed=True),
        size_bytes=header.size_bytes,
        base_timestamp_ms=header.base_timestamp_ms,
        max_timestamp_ms=header.max_timestamp_ms,
        is_log_append_time=header.is_log_append_time,
    )


def _marker(header: BatchHeader, body: memoryview) -> tuple[Marker | None, int | None]:
    if not header.is_control or not header.records:
        return None, None
    try:
        record = control_record(bytes(body[:64]))
    except NoControlRecordError as exc:
        raise CorruptBatchError(f"the control batch at offset {header.base_offset} has no type") from exc
    return _MARKERS.get(record.kind), record.coordinator_epoch


def _known(value: int) -> int | None:
    return None if value < 0 else value


def _order(part: Part) -> tuple[str, str, int]:
    return part.topic, part.topic_id, part.partition
