"""Open transactions as their coordinators describe them, kept as intervals."""

from collections.abc import Mapping

from collectors.intervals import Interval, Key, Seen
from collectors.rows import partitions_json
from guarantees.observations import Transaction
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.metadata import Topology
from kafka_reader.transactions import fetch_transactions

TABLE = "open_transactions"
DETAILS = ("partitions",)

Answers = Mapping[int, tuple[Transaction | Unknown, ...] | Unknown]


def collect(connections: Connections, topology: Topology) -> Answers:
    """Ask every broker for the transactions it coordinates."""
    return fetch_transactions(connections, topology.brokers)


def with_hidden(answers: Answers, hidden: tuple[Unknown, ...]) -> Answers:
    """`hidden`: why a coordinator's list may not be whole; without that reason beside it, it would count as whole."""
    return {broker: answer if isinstance(answer, Unknown) else (*answer, *hidden) for broker, answer in answers.items()}


def observations(answers: Answers) -> tuple[Transaction, ...]:
    return tuple(
        transaction
        for answer in answers.values()
        if not isinstance(answer, Unknown)
        for transaction in answer
        if not isinstance(transaction, Unknown)
    )


def values(answers: Answers) -> list[object]:
    """Everything asked for: brokers, and the transactions they listed."""
    listed = [part for answer in answers.values() if not isinstance(answer, Unknown) for part in answer]
    return [*answers.values(), *listed]


def seen(transactions: tuple[Transaction, ...]) -> dict[Key, Seen]:
    return {
        (
            transaction.transactional_id,
            transaction.producer_id,
            transaction.producer_epoch,
            transaction.started_at_ms,
        ): Seen(
            value={
                "state": transaction.state,
                "timeout_ms": transaction.timeout_ms,
                "coordinator": transaction.coordinator,
            },
            at_ms=transaction.observed_at_ms,
            detail={"partitions": partitions_json(transaction.partitions)},
        )
        for transaction in transactions
    }


def gone(answers: Answers, interval: Interval) -> str | None:
    """A transaction ended where its coordinator and all others answered without it."""
    if interval.value["coordinator"] not in answers or any(isinstance(value, Unknown) for value in values(answers)):
        return None
    return "no longer open"
