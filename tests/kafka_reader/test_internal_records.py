"""Records of Kafka's own topics: bytes that a broker of version 4.2 wrote, older versions, and hostile ones."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guarantees.internal_records import (
    ClassicGroup,
    ClassicGroupRecord,
    Committed,
    CurrentAssignment,
    GroupEpoch,
    LoggedMember,
    LoggedTransaction,
    MemberMetadata,
    MemberState,
    OffsetCommit,
    Owned,
    TargetAssignment,
    TargetEpoch,
    TransactionRecord,
    TransactionState,
    Undecoded,
)
from guarantees.places import GroupPartition, TopicPartition
from kafka_reader.internal_records import group_record, partition_of, transaction_record
from kafka_reader.keyed_records import KeyedRecord

COMMIT_KEY = "0001 000e 672d747831373935383234303035 0003 74696e 00000000"
COMMIT_VALUE = "0004 0000000000000005 ffffffff 01 000001a21f73b54b 00"
NEW_GROUP_VALUE = "0003 0000 00000000 ffff ffff 000001a21f74e0c4 00000000"
EPOCH_VALUE = "0000 00000001 01 00 08 11b3faa68d225903"
MEMBER_VALUE = "0000 00 00 0241 0b2f3132372e302e302e31 02 04726562 01 000493e0 00 01000100"
TARGET_EPOCH_VALUE = "0000 00000001 00"
TOPIC_ID = "058e0e5c-5297-4e4f-8ed8-01bf5cf3d0c9"
OWNED = f"02 {TOPIC_ID.replace('-', '')} 05 00000000 00000001 00000002 00000003 00"
TARGET_VALUE = f"0000 {OWNED} 00"
CURRENT_VALUE = f"0000 00000001 00000000 00 {OWNED} 01 00"
ABORT_VALUE = (
    "0001 0000000000000005 0001 0000ea60 03 02 03 7a74 02 00000000 00 000001a21f7653db 000001a21f76519a 01 02 02 0002"
)
MEMBER = LoggedMember("m", None, "A", "/127.0.0.1", frozenset({"reb"}))
ALL_FOUR = frozenset(TopicPartition(TOPIC_ID, number) for number in range(4))


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def key(kind, *names):
    return struct.pack(">h", kind) + b"".join(text(name) for name in names)


def binary(value):
    return struct.pack(">i", len(value)) + value


def record(key, value, offset=7):
    return KeyedRecord(offset, 1_700, None, key, None if value is None else value)


def of_group(key, value):
    given = value if value is None or isinstance(value, bytes) else bytes.fromhex(value)
    return group_record(3, record(key, given)).content


def of_transaction(key, value):
    given = value if value is None or isinstance(value, bytes) else bytes.fromhex(value)
    return transaction_record(3, record(key, given)).content


def test_a_record_keeps_its_place_its_time_and_its_transaction():
    logged = group_record(3, KeyedRecord(7, 1_700, 41, bytes.fromhex(COMMIT_KEY), bytes.fromhex(COMMIT_VALUE)))

    assert (logged.partition, logged.offset, logged.at_ms, logged.producer_id) == (3, 7, 1_700, 41)


def test_a_commit_of_a_broker_is_read():
    commit = of_group(bytes.fromhex(COMMIT_KEY), COMMIT_VALUE)

    place = GroupPartition("g-tx1795824005", "tin", 0)
    assert commit == OffsetCommit(place, Committed(5, None, "", 1_795_824_006_475))


def test_commits_of_one_group_name_it_by_the_same_text_on_every_topic_and_partition():
    key = bytes.fromhex(COMMIT_KEY)
    keys = (key[:-4] + struct.pack(">i", 3), key.replace(b"tin", b"ton")[:-4] + struct.pack(">i", 70_000))
    one, other = (of_group(each, COMMIT_VALUE).place for each in keys)

    assert (one[1:], other[1:]) == (("tin", 3), ("ton", 70_000))
    assert one.group_id is other.group_id


def test_a_commit_with_metadata_leader_epoch_and_topic_id_is_read():
    topic_id = bytes.fromhex(TOPIC_ID.replace("-", ""))
    value = struct.pack(">hqi", 4, 9, 2) + b"\x03ab" + struct.pack(">q", 77) + b"\x01\x00\x10" + topic_id

    assert of_group(bytes.fromhex(COMMIT_KEY), value).committed == Committed(9, 2, "ab", 77, TOPIC_ID)


@pytest.mark.parametrize(
    ("value", "leader_epoch"),
    [
        (struct.pack(">hq", 0, 9) + text("ab") + struct.pack(">q", 77), None),
        (struct.pack(">hq", 1, 9) + text("ab") + struct.pack(">qq", 77, 99), None),
        (struct.pack(">hq", 2, 9) + text("ab") + struct.pack(">q", 77), None),
        (struct.pack(">hqi", 3, 9, 2) + text("ab") + struct.pack(">q", 77), 2),
    ],
    ids=["version 0", "version 1", "version 2", "version 3"],
)
@pytest.mark.parametrize("kind", [0, 1])
def test_a_commit_of_an_older_broker_is_read(kind, value, leader_epoch):
    commit = of_group(key(kind, "g", "t") + struct.pack(">i", 5), value)

    assert commit == OffsetCommit(GroupPartition("g", "t", 5), Committed(9, leader_epoch, "ab", 77))


def test_a_commit_without_a_value_is_a_deleted_one():
    assert of_group(bytes.fromhex(COMMIT_KEY), None) == OffsetCommit(GroupPartition("g-tx1795824005", "tin", 0), None)


def test_a_new_classic_group_is_read_with_no_members():
    assert of_group(key(2, "g"), NEW_GROUP_VALUE) == ClassicGroupRecord(
        "g", ClassicGroup(0, "", None, None, 1_795_824_083_140, ())
    )


def classic_value(version, protocol_type="consumer"):
    subscription = struct.pack(">hi", 1, 2) + text("orders") + text("audit") + b"rest of a later version"
    assignment = struct.pack(">hi", 1, 1) + text("orders") + struct.pack(">iii", 2, 0, 3) + struct.pack(">i", -1)
    member = text("m-1") + (text("static") if version >= 3 else b"") + text("client") + text("/10.0.0.1")
    member += (struct.pack(">i", 300_000) if version >= 1 else b"") + struct.pack(">i", 45_000)
    member += binary(subscription) + binary(assignment)
    head = struct.pack(">h", version) + text(protocol_type) + struct.pack(">i", 4) + text("range") + text("m-1")
    return head + (struct.pack(">q", 88) if version >= 2 else b"") + struct.pack(">i", 1) + member


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_members_of_a_classic_group_are_read_with_what_they_subscribe_to_and_own(version):
    owned = frozenset({TopicPartition("orders", 0), TopicPartition("orders", 3)})
    instance_id = "static" if version >= 3 else None
    member = LoggedMember("m-1", instance_id, "client", "/10.0.0.1", frozenset({"orders", "audit"}), owned)

    found = of_group(key(2, "g"), classic_value(version))

    assert found.group == ClassicGroup(4, "consumer", "range", "m-1", 88 if version >= 2 else None, (member,))


def test_members_that_are_no_consumers_own_nothing_that_is_known():
    (member,) = of_group(key(2, "g"), classic_value(3, "connect")).group.members

    assert (member.subscription, member.assignment) == (None, frozenset())


def test_a_classic_group_in_the_flexible_version_is_read():
    member = b"\x02m" + b"\x00" + b"\x02c" + b"\x02h" + struct.pack(">ii", 1, 2) + b"\x01" + b"\x01" + b"\x00"
    value = struct.pack(">h", 4) + b"\x09consumer" + struct.pack(">i", 2) + b"\x00" + b"\x02m" + struct.pack(">q", 5)
    value += b"\x02" + member + b"\x00"

    found = of_group(key(2, "g"), value)

    assert found.group == ClassicGroup(
        2, "consumer", None, "m", 5, (LoggedMember("m", None, "c", "h", frozenset(), frozenset()),)
    )


@pytest.mark.parametrize(
    ("kind", "names", "value", "content"),
    [
        (3, "g", EPOCH_VALUE, GroupEpoch("g", 1)),
        (5, "gm", MEMBER_VALUE, MemberMetadata("g", "m", MEMBER)),
        (6, "g", TARGET_EPOCH_VALUE, TargetEpoch("g", 1)),
        (7, "gm", TARGET_VALUE, TargetAssignment("g", "m", ALL_FOUR)),
        (8, "gm", CURRENT_VALUE, CurrentAssignment("g", "m", Owned(1, 0, MemberState.STABLE, ALL_FOUR, frozenset()))),
    ],
)  # fmt: skip
def test_a_record_of_the_consumer_protocol_is_read_and_so_is_its_deletion(kind, names, value, content):
    assert of_group(key(kind, *names), value) == content

    deleted = of_group(key(kind, *names), None)
    assert type(deleted) is type(content)
    assert [getattr(deleted, name) for name in deleted.__dataclass_fields__] == [*names, None]


def test_a_prepared_abort_of_a_broker_is_read():
    assert of_transaction(key(0, "tx"), ABORT_VALUE) == TransactionRecord(
        "tx",
        LoggedTransaction(
            producer_id=5,
            producer_epoch=1,
            timeout_ms=60_000,
            state=TransactionState.PREPARE_ABORT,
            partitions=frozenset({TopicPartition("zt", 0)}),
            updated_at_ms=1_795_824_178_139,
            started_at_ms=1_795_824_177_562,
            client_version=2,
        ),
    )


def test_a_transaction_of_an_older_broker_and_an_expired_one_are_read():
    value = struct.pack(">hqhib", 0, 5, 1, 60_000, 0) + struct.pack(">iqq", -1, 10, -1)

    empty = LoggedTransaction(5, 1, 60_000, TransactionState.EMPTY, frozenset(), 10, None, 0)
    assert of_transaction(key(0, "tx"), value) == TransactionRecord("tx", empty)
    assert of_transaction(key(0, "tx"), None) == TransactionRecord("tx", None)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (of_group(key(11, "g"), b""), "share group: not read"),
        (of_group(key(17, "g"), b""), "streams group: not read"),
        (of_group(key(99, "g"), b""), "an unknown kind: not read"),
        (of_group(key(3, "g"), "0001 00000001 00"), "version 1 of its value is not known"),
        (of_group(bytes.fromhex(COMMIT_KEY), "0005" + COMMIT_VALUE[4:]), "version 5 of its value is not known"),
        (of_group(bytes.fromhex(COMMIT_KEY), COMMIT_VALUE + "00"), "1 bytes follow the last field"),
        (of_group(None, b"value"), "it has no key"),
        (of_group(b"\x00", b"value"), "a field passes the end"),
        (of_group(key(8, "g", "m"), CURRENT_VALUE.replace(" 00 02", " 07 02", 1)), "state 7 of a member is not known"),
        (of_transaction(key(1, "tx"), b""), "an unknown kind: not read"),
        (of_transaction(key(0, "tx"), ABORT_VALUE.replace("0000ea60 03", "0000ea60 09")),
         "state 9 of a transaction is not known"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_named_and_never_misread(content, says):
    assert isinstance(content, Undecoded)
    assert content.reason == says


WRITTEN = [
    (group_record, bytes.fromhex(COMMIT_KEY), bytes.fromhex(COMMIT_VALUE)),
    (group_record, key(2, "g"), classic_value(3)),
    (group_record, key(3, "g"), bytes.fromhex(EPOCH_VALUE)),
    (group_record, key(5, "g", "m"), bytes.fromhex(MEMBER_VALUE)),
    (group_record, key(6, "g"), bytes.fromhex(TARGET_EPOCH_VALUE)),
    (group_record, key(7, "g", "m"), bytes.fromhex(TARGET_VALUE)),
    (group_record, key(8, "g", "m"), bytes.fromhex(CURRENT_VALUE)),
    (transaction_record, key(0, "tx"), bytes.fromhex(ABORT_VALUE)),
]


@pytest.mark.parametrize(("read", "whole_key", "value"), WRITTEN)
def test_bytes_that_are_cut_anywhere_are_not_read(read, whole_key, value):
    for length in range(len(value)):
        assert isinstance(read(0, record(whole_key, value[:length])).content, Undecoded)
    for length in range(len(whole_key)):
        assert isinstance(read(0, record(whole_key[:length], value)).content, Undecoded)


@given(st.sampled_from(WRITTEN), st.data())
def test_bytes_that_were_changed_are_read_or_refused_and_never_break(written, data):
    read, whole_key, value = written
    changed = bytearray(value)
    for at in data.draw(st.lists(st.integers(0, len(value) - 1), min_size=1, max_size=4)):
        changed[at] = data.draw(st.integers(0, 255))

    assert read(0, record(whole_key, bytes(changed))).content is not None


@given(st.sampled_from([group_record, transaction_record]), st.binary(max_size=200), st.binary(max_size=200))
def test_no_bytes_whatever_break_the_reading(read, any_key, any_value):
    assert read(0, record(any_key, any_value)).content is not None


@pytest.mark.parametrize(
    ("name", "java_hash"),
    [("", 0), ("a", 97), ("Aa", 2_112), ("BB", 2_112), ("Hello World", -862_545_276), ("polygenelubricants", -(2**31))],
)
def test_a_name_lies_where_kafka_keeps_it(name, java_hash):
    assert partition_of(name, 50) == (0 if java_hash == -(2**31) else abs(java_hash) % 50)
