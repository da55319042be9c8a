"""ListTransactions and DescribeTransactions: open transactions as their coordinators see them (KIP-664)."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kafka.protocol.admin import DescribeTransactionsRequest, ListTransactionsRequest

from guarantees.observations import Transaction
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

# Kafka's names of the states in which a transaction holds back readers.
OPEN_STATES = ("Ongoing", "PrepareCommit", "PrepareAbort")

TRANSACTIONAL_ID_NOT_FOUND = 105

NOT_TOLD = Unknown("the coordinator's answer does not name the transactional id")


def list_request() -> ListTransactionsRequest:
    return ListTransactionsRequest(state_filters=list(OPEN_STATES), producer_id_filters=[], duration_filter=-1)


def describe_request(transactional_ids: Iterable[str]) -> DescribeTransactionsRequest:
    return DescribeTransactionsRequest(transactional_ids=sorted(transactional_ids))


def fetch_transactions(
    connections: Connections, brokers: Iterable[int]
) -> dict[int, tuple[Transaction | Unknown, ...] | Unknown]:
    """Open transactions of every coordinator, or why it shows none: for a broker, or for one id of it.

    Ids the principal may not describe are left out of the list without a word.
    """
    listed = {
        broker: parse_list(answer)
        for broker, answer in connections.send_all({broker: list_request() for broker in brokers}).items()
    }
    requests = {broker: describe_request(ids) for broker, ids in listed.items() if not isinstance(ids, Unknown) and ids}
    described = _fetch_descriptions(connections, requests)
    return {broker: ids if isinstance(ids, Unknown) else described.get(broker, ()) for broker, ids in listed.items()}


def fetch_looked_up(
    connections: Connections, ids_by_broker: Mapping[int, Collection[str]]
) -> dict[str, Transaction | Unknown | None]:
    """Of each id its open transaction, or None where a broker asked for it coordinates it and knows of none.

    Lists leave out the ids of a coordinator that has not begun to load, without a word; asked by id, a broker says
    NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS (TransactionCoordinator.handleDescribeTransactions).
    """
    requests = {broker: describe_request(ids) for broker, ids in ids_by_broker.items()}
    found: dict[str, Transaction | Unknown | None] = {}
    for broker, answer in connections.send_all(requests).items():
        for name, told in parse_looked_up(requests[broker], answer, broker).items():
            if isinstance(found.get(name, NOT_TOLD), Unknown):
                found[name] = told
    return found


def parse_looked_up(
    request: DescribeTransactionsRequest, answer: Answer | CollectionError, broker: int
) -> dict[str, Transaction | Unknown | None]:
    """One entry per id asked about."""
    if isinstance(answer, CollectionError):
        return dict.fromkeys(request.transactional_ids, unknown_after(answer))
    told: dict[str, Transaction | Unknown | None] = dict.fromkeys(request.transactional_ids, NOT_TOLD)
    for state in answer.response.transaction_states:
        found = _transaction(state, broker, answer.observed_at_ms)
        has_ended = state.error_code == TRANSACTIONAL_ID_NOT_FOUND or (
            isinstance(found, Transaction) and found.state not in OPEN_STATES
        )
        told[state.transactional_id] = None if has_ended else found
    return told


def _fetch_descriptions(
    connections: Connections, requests: Mapping[int, DescribeTransactionsRequest]
) -> dict[int, tuple[Transaction | Unknown, ...] | Unknown]:
    return {broker: parse_descriptions(answer, broker) for broker, answer in connections.send_all(requests).items()}


def parse_list(answer: Answer | CollectionError) -> list[str] | Unknown:
    """Transactional ids with an open transaction."""
    if isinstance(answer, CollectionError):
        return unknown_after(answer)
    if answer.response.error_code != 0:
        return unknown_because(answer.response.error_code)
    return [state.transactional_id for state in answer.response.transaction_states]


def parse_descriptions(answer: Answer | CollectionError, broker: int) -> tuple[Transaction | Unknown, ...] | Unknown:
    """Those that still exist. Topics the principal may not describe are missing from `partitions`."""
    if isinstance(answer, CollectionError):
        return unknown_after(answer)
    return tuple(
        _transaction(state, broker, answer.observed_at_ms)
        for state in answer.response.transaction_states
        if state.error_code != TRANSACTIONAL_ID_NOT_FOUND
    )


def _transaction(state: Any, broker: int, observed_at_ms: int) -> Transaction | Unknown:
    if state.error_code != 0:
        return unknown_because(state.error_code)
    return Transaction(
        transactional_id=state.transactional_id,
        producer_id=state.producer_id,
        producer_epoch=state.producer_epoch,
        state=state.transaction_state,
        timeout_ms=state.transaction_timeout_ms,
        started_at_ms=None if state.transaction_start_time_ms < 0 else state.transaction_start_time_ms,
        partitions=frozenset(
            TopicPartition(topic.topic, partition) for topic in state.topics for partition in topic.partitions
        ),
        coordinator=broker,
        observed_at_ms=observed_at_ms,
    )
