"""Hanging transactions by the decisions of Kafka's own find-hanging tool, and the broker's late flag (KIP-664).

Two terms differ. The tool's candidate age is the producer's own clock alone; ours also needs a minute of our own
samples without a coordinator that lists the partition, so an oracle's "hanging" is fed as seen for that long. The
broker's late flag is of a partition; ours is of the transaction that holds its stable offset, the oldest.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from guarantees.observations import OpenProducer, Transaction
from guarantees.places import TopicPartition
from guarantees.rules.transactions import (
    LATE_BUFFER_MS,
    MAX_TIMEOUT_MS,
    UNLISTED_AFTER_MS,
    Holder,
    TransactionClass,
    classify,
)
from tests.guarantees.builders import T0

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "hanging_transactions.json").read_text())
FOUND = [case for case in ORACLE["cases"] if case["kind"] == "find_hanging"]
LATE = [case for case in ORACLE["cases"] if case["kind"] == "late_flag"]
NOW = T0 + 10 * MAX_TIMEOUT_MS


def holder(case):
    """The oracle's producer and its coordinators' answers in our terms."""
    given = case["producer"]
    partition = TopicPartition(given["topic"], given["partition"])
    producer = OpenProducer(
        producer_id=given["producer_id"],
        producer_epoch=given["producer_epoch"],
        last_sequence=0,
        last_timestamp_ms=NOW - given["last_timestamp_age_ms"],
        coordinator_epoch=given["coordinator_epoch"],
        current_transaction_start_offset=given["current_transaction_start_offset"],
        observed_at_ms=NOW,
    )
    if case["list_transactions"] is None:
        return Holder(producer, None, is_listed=None, is_denied_by_description=False)
    described = case["describe_transactions"]
    if described is None or described["error"] is not None:
        return Holder(producer, None, is_listed=False, is_denied_by_description=False)
    transaction = Transaction(
        transactional_id=described["transactional_id"],
        producer_id=described["producer_id"],
        producer_epoch=described["producer_epoch"],
        state=described["state"],
        timeout_ms=described["transaction_timeout_ms"],
        started_at_ms=producer.last_timestamp_ms,
        partitions=frozenset(TopicPartition(one["topic"], one["partition"]) for one in described["partitions"]),
        coordinator=1,
        observed_at_ms=NOW,
    )
    is_listed = partition in transaction.partitions
    return Holder(producer, transaction, is_listed, is_denied_by_description=not is_listed)


@pytest.mark.parametrize("case", FOUND, ids=lambda case: case["id"])
def test_a_transaction_hangs_exactly_where_kafka_says_so(case):
    assert case["max_transaction_timeout_ms"] == MAX_TIMEOUT_MS
    found = classify(holder(case), NOW - UNLISTED_AFTER_MS, 0.8, NOW)

    assert (found is TransactionClass.HANGING) == case["expect"]["hanging"]


@pytest.mark.parametrize("case", [c for c in FOUND if c["expect"]["hanging"]], ids=lambda case: case["id"])
def test_a_transaction_does_not_hang_before_we_saw_it_unlisted_for_a_minute(case):
    found = classify(holder(case), NOW - UNLISTED_AFTER_MS + 1, 0.8, NOW)

    assert found is not TransactionClass.HANGING


def test_hanging_is_a_matter_of_the_coordinators_and_never_of_the_producers_clock_alone():
    (case,) = [one for one in FOUND if one["id"] == "HT5"]
    listed = holder(case)
    ancient = replace(listed, producer=replace(listed.producer, last_timestamp_ms=0))

    assert classify(ancient, NOW - UNLISTED_AFTER_MS, 0.8, NOW) is TransactionClass.OVERDUE


def is_late(open_since, now_ms, timeout_ms):
    """The flag of a partition: the oldest transaction of it is the one that holds the stable offset."""
    if not open_since:
        return False
    first_ms = min(open_since.values())
    held = Transaction("tx", 1, 0, "Ongoing", timeout_ms, first_ms, frozenset(), 1, now_ms)
    found = classify(Holder(None, held, is_listed=True, is_denied_by_description=False), first_ms, 0.8, now_ms)
    return found is TransactionClass.OVERDUE


@pytest.mark.parametrize("case", LATE, ids=lambda case: case["id"])
def test_a_transaction_is_overdue_exactly_while_the_broker_calls_it_late(case):
    assert case["late_buffer_ms"] == LATE_BUFFER_MS
    open_since, checked = {}, 0
    for event in case["events"]:
        producer, at_ms = event.get("producer_id"), T0 + event["at_ms"]
        match event["event"]:
            case "open":
                open_since[producer] = at_ms
            case "marker":
                del open_since[producer]
            case "truncate":
                open_since.clear()
            case "check":
                assert is_late(open_since, at_ms, case["max_transaction_timeout_ms"]) == event["expect_late"]
                checked += 1

    assert checked
