"""Transactional ids in `__transaction_state`: TransactionLogKey and TransactionLogValue of Apache Kafka 4.2."""

from collections.abc import Mapping

from guarantees.internal_records import LoggedTransaction, TransactionRecord, TransactionState
from guarantees.places import TopicPartition
from kafka_reader.coordinator_fields import Fields, MalformedError, of_value

KEY_TYPE = 0
_VERSIONS, _FLEXIBLE_FROM = range(2), 1
_CLIENT_VERSION_TAG = 2
_STATES: Mapping[int, TransactionState] = dict(enumerate(TransactionState))


def transaction(key: Fields, value: bytes | None) -> TransactionRecord:
    """Raises MalformedError."""
    transactional_id = key.text()
    key.end()
    return TransactionRecord(transactional_id, None if value is None else _transaction(value))


def _transaction(value: bytes) -> LoggedTransaction:
    _, fields = of_value(value, _VERSIONS, _FLEXIBLE_FROM)
    producer_id, epoch, timeout_ms, number = fields.int64(), fields.int16(), fields.int32(), fields.int8()
    partitions = [partition for topic in fields.nullable_array(_topic) for partition in topic]
    updated_at_ms, started_at_ms = fields.int64(), fields.int64()
    version = fields.tags().get(_CLIENT_VERSION_TAG)
    fields.end()
    if number not in _STATES:
        raise MalformedError(f"state {number} of a transaction is not known")
    return LoggedTransaction(
        producer_id=producer_id,
        producer_epoch=epoch,
        timeout_ms=timeout_ms,
        state=_STATES[number],
        partitions=frozenset(partitions),
        updated_at_ms=updated_at_ms,
        started_at_ms=None if started_at_ms < 0 else started_at_ms,
        client_version=0 if version is None else Fields(version).int16(),
    )


def _topic(fields: Fields) -> list[TopicPartition]:
    topic, partitions = fields.text(), fields.array(Fields.int32)
    fields.tags()
    return [TopicPartition(topic, partition) for partition in partitions]
