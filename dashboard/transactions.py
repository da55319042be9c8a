"""Open transactions, judged by the rule that writes findings of them (guarantees.rules.transactions), worst first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dashboard import transaction_words, wording
from dashboard.names import cut
from dashboard.view import View
from guarantees.observations import OpenProducer, Signal, Transaction
from guarantees.rules.transactions import Holder, TransactionClass, classify
from guarantees.unknown import Unknown
from store.coverage import coverage

Row = Mapping[str, Any]
WORST_FIRST = tuple(reversed(TransactionClass))
NOT_NAMED = Unknown("no answer names who holds the stable offset")
NAMED = 3
INCOMPLETE = "not known: the coordinators did not all answer"
COMMITS_INCOMPLETE = Unknown("not all commits were answered")


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A row of `transaction_questions.OPEN` and what it is.

    `is_denied`: every coordinator was asked, and on `unlisted` partitions the transaction belongs to none; None where
    they did not all answer. Times are ms since 1970, UTC.
    """

    row: Row
    state: TransactionClass
    is_denied: bool | None

    @property
    def id(self) -> str:
        return f"{self.row['producer_id']}-{self.row['producer_epoch']}"

    @property
    def key(self) -> Mapping[str, int]:
        return {"producer_id": self.row["producer_id"], "producer_epoch": self.row["producer_epoch"]}

    @property
    def names(self) -> tuple[str | None, ...]:
        """What a search looks in."""
        return self.row["transactional_id"], str(self.row["producer_id"]), *(self.row["topics"] or ())

    @property
    def is_described(self) -> bool:
        """A coordinator describes it."""
        return self.row["transactional_id"] is not None

    @property
    def is_late(self) -> bool:
        """Past its share of the timeout, by whichever clock applies."""
        return self.state not in (TransactionClass.OPEN, TransactionClass.UNLISTED, TransactionClass.HANGING)

    @property
    def seen_ms(self) -> int:
        """When it was last seen open."""
        return max(self.row["last_seen_at_ms"] or 0, self.row["unlisted_last_seen_at_ms"] or 0)

    @property
    def began(self) -> tuple[int, bool]:
        """Since when it is open, and whether that is its begin: otherwise it was first seen then, and may be older."""
        started: int | None = self.row["transaction_started_at_ms"]
        if started is not None and not self.row["unlisted"]:
            return started, True
        seen = [self.row[name] for name in ("transaction_started_at_ms", "seen_from_ms", "unlisted_from_ms")]
        return min(time_ms for time_ms in seen if time_ms is not None), False

    @property
    def held_back(self) -> int | Unknown:
        """Offsets up to the high watermark that read_committed readers do not see because of it."""
        if self.row["held_back_unknown"]:
            reason = self.row["offsets_unknown"]
            return Unknown(reason) if reason else NOT_NAMED
        held: int | None = self.row["held_back"]
        return 0 if held is None else held


@dataclass(frozen=True, slots=True)
class Waiting:
    """Groups whose commit stands at the stable offset of a partition the transaction holds; `names` are the first.

    `unknown`: groups whose commit on such a partition is not known.
    """

    groups: int
    names: tuple[str, ...]
    unknown: int = 0


NOBODY = Waiting(0, ())


def waiting(rows: Iterable[Row]) -> dict[str, Waiting]:
    """By the transaction's id."""
    return {
        f"{row['producer_id']}-{row['producer_epoch']}": Waiting(row["groups"], tuple(row["names"]), row["unknown"])
        for row in rows
    }


@dataclass(frozen=True, slots=True)
class Asked:
    """Whether all told of the newest round: coordinators, so that whoever is not listed is listed nowhere; and leaders,
    so that none holds a transaction that no coordinator lists.
    """

    coordinators: bool
    leaders: bool

    @property
    def missing(self) -> str | None:
        """Who did not tell; None where all did."""
        silent = (("the coordinators", self.coordinators), ("the partitions' leaders", self.leaders))
        return " and ".join(who for who, told in silent if not told) or None


def asked(rounds: Iterable[Row]) -> Asked:
    """A leader tells by its end offsets whether a transaction is open, and when asked who holds it."""
    by_signal = {row["signal"]: row for row in rounds}
    of_leaders = all(_is_told(by_signal.get(one)) for one in (Signal.END_OFFSETS, Signal.PRODUCERS))
    return Asked(coordinators=_is_told(by_signal.get(Signal.TRANSACTIONS)), leaders=of_leaders)


def has_commits(rounds: Iterable[Row]) -> bool:
    """Whether the newest round knows every group and every commit, so that whoever is not seen to wait does not."""
    by_signal = {row["signal"]: row for row in rounds}
    return all(_is_told(by_signal.get(one)) for one in (Signal.GROUPS, Signal.COMMITTED_OFFSETS))


def _is_told(row: Row | None) -> bool:
    if row is None:
        return False
    answers = coverage(row, row["observed_at_ms"], row["observed_at_ms"])
    return answers.is_complete and not answers.refused


def judged(rows: Iterable[Row], *, all_asked: bool, overdue_share: float) -> list[OpenTransaction]:
    """The transactions with their states, the worst first and among equals the longest open."""
    found = [OpenTransaction(row, _state(row, all_asked, overdue_share), _is_denied(row, all_asked)) for row in rows]
    return sorted(found, key=lambda one: (WORST_FIRST.index(one.state), one.began[0], one.id))


def _is_denied(row: Row, all_asked: bool) -> bool | None:
    if not row["unlisted"]:
        return False
    return True if all_asked or row["is_producer_described"] else None


def _state(row: Row, all_asked: bool, overdue_share: float) -> TransactionClass:
    """The worse one of what its coordinator lists and of what no coordinator lists."""
    states = []
    if row["transactional_id"] is not None:
        described = _transaction(row)
        found = Holder(None, described, is_listed=True, is_denied_by_description=False)
        states.append(classify(found, row["seen_from_ms"], overdue_share, row["last_seen_at_ms"]))
    if row["unlisted"]:
        denied = None if _is_denied(row, all_asked) is None else False
        found = Holder(_producer(row), None, denied, is_denied_by_description=row["is_producer_described"])
        states.append(classify(found, row["unlisted_from_ms"], overdue_share, row["unlisted_last_seen_at_ms"]))
    return min(states, key=WORST_FIRST.index)


def _transaction(row: Row) -> Transaction:
    return Transaction(
        transactional_id=row["transactional_id"],
        producer_id=row["producer_id"],
        producer_epoch=row["producer_epoch"],
        state=row["state"],
        timeout_ms=row["timeout_ms"],
        started_at_ms=row["transaction_started_at_ms"],
        partitions=frozenset(),
        coordinator=row["coordinator"],
        observed_at_ms=row["last_seen_at_ms"],
    )


def _producer(row: Row) -> OpenProducer:
    """The newest of what the leaders say of the producer: what the rule reads of it is its last timestamp."""
    return OpenProducer(
        producer_id=row["producer_id"],
        producer_epoch=row["producer_epoch"],
        last_sequence=-1,
        last_timestamp_ms=row["last_timestamp_ms"],
        coordinator_epoch=-1,
        current_transaction_start_offset=-1,
        observed_at_ms=row["unlisted_last_seen_at_ms"],
    )


def table_row(one: OpenTransaction, waits: str, view: View) -> dict[str, object]:
    """A transaction in the table of open ones; `waits` is who would wait for it, in words."""
    row, held = one.row, one.held_back
    began_ms, is_begin = one.began
    return {
        "State": transaction_words.STATES[one.state].text,
        "Transactional id": "–" if row["transactional_id"] is None else cut(row["transactional_id"]),
        "Producer": f"{row['producer_id']} · {row['producer_epoch']}",
        "For": ("" if is_begin else "at least ") + wording.duration(one.seen_ms - began_ms),
        "Timeout": "–" if row["timeout_ms"] is None else wording.duration(row["timeout_ms"]),
        "Held back": None if isinstance(held, Unknown) else held,
        "Would wait": waits,
        "Coordinator": coordinator(one),
        "Since": wording.since(began_ms, view.to_ms) + ("" if is_begin else " or before"),
        "Partitions": row["partitions"],
        "Topics": cut(", ".join(row["topics"] or ()), 60) or "none yet",
        "Unknown because": held.reason if isinstance(held, Unknown) else "",
    }


def coordinator(one: OpenTransaction) -> str:
    """What the coordinators say of a transaction."""
    row = one.row
    if one.is_described:
        said = f"{row['state']}, broker {row['coordinator']}"
        return f"{said}; {wording.plural(row['unlisted'], 'partition')} not listed" if row["unlisted"] else said
    return "none lists it" if one.is_denied else INCOMPLETE


def would_wait(one: OpenTransaction, groups: Waiting, *, has_commits: bool) -> str:
    """The first groups by name, the others as a number; none only where holder and commits are all known."""
    held = one.held_back
    why = held if isinstance(held, Unknown) else COMMITS_INCOMPLETE if held and not has_commits else None
    if why is None and groups.unknown:
        why = Unknown(f"commits of {wording.plural(groups.unknown, 'group')} are not known")
    if groups.groups:
        return _names(groups) + ("; others: unknown" if why else "")
    return f"unknown: {why.reason}" if why else "none"


def _names(groups: Waiting) -> str:
    named = groups.names[:NAMED]
    more = groups.groups - len(named)
    return ", ".join(cut(name, 40) for name in named) + (f" and {more:,} more" if more else "")
