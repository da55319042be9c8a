"""Ids by a decoder that a package offers: it is found, its faults are the payload's, and without it nothing is read."""

import sys

import pytest

from kafka_reader.batches import decode
from kafka_reader.decoders import NoDecoderError, decoder
from kafka_reader.errors import CollectionError
from settings import MessageId
from tests.kafka_reader.built_batches import COMMIT_KEY, Sent, batch, marker

PACKAGE = """
def second_half(key, value):
    if value == b"broken":
        raise KeyError("no such schema")
    if value == b"number":
        return 17
    if value == b"text":
        return "\u00fc"
    return value and value[len(value) // 2:] or key
"""
ENTRIES = """[tidemark.decoders]
halves = our_ids:second_half
gone = our_ids:nothing
"""


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """A package with decoders, found as any installed one."""
    (tmp_path / "our_ids.py").write_text(PACKAGE)
    about = tmp_path / "our_ids-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: our-ids\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    decoder.cache_clear()
    yield
    decoder.cache_clear()
    sys.modules.pop("our_ids", None)


def read(*sent):
    blob = batch(sent) + marker(COMMIT_KEY, base_offset=len(sent), producer_id=1)
    return decode(blob, (), MessageId(decoder="halves"))


def test_an_id_is_what_the_decoder_returns():
    sent = [Sent(value=b"ab17"), Sent(value=b"text"), Sent(key=b"k", value=None), Sent(key=None, value=None)]
    found = read(*sent)

    assert found.message_ids([0, 1, 2, 3]) == [b"17", "\u00fc".encode(), b"k", None]
    assert found.has_id.tolist() == [True, True, True, False, False]
    assert not found.is_not_json.any()


def test_an_id_hashes_as_the_same_bytes_elsewhere():
    assert read(Sent(value=b"ab17")).id_hash[0] == decode(batch([Sent(key=b"17")]), (), MessageId(key=True)).id_hash[0]


@pytest.mark.parametrize("value", [b"broken", b"number"])
def test_what_the_decoder_refuses_or_returns_that_is_no_id_is_counted_and_stops_no_other(value):
    found = read(Sent(value=b"ab17"), Sent(value=value), Sent(value=b"cd18"))

    assert found.has_id.tolist() == [True, False, True, False]
    assert found.is_not_json.tolist() == [False, True, False, False]


def test_a_decoder_that_is_not_there_is_said_with_those_that_are():
    with pytest.raises(NoDecoderError, match=r"no decoder 'thirds' .*gone, halves") as raised:
        decode(batch([Sent()]), (), MessageId(decoder="thirds"))
    assert isinstance(raised.value, CollectionError), "a range that needs it waits and says why"


def test_a_decoder_that_cannot_be_loaded_is_said():
    with pytest.raises(NoDecoderError, match="'gone' cannot be loaded"):
        decoder("gone")
