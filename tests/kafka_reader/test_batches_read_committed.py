"""What a read_committed consumer is given, by the cases of Apache Kafka's own Fetcher tests."""

import json
from pathlib import Path

import pytest

from kafka_reader.batch_headers import batch_headers
from kafka_reader.batches import AbortedTransaction, decode
from settings import MessageId
from tests.kafka_reader.built_batches import ABORT_KEY, COMMIT_KEY, TRANSACTIONAL, Sent, batch, marker

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "read_committed.json").read_text())
MARKERS = {"commit_marker": COMMIT_KEY, "abort_marker": ABORT_KEY}


def as_batch(entry):
    first, producer_id = entry["first_offset"], entry["producer_id"]
    if entry["kind"] in MARKERS:
        return marker(MARKERS[entry["kind"]], base_offset=first, producer_id=producer_id)
    return batch(
        [Sent(offset_delta=offset - first) for offset in entry["record_offsets"]],
        base_offset=first,
        producer_id=producer_id,
        attributes=0 if producer_id < 0 else TRANSACTIONAL,
        last_offset_delta=entry["last_offset"] - first,
    )


@pytest.mark.parametrize("case", ORACLE["cases"], ids=lambda case: case["id"])
def test_oracle_read_committed_consumer_is_given_what_kafka_gives(case):
    blob = b"".join(as_batch(entry) for entry in case["log"])
    aborted = [
        AbortedTransaction(entry["producer_id"], entry["first_offset"]) for entry in case["aborted_transactions"]
    ]

    records = decode(blob, aborted, MessageId(key=True))

    assert records.offset[records.is_visible].tolist() == case["expect"]["delivered_offsets"]
    if "position_after" in case["expect"]:
        assert batch_headers(blob)[-1].next_offset == case["expect"]["position_after"]


def test_aborted_records_are_kept_and_marked():
    blob = batch([Sent(), Sent()], producer_id=1, attributes=TRANSACTIONAL) + batch([Sent()], base_offset=2)

    records = decode(blob, [AbortedTransaction(1, 0)], MessageId(key=True))

    assert records.is_aborted.tolist() == [True, True, False]


def test_data_outside_transactions_is_never_aborted():
    blob = batch([Sent()], producer_id=1)

    assert not decode(blob, [AbortedTransaction(1, 0)], MessageId(key=True)).is_aborted.any()
