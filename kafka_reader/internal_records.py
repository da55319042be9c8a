"""Records of Kafka's own topics as values: the key's type says which; what is not known is named and never misread."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from guarantees.internal_records import UNREAD_KINDS, Content, Logged, Undecoded
from kafka_reader import commit_records, group_records, transaction_records
from kafka_reader.coordinator_fields import Fields, MalformedError
from kafka_reader.keyed_records import KeyedRecord

_GROUP_RECORDS: Mapping[int, Callable[[Fields, bytes | None], Content]] = {
    2: group_records.classic_group,
    3: group_records.group_epoch,
    5: group_records.member_metadata,
    6: group_records.target_epoch,
    7: group_records.target_assignment,
    8: group_records.current_assignment,
}


def group_record(partition: int, record: KeyedRecord) -> Logged:
    """A record of `__consumer_offsets`."""
    return _logged(partition, record, _of_group)


def transaction_record(partition: int, record: KeyedRecord) -> Logged:
    """A record of `__transaction_state`."""
    return _logged(partition, record, _of_transaction)


@lru_cache(maxsize=200_000)
def partition_of(name: str, partitions: int) -> int:
    """Where a group's or a transactional id's records lie: Java's hash of the name without its sign (Utils.abs)."""
    value = 0
    units = name.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >= 1 << 31 else value
    return (0 if signed == -(1 << 31) else abs(signed)) % partitions


def _logged(partition: int, record: KeyedRecord, read: Callable[[int, bytes, bytes | None], Content]) -> Logged:
    return Logged(partition, record.offset, record.timestamp_ms, record.producer_id, _content(record, read))


def _content(record: KeyedRecord, read: Callable[[int, bytes, bytes | None], Content]) -> Content:
    if record.key is None:
        return Undecoded("a record without a key", "it has no key")
    name = "a record of an unknown kind"
    try:
        key_type = Fields(record.key).int16()
        name = f"key {key_type}"
        return read(key_type, record.key, record.value)
    except MalformedError as exc:
        return Undecoded(name, str(exc))


def _of_group(key_type: int, key: bytes, value: bytes | None) -> Content:
    if key_type in commit_records.KEY_TYPES:
        return commit_records.offset_commit(key, value)
    if key_type in _GROUP_RECORDS:
        return _GROUP_RECORDS[key_type](Fields(key, at=2), value)
    return Undecoded(f"key {key_type}", f"{UNREAD_KINDS.get(key_type, 'an unknown kind')}: not read")


def _of_transaction(key_type: int, key: bytes, value: bytes | None) -> Content:
    if key_type == transaction_records.KEY_TYPE:
        return transaction_records.transaction(Fields(key, at=2), value)
    return Undecoded(f"key {key_type}", "an unknown kind: not read")
