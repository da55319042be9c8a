"""Ids from a path in JSON values: what is an id, what is none, and what is not JSON, each counted as what it is."""

import json
import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_reader.batches import decode
from kafka_reader.hashes import xxhash64
from settings import MessageId, SettingsError
from tests.kafka_reader.built_batches import COMMIT_KEY, LZ4, Sent, batch, marker

BY_JSON = MessageId(json="payment.id")


def read(*values, **fields):
    return decode(batch([Sent(value=value) for value in values], **fields), [], BY_JSON)


def ids_of(records):
    return records.message_ids(np.arange(len(records)))


def payment(message_id, **more):
    return json.dumps({"payment": {"id": message_id, **more}, "id": "another"}).encode()


@pytest.mark.parametrize(
    ("value", "message_id"),
    [
        (payment("a-1"), b"a-1"),
        (payment("é", note="x"), "é".encode()),
        (b'{"payment": {"id": "\\u00e9"}}', "é".encode()),
        (payment(17), b"17"),
        (payment("17"), b"17"),
        (b'{"payment": {"id": 1.50}}', b"1.50"),
        (b'{"payment": {"id": ' + b"9" * 5000 + b"}}", b"9" * 5000),
        (b'{"payment": {"id": "first", "id": "last"}}', b"last"),
        (b' {"payment":\n{"id" : "spaced"} } ', b"spaced"),
    ],
)
def test_a_string_is_the_id_and_a_number_is_its_digits(value, message_id):
    records = read(value)

    assert ids_of(records) == [message_id]
    assert records.id_hash.tolist() == [xxhash64(message_id)]
    assert not records.is_not_json.any()


@pytest.mark.parametrize(
    "value",
    [payment(None), payment(True), payment(""), payment({"id": "deeper"}), payment(["a"]), b'{"payment": "a"}', b"[1]",
     b'{"id": "another"}', b"17", b"NaN", None],
)  # fmt: skip
def test_where_the_path_leads_to_no_text_there_is_no_id_though_the_value_is_json(value):
    records = read(value, payment("a"))

    assert records.has_id.tolist() == [False, True]
    assert records.is_not_json.tolist() == [False, False]


@pytest.mark.parametrize("value", [b"", b"{", b"\xff\xfe", b"{'payment': 1}", b'{"payment": 01}', b"[" * 100_000])
def test_a_value_that_is_not_json_is_counted_apart_and_the_rest_is_read(value):
    records = read(payment("a"), value, payment("b"))

    assert ids_of(records) == [b"a", None, b"b"]
    assert records.is_not_json.tolist() == [False, True, False]


def test_a_marker_has_a_value_that_nobody_takes_for_json():
    records = decode(read_with_marker(), [], BY_JSON)

    assert records.is_control.tolist() == [False, True]
    assert not records.is_not_json.any()


def read_with_marker():
    return batch([Sent(value=payment("a"))], producer_id=1) + marker(COMMIT_KEY, base_offset=1, producer_id=1)


@given(
    st.lists(st.one_of(st.none(), st.binary(max_size=40), st.text(max_size=20).map(payment)), max_size=30),
    st.booleans(),
)
@example([b"{}", b"[]", b'"payment"'], False)
def test_every_value_is_judged_as_pythons_own_json_judges_it(values, is_packed):
    records = read(*values, **({"codec": LZ4} if is_packed else {}))

    for value, message_id, is_not_json in zip(values, ids_of(records), records.is_not_json.tolist(), strict=True):
        try:
            document = json.loads(value.decode()) if value is not None else None
        except ValueError:
            assert is_not_json
            continue
        found = document.get("payment", {}).get("id") if isinstance(document, dict) else None
        assert message_id == (None if found is None else found.encode() or None)
        assert not is_not_json


def test_many_batches_keep_every_id_at_its_record():
    chance = random.Random(5)
    texts = [str(chance.randrange(10**9)) * chance.randrange(1, 6) for _ in range(3000)]
    blob = b"".join(
        batch([Sent(value=payment(text)) for text in texts[first : first + 10]], base_offset=first, codec=LZ4)
        for first in range(0, 3000, 10)
    )

    records = decode(blob, [], BY_JSON)

    assert ids_of(records) == [text.encode() for text in texts]
    assert records.id_hash.tolist() == [xxhash64(text.encode()) for text in texts]


@pytest.mark.parametrize("path", ["", "a..b", ".a", "a."])
def test_a_path_with_an_empty_key_is_a_mistake_of_the_settings(path):
    with pytest.raises(SettingsError, match="joined by dots"):
        MessageId(json=path)


def test_an_id_in_two_places_is_a_mistake_of_the_settings():
    with pytest.raises(SettingsError, match="one of them"):
        MessageId(json="id", key=True)
