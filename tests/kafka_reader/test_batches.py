import random

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_reader.batch_headers import batch_headers
from kafka_reader.batches import decode
from kafka_reader.hashes import PADDING_BYTES, xxhash64, xxhash64_slices
from settings import MessageId
from tests.kafka_reader.built_batches import (
    COMMIT_KEY,
    CONTROL,
    GZIP,
    HEADER,
    LOG_APPEND_TIME,
    LZ4,
    NONE,
    SNAPPY,
    TRANSACTIONAL,
    ZSTD,
    Sent,
    batch,
    kafka_python_records,
    marker,
    seal,
)

BY_KEY, BY_HEADER, BY_HASH = MessageId(key=True), MessageId(header="id"), MessageId(hash=True)
CODECS = [(NONE, False), (GZIP, False), (SNAPPY, False), (SNAPPY, True), (LZ4, False), (ZSTD, False)]


def random_sent(chance):
    id_bytes = chance.randbytes(chance.choice([0, 1, 3, 4, 8, 15, 16, 31, 32, 33, 63, 100, 300]))
    headers = [("trace", chance.randbytes(chance.randrange(200))), ("id", id_bytes), ("idx", b"no"), ("none", None)]
    return Sent(
        key=chance.choice([None, b"", id_bytes]),
        value=chance.choice([None, b"", chance.randbytes(chance.randrange(400))]),
        headers=tuple(chance.sample(headers, chance.randrange(5))),
        timestamp_ms=1_700_000_000_000 + chance.randrange(-(10**9), 10**9),
    )


def random_batches(chance, number, codec=NONE, xerial=False):
    """The same batches twice: plain for kafka-python's decoder, and compressed."""
    plain, packed, offset = [], [], chance.randrange(10**12)
    for _ in range(number):
        records = [random_sent(chance) for _ in range(chance.randrange(1, 30))]
        fields = {
            "base_offset": offset,
            "producer_id": chance.choice([-1, 5, 2**40]),
            "producer_epoch": chance.randrange(100),
            "base_sequence": chance.choice([-1, 0, 2**31 - 3]),
            "attributes": chance.choice([0, TRANSACTIONAL, LOG_APPEND_TIME]),
        }
        plain.append(batch(records, **fields))
        packed.append(batch(records, **fields, codec=codec, xerial=xerial))
        offset += len(records) + chance.randrange(3)
    return b"".join(plain), b"".join(packed)


def expected_id(record, message_id):
    if message_id.key:
        return record.key or None
    return dict(record.headers).get("id") or None


@pytest.mark.parametrize(("codec", "xerial"), CODECS)
@pytest.mark.parametrize("batches", [3, 200], ids=["few batches", "many batches"])
@pytest.mark.parametrize("message_id", [BY_KEY, BY_HEADER], ids=["key", "header"])
def test_every_field_is_what_kafka_python_reads(codec, xerial, batches, message_id):
    plain, packed = random_batches(random.Random(batches + codec), batches, codec, xerial)
    oracle = kafka_python_records(plain)

    records = decode(packed, [], message_id)

    assert records.offset.tolist() == [record.offset for _, record in oracle]
    assert records.timestamp_ms.tolist() == [record.timestamp for _, record in oracle]
    assert records.producer_id.tolist() == [whole.producer_id for whole, _ in oracle]
    assert records.producer_epoch.tolist() == [whole.producer_epoch for whole, _ in oracle]
    assert records.leader_epoch.tolist() == [whole.leader_epoch for whole, _ in oracle]
    assert records.is_transactional.tolist() == [whole.is_transactional for whole, _ in oracle]
    ids = [expected_id(record, message_id) for _, record in oracle]
    assert any(ids)
    assert None in ids
    assert records.message_ids(np.arange(len(records))) == ids
    assert records.has_id.tolist() == [id_bytes is not None for id_bytes in ids]
    hashes = records.id_hash.tolist()
    assert [hashes[row] for row in np.flatnonzero(records.has_id)] == [xxhash64(i) for i in ids if i is not None]


@pytest.mark.parametrize("batches", [1, 100], ids=["plain loop", "lock step"])
def test_both_ways_to_find_record_starts_agree_with_headers(batches):
    plain, _ = random_batches(random.Random(1), batches)

    headers = batch_headers(plain)

    assert len(headers) == batches
    assert sum(header.records for header in headers) == len(kafka_python_records(plain))
    assert len(decode(plain, [], BY_KEY)) == sum(header.records for header in headers)


SIZES = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 400)), min_size=1, max_size=8)


@settings(max_examples=40)
@given(SIZES, st.integers(1, 3))
def test_records_of_one_size_in_a_row_are_found_like_all_others(runs, batches):
    sent = [Sent(b"k%d" % number, b"v" * size) for size, number in runs for _ in range(number)]
    blob = b"".join(batch(sent, base_offset=n * len(sent)) for n in range(batches))

    records = decode(blob, [], BY_KEY)

    assert records.offset.tolist() == list(range(batches * len(sent)))
    assert records.message_ids(np.arange(len(records))) == [each.key for each in sent] * batches


def test_records_whose_lengths_differ_in_their_second_byte_only_are_no_run():
    sent = [Sent(None, b"v" * (100 + 64 * (number // 40 % 2))) for number in range(400)]

    assert decode(batch(sent), [], BY_HASH).offset.tolist() == list(range(400))


def test_sequence_wraps_after_the_largest_32_bit_integer():
    blob = batch([Sent(), Sent(), Sent()], producer_id=1, producer_epoch=0, base_sequence=2**31 - 2)

    assert decode(blob, [], BY_KEY).sequence.tolist() == [2**31 - 2, 2**31 - 1, 0]


def test_records_of_a_batch_without_a_sequence_have_none():
    assert decode(batch([Sent(), Sent()]), [], BY_KEY).sequence.tolist() == [-1, -1]


def test_hash_of_key_and_value_tells_them_apart():
    pairs = [(b"a", b"bc"), (b"ab", b"c"), (None, b"abc"), (b"abc", None), (b"abc", b""), (None, b"abc")]

    records = decode(batch([Sent(key, value) for key, value in pairs]), [], BY_HASH)

    assert records.has_id.all()
    assert len(set(records.id_hash.tolist())) == len(pairs) - 1
    assert records.id_hash[2] == records.id_hash[5]


def test_record_with_neither_key_nor_value_has_no_id():
    assert not decode(batch([Sent(None, None)]), [], BY_HASH).has_id.any()


def test_last_header_of_a_name_counts():
    records = decode(batch([Sent(headers=(("id", b"old"), ("id", b"new")))]), [], BY_HEADER)

    assert records.message_ids(np.array([0])) == [b"new"]


def test_marker_is_a_record_without_an_id_that_no_consumer_sees():
    records = decode(batch([Sent(b"k")]) + marker(COMMIT_KEY, base_offset=1, producer_id=4), [], BY_KEY)

    assert records.is_control.tolist() == [False, True]
    assert records.is_visible.tolist() == [True, False]
    assert records.has_id.tolist() == [True, False]


def test_emptied_batch_keeps_its_header_and_gives_no_record():
    fields = [100, 0, 7, 2, 0, TRANSACTIONAL, 9, -1, -1, 11, 3, 42, 0]
    blob = seal(fields, b"") + batch([Sent(b"k")], base_offset=110)

    empty, _ = batch_headers(blob)

    assert (empty.base_offset, empty.next_offset, empty.records, empty.base_sequence) == (100, 110, 0, 42)
    assert decode(blob, [], BY_KEY).offset.tolist() == [110]


def test_header_position_and_flags_are_read():
    blob = batch([Sent()]) + batch([Sent()], base_offset=1, attributes=CONTROL | TRANSACTIONAL)

    first, second = batch_headers(blob)

    assert (first.position, second.position) == (0, first.size_bytes)
    assert (second.is_control, second.is_transactional, second.is_log_append_time) == (True, True, False)
    assert first.crc == HEADER.unpack_from(blob)[4]


def test_blob_without_batches_gives_no_records():
    assert len(decode(b"", [], BY_HEADER)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_hash_of_slices_is_that_of_the_reference_library(seed):
    chance = random.Random(seed)
    ids = [chance.randbytes(chance.choice([*range(80), 255, 256, 257, 1000])) for _ in range(8000)]
    buffer = np.frombuffer(b"".join(ids) + bytes(PADDING_BYTES), dtype=np.uint8)
    lengths = np.array([len(id_bytes) for id_bytes in ids])

    hashes = xxhash64_slices(buffer, np.cumsum(lengths) - lengths, lengths)

    assert hashes.view(np.uint64).tolist() == [xxhash.xxh64_intdigest(id_bytes, 42) for id_bytes in ids]
