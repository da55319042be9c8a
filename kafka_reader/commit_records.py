"""Commits in `__consumer_offsets`: keys 0 and 1 (OffsetCommitKey, OffsetCommitValue of Apache Kafka 4.2)."""

import struct
import sys
from functools import lru_cache

from guarantees.internal_records import Committed, OffsetCommit
from guarantees.places import GroupPartition
from kafka_reader.coordinator_fields import Fields, of_value

KEY_TYPES = (0, 1)
_VERSIONS, _FLEXIBLE_FROM = range(5), 4
_TOPIC_ID_TAG = 0
_PARTITION = struct.Struct(">i")
# A value of version 4 without metadata and tags: what most clients of most groups write.
_PLAIN = struct.Struct(">hqibqb")
_PLAIN_VERSION, _NO_METADATA, _NO_TAGS = 4, 1, 0


def offset_commit(key: bytes, value: bytes | None) -> OffsetCommit:
    """Raises MalformedError."""
    return OffsetCommit(_place(key), None if value is None else _committed(value))


def _place(key: bytes) -> GroupPartition:
    group, topic = _group_and_topic(key[: -_PARTITION.size])
    return GroupPartition(group, topic, _PARTITION.unpack_from(key, len(key) - _PARTITION.size)[0])


@lru_cache(maxsize=50_000)
def _group_and_topic(key: bytes) -> tuple[str, str]:
    """All of the key but the partition behind them: the same few come again and again."""
    fields = Fields(key, at=2)
    group, topic = sys.intern(fields.text()), sys.intern(fields.text())
    fields.end()
    return group, topic


def _committed(value: bytes) -> Committed:
    if len(value) == _PLAIN.size:
        version, offset, epoch, metadata, at_ms, tags = _PLAIN.unpack(value)
        if (version, metadata, tags) == (_PLAIN_VERSION, _NO_METADATA, _NO_TAGS):
            return Committed(offset, _known(epoch), "", at_ms)
    version, fields = of_value(value, _VERSIONS, _FLEXIBLE_FROM)
    offset = fields.int64()
    epoch = fields.int32() if version >= 3 else -1
    metadata, at_ms = fields.text(), fields.int64()
    if version == 1:
        fields.int64()  # when the commit was to expire
    topic_id = fields.tags().get(_TOPIC_ID_TAG)
    fields.end()
    return Committed(offset, _known(epoch), metadata, at_ms, None if topic_id is None else Fields(topic_id).uuid())


def _known(epoch: int) -> int | None:
    return None if epoch < 0 else epoch
