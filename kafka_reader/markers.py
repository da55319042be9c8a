"""Control records: the type in the key, and what the value of the end of a transaction says (EndTransactionMarker)."""

from dataclasses import dataclass

from kafka_reader.records import varint

ABORT, COMMIT = 0, 1

_KEY_BYTES = 4  # version and type, 16 bits each
_VALUE_BYTES = 6  # version in 16 bits, coordinator epoch in 32


class NoControlRecordError(Exception):
    """The bytes do not begin with a control record."""


@dataclass(frozen=True, slots=True)
class ControlRecord:
    """`kind` is Kafka's number, ABORT or COMMIT where a transaction ends; the epoch is None where there is none."""

    kind: int
    coordinator_epoch: int | None


def control_record(body: bytes) -> ControlRecord:
    """The one record of a control batch, given what follows the batch's header."""
    _, at = varint(body, 0)  # length
    _, at = varint(body, at + 1)  # one byte of attributes, then the timestamp's delta
    _, at = varint(body, at)  # the offset's delta
    key_bytes, at = varint(body, at)
    if key_bytes < _KEY_BYTES or at + _KEY_BYTES > len(body):
        raise NoControlRecordError("a control record without a type")
    kind = int.from_bytes(body[at + 2 : at + 4], "big")
    value_bytes, at = varint(body, at + key_bytes)
    has_epoch = value_bytes >= _VALUE_BYTES and at + _VALUE_BYTES <= len(body)
    return ControlRecord(kind, int.from_bytes(body[at + 2 : at + 6], "big", signed=True) if has_epoch else None)
