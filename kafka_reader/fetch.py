"""Fetch: the raw record batches of a closed range of offsets, read_committed, whole or with an error; never short.

Topics are named by their id from Fetch v13 on (KIP-516, brokers 3.1 and later): a re-created topic is then an error.
Older brokers are asked by name; there only the metadata tell a re-creation.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from kafka.protocol.consumer import FetchRequest

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.batch_headers import BatchHeader, CorruptBatchError, batch_headers
from kafka_reader.batches import AbortedTransaction
from kafka_reader.connection import Connections
from kafka_reader.errors import (
    NOT_PERMITTED,
    BrokerUnavailableError,
    CollectionError,
    RequestRefusedError,
    error_word,
    is_refusal,
)
from kafka_reader.fetch_answer import OLDEST_VERSION, PartitionAnswer, parse_fetch_answer
from kafka_reader.list_offsets import READ_COMMITTED
from kafka_reader.metadata import fetch_topology
from kafka_reader.undecoded import Prepared, Uncopied

_SOON_S = 3.0
_BACK_WITHIN_S = 1.0  # a connection that was given up is made anew at once; a broker that hangs does not take it
_TIMEOUT_S = 10.0
_MAX_WAIT_MS = 100  # the range ends below the stable offset: there is always something to return
_ATTEMPTS = 5
_PAUSE_S = 0.2

_NONE, OFFSET_OUT_OF_RANGE = 0, 1
_ANOTHER_LEADER = frozenset({5, 6, 9, 74, 75})  # no leader, not the leader, no replica, older or newer epoch
_ANOTHER_TOPIC = frozenset({3, 100, 103})  # unknown topic or partition, unknown or inconsistent topic id


class OffsetsGoneError(CollectionError):
    """The log start moved past the range, or the log was truncated below it."""


class TopicGoneError(CollectionError):
    """The topic with this id is no longer there: deleted, or re-created under the same name."""


class NotStableError(CollectionError):
    """The broker's last stable offset lies below the range's end: it was truncated, or an election is under way."""


@dataclass(frozen=True, slots=True)
class Part:
    """A partition of a topic as it was when the range was planned; `topic_id` is Kafka's UUID as text."""

    topic: str
    topic_id: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class Fetched:
    """One answer. The blob may start below the position asked for and pass the range's end: batches are whole.

    `headers` are those of its whole batches, whose CRC is checked.
    """

    blob: memoryview
    headers: Sequence[BatchHeader]
    aborted: tuple[AbortedTransaction, ...]
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    observed_at_ms: int


def read_range(
    connections: Connections, leader: int, part: Part, *, first_offset: int, next_offset: int, max_bytes: int
) -> Iterator[Fetched]:
    """Every batch with an offset in [first_offset, next_offset), in order, in answers of about `max_bytes`.

    Ends only when the range is complete; else raises CollectionError (also for a batch that is damaged). A leader that
    moved is followed.
    """
    position = first_offset
    while position < next_offset:
        answer, leader = _fetch_from_leader(connections, leader, part, position, max_bytes)
        fetched = parse_fetched(answer, part, position, next_offset)
        yield fetched
        position = fetched.headers[-1].next_offset


def read_replica(
    connections: Connections, replica: int, part: Part, *, first_offset: int, next_offset: int, max_bytes: int
) -> Iterator[Fetched]:
    """The same range as one replica holds it, be it the leader or not (KIP-392): raw batches, in order.

    Raises CollectionError where that replica does not give all of it: it holds none, or is not so far.
    """
    position = first_offset
    while position < next_offset:
        request = fetch_request(part, position, max_bytes)
        answer = _partition_answer(connections.send(replica, request, timeout_s=_TIMEOUT_S), part)
        fetched = parse_fetched(answer, part, position, next_offset)
        yield fetched
        position = fetched.headers[-1].next_offset


def fetch_request(part: Part, position: int, max_bytes: int) -> Prepared:
    """For one partition, isolation level 1: the answer ends at the stable offset and names the aborted transactions."""
    topic = FetchRequest.FetchTopic
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=_MAX_WAIT_MS,
        min_bytes=1,
        max_bytes=max_bytes,
        isolation_level=READ_COMMITTED,
        session_id=0,
        session_epoch=-1,
        topics=[
            topic(
                topic=part.topic,
                topic_id=UUID(part.topic_id),
                partitions=[
                    topic.FetchPartition(
                        partition=part.partition,
                        current_leader_epoch=-1,
                        fetch_offset=position,
                        last_fetched_epoch=-1,
                        log_start_offset=-1,
                        partition_max_bytes=max_bytes,
                    )
                ],
            )
        ],
        forgotten_topics_data=[],
        rack_id="",
        min_version=OLDEST_VERSION,
    )
    return Prepared(request, answered=Uncopied)


def parse_fetched(answer: PartitionAnswer, part: Part, position: int, next_offset: int) -> Fetched:
    """The partition's data, or the CollectionError that says why there is none."""
    if answer.error_code == OFFSET_OUT_OF_RANGE:
        raise OffsetsGoneError(f"{part}: offset {position} is not stored: purged, or cut off by a truncation")
    if answer.error_code in _ANOTHER_TOPIC:
        raise TopicGoneError(f"{part}: topic id {part.topic_id} is gone ({error_word(answer.error_code)})")
    if answer.error_code != _NONE:
        raise _refused(part, answer.error_code)
    if answer.last_stable_offset < next_offset:
        raise NotStableError(
            f"{part}: the stable offset is {answer.last_stable_offset} (high watermark {answer.high_watermark}), "
            f"below the range's end {next_offset}"
        )
    return Fetched(
        blob=answer.records,
        headers=_headers(answer.records, part, position),
        aborted=answer.aborted,
        high_watermark=answer.high_watermark,
        last_stable_offset=answer.last_stable_offset,
        log_start_offset=answer.log_start_offset,
        observed_at_ms=time.time_ns() // 1_000_000,
    )


def _refused(part: Part, code: int) -> RequestRefusedError:
    """A missing right is called so, as everywhere."""
    return RequestRefusedError(f"{part}: Fetch{f': {NOT_PERMITTED}' if is_refusal(code) else ''}", error_word(code))


def _headers(blob: memoryview, part: Part, position: int) -> list[BatchHeader]:
    """They lead beyond the position. An answer without a whole batch would never end the range: brokers send one."""
    try:
        headers = batch_headers(blob)
    except CorruptBatchError as exc:
        raise CollectionError(f"{part}: {exc}") from exc
    if not headers or headers[-1].next_offset <= position:
        raise CollectionError(f"{part}: no whole batch in the answer for offset {position}, below the stable offset")
    return headers


def _fetch_from_leader(
    connections: Connections, leader: int, part: Part, position: int, max_bytes: int
) -> tuple[PartitionAnswer, int]:
    """The leader's answer, and who the leader is by now. One that does not answer may have been replaced long ago."""
    request = fetch_request(part, position, max_bytes)
    why = ""
    for _ in range(_ATTEMPTS):
        try:
            response = _response(connections, leader, request)
        except BrokerUnavailableError as exc:
            why, silent, leader = str(exc), leader, _leader_now(connections, part)
            if leader == silent:
                raise
            continue
        answer = _partition_answer(response, part)
        if answer.error_code not in _ANOTHER_LEADER:
            return answer, leader
        why = error_word(answer.error_code)
        time.sleep(_PAUSE_S)
        leader = _leader_now(connections, part)
    raise BrokerUnavailableError(f"{part}: the leader keeps moving ({why})")


def _response(connections: Connections, leader: int, request: Prepared) -> Uncopied:
    """Who is slow is asked again and waited for. Who hangs is not back by then: others' ranges need not wait longer."""
    asked_at_s = time.monotonic()
    try:
        response: Uncopied = connections.send(leader, request.again(), timeout_s=_SOON_S)
    except BrokerUnavailableError:
        if time.monotonic() - asked_at_s < 0.9 * _SOON_S:  # it was known to be silent; timers may be early
            raise
        time.sleep(_BACK_WITHIN_S)
        response = connections.send(leader, request.again(), timeout_s=_TIMEOUT_S)
    return response


def _partition_answer(response: Uncopied, part: Part) -> PartitionAnswer:
    answer = parse_fetch_answer(response)
    if answer.error_code != _NONE:
        raise _refused(part, answer.error_code)
    for each in answer.partitions:
        if each.partition == part.partition:
            return each
    raise CollectionError(f"{part}: the broker's answer does not name the partition")


def _leader_now(connections: Connections, part: Part) -> int:
    leader = fetch_topology(connections).leader(TopicPartition(part.topic, part.partition))
    if isinstance(leader, Unknown):
        raise BrokerUnavailableError(f"{part}: {leader.reason}")
    return leader
