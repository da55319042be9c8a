"""Groups in `__consumer_offsets`: key 2 of the classic protocol, keys 3 to 8 of the consumer protocol (KIP-848).

Layouts: the schemas of kafka-group-coordinator 4.2. What members say of themselves to one another lies in the classic
group's record as bytes of the consumer's own protocol (ConsumerProtocolSubscription, ConsumerProtocolAssignment).
"""

from collections.abc import Mapping
from dataclasses import replace

from guarantees.internal_records import (
    ClassicGroup,
    ClassicGroupRecord,
    CurrentAssignment,
    GroupEpoch,
    LoggedMember,
    MemberMetadata,
    MemberState,
    Owned,
    TargetAssignment,
    TargetEpoch,
)
from guarantees.places import TopicPartition
from kafka_reader.coordinator_fields import Fields, MalformedError, of_value

_CLASSIC_VERSIONS, _CLASSIC_FLEXIBLE_FROM = range(5), 4
_CONSUMER = "consumer"
_FIRST_VERSION = range(1)  # of every record of the consumer protocol, flexible from the beginning
_MEMBER_STATES: Mapping[int, MemberState] = {
    0: MemberState.STABLE,
    1: MemberState.UNREVOKED_PARTITIONS,
    2: MemberState.UNRELEASED_PARTITIONS,
}


def classic_group(key: Fields, value: bytes | None) -> ClassicGroupRecord:
    """Key 2; raises MalformedError as all here."""
    return ClassicGroupRecord(_ended(key, key.text()), None if value is None else _classic(value))


def group_epoch(key: Fields, value: bytes | None) -> GroupEpoch:
    """Key 3; the hash of the topics' metadata beside it is not read."""
    return GroupEpoch(_ended(key, key.text()), None if value is None else _epoch(value))


def member_metadata(key: Fields, value: bytes | None) -> MemberMetadata:
    """Key 5."""
    group_id, member_id = key.text(), key.text()
    key.end()
    return MemberMetadata(group_id, member_id, None if value is None else _member(member_id, value))


def target_epoch(key: Fields, value: bytes | None) -> TargetEpoch:
    """Key 6."""
    return TargetEpoch(_ended(key, key.text()), None if value is None else _epoch(value))


def target_assignment(key: Fields, value: bytes | None) -> TargetAssignment:
    """Key 7."""
    group_id, member_id = key.text(), key.text()
    key.end()
    if value is None:
        return TargetAssignment(group_id, member_id, None)
    fields = _of_consumer_protocol(value)
    partitions = _by_topic_id(fields)
    fields.tags()
    fields.end()
    return TargetAssignment(group_id, member_id, partitions)


def current_assignment(key: Fields, value: bytes | None) -> CurrentAssignment:
    """Key 8."""
    group_id, member_id = key.text(), key.text()
    key.end()
    return CurrentAssignment(group_id, member_id, None if value is None else _owned(value))


def _ended(key: Fields, name: str) -> str:
    key.end()
    return name


def _of_consumer_protocol(value: bytes) -> Fields:
    _, fields = of_value(value, _FIRST_VERSION, 0)
    return fields


def _epoch(value: bytes) -> int:
    fields = _of_consumer_protocol(value)
    epoch = fields.int32()
    fields.tags()
    fields.end()
    return epoch


def _member(member_id: str, value: bytes) -> LoggedMember:
    fields = _of_consumer_protocol(value)
    instance_id, _rack, client_id, host = fields.nullable_text(), fields.nullable_text(), fields.text(), fields.text()
    topics = fields.array(Fields.text)
    expression = fields.nullable_text()
    fields.int32()  # rebalance timeout
    fields.nullable_text()  # assignor
    fields.tags()
    fields.end()
    subscription = {*topics, *([f"/{expression}/"] if expression else [])}
    return LoggedMember(member_id, instance_id, client_id, host, frozenset(subscription))


def _owned(value: bytes) -> Owned:
    fields = _of_consumer_protocol(value)
    member_epoch, previous, number = fields.int32(), fields.int32(), fields.int8()
    assigned, pending = _by_topic_id(fields), _by_topic_id(fields)
    fields.tags()
    fields.end()
    if number not in _MEMBER_STATES:
        raise MalformedError(f"state {number} of a member is not known")
    return Owned(member_epoch, previous, _MEMBER_STATES[number], assigned, pending)


def _by_topic_id(fields: Fields) -> frozenset[TopicPartition]:
    """Named by topic id: the log knows no names."""

    def entry(each: Fields) -> list[TopicPartition]:
        topic_id, partitions = each.uuid(), each.array(Fields.int32)
        each.tags()
        return [TopicPartition(topic_id, partition) for partition in partitions]

    return frozenset(partition for topic in fields.array(entry) for partition in topic)


def _classic(value: bytes) -> ClassicGroup:
    version, fields = of_value(value, _CLASSIC_VERSIONS, _CLASSIC_FLEXIBLE_FROM)
    protocol_type, generation = fields.text(), fields.int32()
    protocol, leader = fields.nullable_text(), fields.nullable_text()
    state_at_ms = fields.int64() if version >= 2 else -1
    consumes = protocol_type == _CONSUMER
    members = fields.array(lambda each: _classic_member(each, version, consumes=consumes))
    fields.tags()
    fields.end()
    return ClassicGroup(
        generation, protocol_type, protocol, leader, None if state_at_ms < 0 else state_at_ms, tuple(members)
    )


def _classic_member(fields: Fields, version: int, *, consumes: bool) -> LoggedMember:
    member_id = fields.text()
    instance_id = fields.nullable_text() if version >= 3 else None
    client_id, host = fields.text(), fields.text()
    if version >= 1:
        fields.int32()  # rebalance timeout
    fields.int32()  # session timeout
    subscription, assignment = fields.binary(), fields.binary()
    fields.tags()
    member = LoggedMember(member_id, instance_id, client_id, host, None)
    if not consumes:
        return member
    return replace(member, subscription=_topics(subscription), assignment=_by_name(assignment))


def _topics(subscription: bytes) -> frozenset[str]:
    """The beginning of the subscription, which all its versions have in common."""
    return frozenset(Fields(subscription, at=2).array(Fields.text)) if subscription else frozenset()


def _by_name(assignment: bytes) -> frozenset[TopicPartition]:
    """The beginning of the assignment, which all its versions have in common."""

    def entry(each: Fields) -> list[TopicPartition]:
        topic, partitions = each.text(), each.array(Fields.int32)
        return [TopicPartition(topic, partition) for partition in partitions]

    if not assignment:
        return frozenset()
    return frozenset(partition for topic in Fields(assignment, at=2).array(entry) for partition in topic)
