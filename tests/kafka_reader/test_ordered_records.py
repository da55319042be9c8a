"""What is declared to rise within a key is read as a whole number, or is said not to be there."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_reader.ordered_records import decode_ordered
from settings import RecordOrder
from tests.kafka_reader.built_batches import Sent, batch, marker

BY_HEADER, BY_JSON, BY_TIME = RecordOrder(header="n"), RecordOrder(json="order.n"), RecordOrder(timestamp=True)


def placed(order, *sent):
    found = decode_ordered(batch(sent, base_offset=10), (), order)
    return [int(place) if known else None for place, known in zip(found.place, found.has_place, strict=True)]


@pytest.mark.parametrize(("text", "place"), [
    (b"0", 0), (b"17", 17), (b"-3", -3), (b"+4", 4), (b"007", 7), (b"9" * 18, 10**18 - 1), (b"9" * 19, None),
    (b"1.0", None), (b"1e3", None), (b" 1", None), (b"1\n", None), (b"", None), (b"\x00\x00\x00\x01", None),
    ("\u0661".encode(), None), (None, None), (b"+", None), (b"-", None), (b"--1", None), (b"1-", None), (b"1/", None),
    (b"1:", None), (b"-" + b"9" * 18, 1 - 10**18), (b"+" + b"9" * 19, None), (b"x" * 300, None),
])  # fmt: skip
def test_a_place_in_a_header_is_whole_digits_and_nothing_else(text, place):
    assert placed(BY_HEADER, Sent(key=b"k", headers=(("n", text),))) == [place]


@given(st.lists(st.one_of(st.none(), st.text("+-0189x:/", max_size=21).map(str.encode)), min_size=1, max_size=30))
def test_many_texts_at_once_are_the_numbers_they_are_one_by_one(texts):
    expected = [int(text) if text is not None and re.fullmatch(rb"[+-]?[0-9]{1,18}", text) else None for text in texts]

    assert placed(BY_HEADER, *(Sent(key=b"k", headers=(("n", text),)) for text in texts)) == expected


def test_a_place_in_json_may_be_a_number_or_its_digits():
    sent = [Sent(key=b"k", value=value) for value in (
        b'{"order": {"n": 12}}', b'{"order": {"n": "13"}}', b'{"order": {"n": 1.5}}', b'{"order": 1}', b"no", None,
    )]  # fmt: skip

    assert placed(BY_JSON, *sent) == [12, 13, None, None, None, None]


def test_a_time_before_1970_is_no_place():
    assert placed(BY_TIME, Sent(key=b"k", timestamp_ms=5), Sent(key=b"k", timestamp_ms=-1)) == [5, None]


def test_the_id_of_an_ordered_record_is_its_key_and_a_marker_has_neither():
    blob = batch([Sent(key=b"k", headers=(("n", b"1"),)), Sent(key=None, headers=(("n", b"2"),))])
    found = decode_ordered(blob + marker(b"\x00\x00\x00\x01", base_offset=2, producer_id=1), (), BY_HEADER)

    assert found.has_id.tolist() == [True, False, False]
    assert found.has_place.tolist() == [True, True, False]
    assert found.is_visible.tolist() == [True, True, False]
