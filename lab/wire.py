"""Two requests no client sends of its own accord, put on the wire by hand: how a hanging transaction comes and goes.

Layouts: ProduceRequest.json and WriteTxnMarkersRequest.json of Apache Kafka.
"""

import socket
import struct

from kafka.record.default_records import DefaultRecordBatchBuilder

from lab.errors import LabError

_PRODUCE, _PRODUCE_VERSION = 0, 8
_WRITE_TXN_MARKERS, _MARKERS_VERSION = 27, 1
_ANSWERS_WITHIN_S = 15.0
_CLIENT = "tidemark-lab"


def write_transactional_batch(address: str, transactional_id: str, producer_id: int, topic: str, count: int) -> None:
    """Append a transactional batch to partition 0 without having added it to a transaction. `address` leads it."""
    batch = DefaultRecordBatchBuilder(2, 0, True, producer_id, 0, 0, 1_000_000)
    for number in range(count):
        batch.append(number, None, None, f"record {number}".encode(), [])
    records = bytes(batch.build())
    body = _text(transactional_id) + struct.pack(">hi", -1, 10_000)
    body += struct.pack(">i", 1) + _text(topic) + struct.pack(">iii", 1, 0, len(records)) + records
    answer = _ask(address, struct.pack(">hhi", _PRODUCE, _PRODUCE_VERSION, 1) + _text(_CLIENT) + body)
    # Correlation id, number of topics, name, number of partitions, index, error.
    (error,) = struct.unpack_from(">h", answer, 4 + 4 + 2 + len(topic) + 4 + 4)
    if error:
        raise LabError(f"the broker refused a transactional batch for {topic}: error {error}")


def end_transaction(address: str, producer_id: int, topic: str) -> None:
    """Write an ABORT marker of the producer's first epoch to partition 0."""
    marker = struct.pack(">qh?", producer_id, 0, False)
    marker += (
        _count(1) + _compact(topic) + _count(1) + struct.pack(">i", 0) + _NO_TAGS + struct.pack(">i", 0) + _NO_TAGS
    )
    head = struct.pack(">hhi", _WRITE_TXN_MARKERS, _MARKERS_VERSION, 1) + _text(_CLIENT) + _NO_TAGS
    _ask(address, head + _count(1) + marker + _NO_TAGS)


_NO_TAGS = b"\x00"


def _ask(address: str, request: bytes) -> bytes:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), _ANSWERS_WITHIN_S) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        (size,) = struct.unpack(">i", _read(connection, 4))
        return _read(connection, size)


def _read(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise LabError("the broker closed the connection instead of answering")
        found += part
    return found


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def _compact(value: str) -> bytes:
    """For names shorter than 127 bytes: their length plus one fits into one byte."""
    return bytes([len(value) + 1]) + value.encode()


def _count(number: int) -> bytes:
    """Of a compact array with less than 127 entries."""
    return bytes([number + 1])
