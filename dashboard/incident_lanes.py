"""What happened around an incident, in lanes: elections, ISR below min, rebalances, transactions, findings.

An event that strikes five hundred partitions is one mark with their number, and what overlaps in a lane is one bar.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from dashboard import durations, elections, wording
from dashboard.interval_ends import drawn_to_ms
from dashboard.low_isr import LowStretch, stretches
from dashboard.memberships import SETTLED
from dashboard.replication import partition_name
from dashboard.shapes import Mark, Span
from dashboard.view import View
from guarantees.promises import Verdict

Row = Mapping[str, Any]

ELECTIONS, BELOW, REBALANCES, TRANSACTIONS = "elections", "ISR below min", "rebalances", "transactions"
LANES = (ELECTIONS, BELOW, REBALANCES, TRANSACTIONS)
# Marks so much of the window apart are not told apart.
SHARE_OF_WINDOW = 150


@dataclass(frozen=True, slots=True)
class IncidentLanes:
    """`names` from the top; a lane without marks and bars saw nothing, or was not observed: the page says which.

    `at_most` and `at_least` are the time below min ISR, between the good samples around it and the low ones.
    """

    names: tuple[str, ...]
    marks: tuple[Mark, ...]
    spans: tuple[Span, ...]
    at_most: tuple[Span, ...]
    at_least: tuple[Span, ...]


def lanes(
    states: Sequence[Row],
    rebalances: Iterable[Row],
    group_states: Iterable[Row],
    transactions: Iterable[Row],
    findings: Sequence[Mark],
    unclean: Collection[tuple[str, object]],
    view: View,
    gap_ms: int,
) -> IncidentLanes:
    """`states`: of the touched partitions, each one's the oldest first; `findings`: marks of the incident's own, also
    from before the window.

    `unclean`: (partition, leader epoch) of the elections that a finding calls so.
    """
    by_partition = _by_partition(states)
    low = [one for history in by_partition.values() for one in stretches(history, view.from_ms, view.to_ms, gap_ms)]
    happened = [
        *(mark for history in by_partition.values() for mark in election_marks(history, unclean)),
        *(Mark(REBALANCES, row["observed_at_ms"], f"{row['group_id']}: {row['cause']}") for row in rebalances),
    ]
    shown = [
        *(mark for mark in happened if view.from_ms <= mark.at_ms <= view.to_ms),
        *(mark for mark in findings if mark.at_ms <= view.to_ms),
    ]
    return IncidentLanes(
        names=(*LANES, *dict.fromkeys(mark.lane for mark in findings)),
        marks=tuple(collapsed(shown, max(1, view.length_ms // SHARE_OF_WINDOW), view.from_ms)),
        spans=(
            *merged((_unsettled(row) for row in group_states if row["state"] not in SETTLED), "times of rebalancing"),
            *merged((_transaction(row) for row in transactions), "transactions"),
        ),
        at_most=tuple(merged((_low(one, one.after_ms, one.until_ms) for one in low), "partitions")),
        at_least=tuple(merged((_low(one, one.since_ms, one.last_ms) for one in low), "partitions")),
    )


def elected(history: Sequence[Row]) -> list[Row]:
    """Newer leader epochs with a leader, from one partition's states; each with the state seen before it."""
    found: list[Row] = []
    last_leader = None
    for before, row in pairwise(history):
        last_leader = last_leader if before["leader"] is None else before["leader"]
        if row["leader"] is not None and row["leader_epoch"] > before["leader_epoch"]:
            found.append({**row, "before": before, "last_leader": last_leader})
    return found


def election_marks(history: Sequence[Row], unclean: Collection[tuple[str, object]]) -> list[Mark]:
    """One partition's elections, each judged as on the page of replication."""
    return [_election(row, is_found=(partition_name(row), row["leader_epoch"]) in unclean) for row in elected(history)]


def collapsed(marks: Iterable[Mark], apart_ms: int, from_ms: int) -> list[Mark]:
    """Marks of one lane and one verdict that nobody can tell apart as one, which says how many it stands for.

    What was before the window, which begins at `from_ms`, is drawn in one place.
    """
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda one: (one.lane, str(one.verdict), one.at_ms)):
        first = groups[-1][0] if groups else None
        is_same = first is not None and (first.lane, first.verdict) == (mark.lane, mark.verdict)
        if is_same and first is not None and _in_one_place(first.at_ms, mark.at_ms, apart_ms, from_ms):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return [_as_one(group) for group in groups]


def merged(spans: Iterable[Span], noun: str) -> list[Span]:
    """Bars of one lane that overlap or touch as one, which says how many it stands for; neighbours in two tones."""
    runs: list[list[Span]] = []
    until_ms = 0
    for span in sorted(spans, key=lambda one: one.from_ms):
        if runs and span.from_ms <= until_ms:
            runs[-1].append(span)
        else:
            runs.append([span])
            until_ms = 0
        until_ms = max(until_ms, span.to_ms)
    return [_one_bar(run, number % 2, noun) for number, run in enumerate(runs)]


def _by_partition(states: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in states:
        found.setdefault(partition_name(row), []).append(row)
    return found


def _election(row: Row, *, is_found: bool) -> Mark:
    verdict, reason = elections.judged(row, is_found=is_found)
    where = f"{row['topic']}-{row['partition']}"
    text = f"{where}: {elections.WORDS[verdict]}, {elections.leaders(row)}, epoch {row['leader_epoch']}; {reason}"
    return Mark(ELECTIONS, row["started_at_ms"], text, None if verdict is Verdict.OK else verdict)


def _unsettled(row: Row) -> Span:
    text = f"{row['group_id']}: {row['state']}"
    return Span(REBALANCES, row["started_at_ms"], drawn_to_ms(row), None, text)


def _transaction(row: Row) -> Span:
    who = row["transactional_id"] or f"producer {row['producer_id']}"
    text = f"{who} on {row['topic']}-{row['partition']}"
    return Span(TRANSACTIONS, row["started_at_ms"], row["last_seen_at_ms"], 0, text)


def _low(one: LowStretch, from_ms: int, to_ms: int) -> Span:
    return Span(BELOW, from_ms, to_ms, None, durations.how_much(one.bounds))


def _in_one_place(first_ms: int, at_ms: int, apart_ms: int, from_ms: int) -> bool:
    return at_ms < from_ms or (first_ms >= from_ms and at_ms - first_ms < apart_ms)


def _as_one(group: Sequence[Mark]) -> Mark:
    first, number = group[0], len(group)
    if number == 1:
        return first
    return replace(first, text=f"{wording.count(number)} here; the first: {first.text}", size=number)


def _one_bar(run: Sequence[Span], tone: int, noun: str) -> Span:
    first, number = run[0], len(run)
    text = first.text if number == 1 else f"{wording.count(number)} {noun}; the first: {first.text}"
    return Span(first.lane, first.from_ms, max(one.to_ms for one in run), None if first.tone is None else tone, text)
