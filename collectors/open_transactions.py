"""Open transactions as their coordinators describe them, kept as intervals."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from collectors.coordinators import Coordinators, asked_by_name, why_silent
from collectors.intervals import Interval, Key, Running, Seen
from collectors.rows import partitions_json
from guarantees.observations import Transaction
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.transactions import fetch_looked_up, fetch_transactions

TABLE = "open_transactions"
DETAILS = ("partitions",)


@dataclass(frozen=True, slots=True)
class Answers:
    """What each broker lists, and what was said of those that no list holds any more: None where it has ended."""

    by_broker: Mapping[int, tuple[Transaction | Unknown, ...] | Unknown]
    looked_up: Mapping[str, Transaction | Unknown | None] = field(default_factory=dict)

    @property
    def values(self) -> list[Transaction | tuple[Transaction | Unknown, ...] | Unknown | None]:
        """Everything asked for: brokers, the transactions they listed, and those looked up."""
        listed = [part for answer in self.by_broker.values() if not isinstance(answer, Unknown) for part in answer]
        return [*self.by_broker.values(), *listed, *self.looked_up.values()]

    @property
    def transactions(self) -> tuple[Transaction, ...]:
        """The open ones that are known."""
        return tuple(value for value in self.values if isinstance(value, Transaction))

    def with_hidden(self, hidden: tuple[Unknown, ...]) -> "Answers":
        """`hidden`: why a coordinator's list may not be whole; without that reason beside it, it would count so."""
        return replace(
            self,
            by_broker={
                broker: answer if isinstance(answer, Unknown) else (*answer, *hidden)
                for broker, answer in self.by_broker.items()
            },
        )


def unasked(running: Running, coordinators: Coordinators) -> Answers:
    """Where asking itself failed."""
    reason = Unknown("the transactions could not be listed")
    return Answers(dict.fromkeys(coordinators.brokers, reason), {str(key[0]): reason for key in running})


def collect(connections: Connections, running: Running, coordinators: Coordinators) -> Answers:
    """Ask every broker for the transactions it coordinates; those that `running` and nobody lists are looked up.

    After a fail-over no list holds a transaction until its new coordinator has loaded it (seen live).
    """
    answers = fetch_transactions(connections, coordinators.brokers)
    listed = {each.transactional_id for each in Answers(answers).transactions}
    last = {str(key[0]): int(str(interval.value["coordinator"])) for key, interval in running.items()}
    missing = {name: broker for name, broker in last.items() if name not in listed}
    silent = {name: why for name in missing if (why := why_silent(name, answers, coordinators)) is not None}
    spoken_for = {name: broker for name, broker in missing.items() if name not in silent}
    looked_up = asked_by_name(spoken_for, answers, coordinators, partial(fetch_looked_up, connections))
    return Answers(answers, {**silent, **looked_up})


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
    """A transaction has ended where its coordinator spoke, and not of it."""
    return None if isinstance(answers.looked_up.get(str(interval.key[0])), Unknown) else "no longer open"
