"""Damaged and hostile bytes: refused with a clear error, or ignored where a broker may cut an answer."""

import struct

import numpy as np
import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_reader.batch_headers import CorruptBatchError, batch_headers
from kafka_reader.batches import decode
from kafka_reader.codecs import Codec, CodecError, decompress
from settings import MessageId
from tests.kafka_reader.built_batches import GZIP, HEADER, LZ4, NONE, SNAPPY, XERIAL_HEADER, ZSTD, Sent, batch, seal

BY_HEADER = MessageId(header="id")
CODECS = [NONE, GZIP, SNAPPY, LZ4, ZSTD]
RECORDS = [Sent(b"key%d" % n, b"value" * 20, (("id", b"id%d" % n),)) for n in range(5)]


def with_payload(payload, records=1, codec=NONE):
    """A batch with a fitting CRC around arbitrary record bytes."""
    return seal([0, 0, 7, 2, 0, codec, max(0, records - 1), 0, 0, -1, -1, -1, records], payload)


@given(st.data())
def test_last_batch_cut_anywhere_is_ignored(data):
    whole, last = batch(RECORDS), batch(RECORDS, base_offset=5)
    cut = data.draw(st.integers(0, len(last) - 1))

    assert decode(whole + last[:cut], [], BY_HEADER).offset.tolist() == [0, 1, 2, 3, 4]


@given(st.integers(21 * 8, 8 * len(batch(RECORDS)) - 1))
def test_flipped_bit_under_the_crc_is_refused(bit):
    blob = bytearray(batch(RECORDS))
    blob[bit // 8] ^= 1 << bit % 8

    with pytest.raises(CorruptBatchError, match="CRC"):
        decode(bytes(blob), [], BY_HEADER)


@settings(max_examples=300)
@given(st.sampled_from(CODECS), st.data())
def test_damaged_records_with_a_fitting_crc_never_crash(codec, data):
    blob = bytearray(batch(RECORDS, codec=codec))
    for _ in range(data.draw(st.integers(1, 4))):
        blob[data.draw(st.integers(HEADER.size, len(blob) - 1))] = data.draw(st.integers(0, 255))
    struct.pack_into(">I", blob, 17, crc32c(bytes(blob[21:])))

    try:
        records = decode(bytes(blob), [], BY_HEADER)
    except CorruptBatchError:
        return
    assert len(records) == len(RECORDS)


@pytest.mark.parametrize("damaged", [1, 40, 150, 299])
@pytest.mark.parametrize("length", [0, 2, 5, 200])
def test_a_wrong_length_amid_records_of_one_size_is_refused(damaged, length):
    """The prefix of each record is one byte, zigzag: the others are 22 bytes long after it."""
    whole = batch([Sent(b"k", b"v" * 15, offset_delta=0) for _ in range(300)])
    payload = bytearray(whole[HEADER.size :])
    size, rest = divmod(len(payload), 300)
    assert rest == 0
    payload[damaged * size] = 2 * length if length < 64 else 0x7F

    with pytest.raises(CorruptBatchError):
        decode(with_payload(bytes(payload), records=300), [], BY_HEADER)


@settings(max_examples=300)
@given(st.binary(min_size=7, max_size=80), st.integers(1, 60), st.integers(1, 60))
def test_random_record_bytes_never_crash(payload, records, batches):
    try:
        decode(with_payload(payload, records) * batches, [], BY_HEADER)
    except CorruptBatchError:
        return


NEXT = batch(RECORDS, base_offset=300)


def outcome(blob):
    try:
        records = decode(blob, [], BY_HEADER)
    except CorruptBatchError as exc:
        return str(exc)
    return records.offset.tolist(), records.message_ids(np.arange(len(records)))


@settings(max_examples=300)
@given(st.binary(min_size=7, max_size=80), st.integers(1, 60), st.integers(1, 60), st.integers(0, len(NEXT) - 1))
def test_what_follows_the_last_batch_changes_nothing_of_what_is_refused(payload, records, batches, cut):
    """With enough behind them, batches that are not compressed are read where they lie."""
    blob = with_payload(payload, records) * batches

    assert outcome(blob + NEXT[:cut]) == outcome(blob)


@settings(max_examples=300)
@given(st.lists(st.sampled_from(CODECS), min_size=1, max_size=4), st.integers(1, 40), st.integers(0, 80))
def test_what_follows_the_last_batch_changes_nothing_of_what_is_found(codecs, id_bytes, cut):
    """An id may end where the batch does, and is hashed eight bytes at a time."""
    sent = [Sent(b"key", None, (("id", bytes([65 + n]) * id_bytes),)) for n in range(70)]
    blob = b"".join(batch(sent, base_offset=70 * n, codec=codec) for n, codec in enumerate(codecs))

    offsets, found = outcome(blob + NEXT[:cut])

    assert offsets == list(range(70 * len(codecs)))
    assert found == [value for each in sent for _, value in each.headers] * len(codecs)


@pytest.mark.parametrize("magic", [0, 1])
def test_old_formats_are_named(magic):
    blob = bytearray(batch(RECORDS))
    blob[16] = magic

    with pytest.raises(CorruptBatchError, match=f"format {magic}"):
        batch_headers(bytes(blob))


@pytest.mark.parametrize("length", [-1, 0, 48])
def test_length_shorter_than_the_header_is_refused(length):
    blob = bytearray(batch(RECORDS))
    struct.pack_into(">i", blob, 8, length)

    with pytest.raises(CorruptBatchError, match="less than its header"):
        batch_headers(bytes(blob))


def test_length_beyond_the_answer_is_a_cut_batch():
    blob = bytearray(batch(RECORDS))
    struct.pack_into(">i", blob, 8, 2**31 - 1)

    assert batch_headers(bytes(blob)) == []


@pytest.mark.parametrize("records", [2, 1000, 2**31 - 1])
def test_count_beyond_the_records_is_refused(records):
    plain = batch([Sent()])[HEADER.size :]

    with pytest.raises(CorruptBatchError):
        decode(with_payload(plain, records), [], BY_HEADER)


def test_bytes_after_the_last_record_are_refused():
    with pytest.raises(CorruptBatchError, match="do not fill"):
        decode(with_payload(batch([Sent()])[HEADER.size :] + bytes(8)), [], BY_HEADER)


def record(body):
    return bytes([2 * len(body)]) + body


HOSTILE_RECORDS = {
    "negative length": (b"\x01" + bytes(20), "ends beyond its batch"),
    "endless varint": (b"\xff" * 30, "does not end"),
    "key beyond the record": (record(b"\x00\x00\x00\x7e" + bytes(6)), "key passes"),
    "key length below null": (record(b"\x00\x00\x00\x05" + bytes(6)), "key passes"),
    "value beyond the record": (record(b"\x00\x00\x00\x01\x7e" + bytes(6)), "value passes"),
    "headers beyond the record": (record(b"\x00\x00\x00\x01\x01\x7e"), "more headers"),
    "negative headers": (record(b"\x00\x00\x00\x01\x01\x01"), "more headers"),
    "bytes after the headers": (record(b"\x00\x00\x00\x01\x01\x00\x00"), "do not fill it"),
    "offset outside the batch": (record(b"\x00\x00\x0a\x01\x01\x00"), "outside its batch"),
}


@pytest.mark.parametrize("batches", [1, 60], ids=["plain loop", "lock step"])
@pytest.mark.parametrize(("payload", "message"), HOSTILE_RECORDS.values(), ids=HOSTILE_RECORDS)
def test_hostile_record_is_refused(payload, message, batches):
    with pytest.raises(CorruptBatchError, match=message):
        decode(with_payload(payload) * batches, [], BY_HEADER)


def test_unknown_codec_is_refused():
    with pytest.raises(CorruptBatchError, match="unknown compression codec 5"):
        decode(with_payload(bytes(20), codec=5), [], BY_HEADER)


@pytest.mark.parametrize("codec", CODECS)
def test_batch_that_decompresses_to_more_than_the_cap_is_refused(codec):
    blob = batch([Sent(value=bytes(1_000_000))], codec=codec)

    with pytest.raises(CorruptBatchError, match="cap"):
        decode(blob, [], BY_HEADER, max_decompressed_bytes=500_000)


def test_cap_holds_for_all_batches_of_an_answer_together():
    blob = batch([Sent(value=bytes(300_000))], codec=ZSTD)

    assert len(decode(blob, [], BY_HEADER, max_decompressed_bytes=500_000)) == 1
    with pytest.raises(CorruptBatchError, match="cap"):
        decode(blob * 2, [], BY_HEADER, max_decompressed_bytes=500_000)


@pytest.mark.parametrize("size", [-1, 1000])
def test_xerial_block_beyond_the_batch_is_refused(size):
    with pytest.raises(CodecError, match="beyond"):
        decompress(Codec.SNAPPY, memoryview(XERIAL_HEADER + struct.pack(">i", size) + b"abc"))


def test_control_batch_without_a_type_is_refused():
    blob = batch([Sent(key=b"ab")], attributes=0x30)

    with pytest.raises(CorruptBatchError, match="no type"):
        decode(blob, [], BY_HEADER)
