"""Leader, in-sync and eligible replicas of one partition over time, its elections, and its time below min ISR."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import elections
from dashboard.low_isr import LowStretch, stretches
from dashboard.replication import brokers, in_sync_words
from dashboard.shapes import Mark, Span
from dashboard.view import View
from guarantees.promises import Verdict

Row = Mapping[str, Any]

LEADER, IN_SYNC, ELIGIBLE, BELOW, ELECTIONS = "leader", "in sync", "ELR", "below min ISR", "elections"
LANES = (LEADER, IN_SYNC, ELIGIBLE, BELOW, ELECTIONS)


@dataclass(frozen=True, slots=True)
class ReplicationLanes:
    """What stands below the offsets. A lane without a bar was not observed then; of the ELR, off or not asked."""

    spans: Sequence[Span]
    low: Sequence[LowStretch]
    marks: Sequence[Mark]


def lanes(
    history: Sequence[Row], held: Sequence[Row], unclean_epochs: set[int], view: View, gap_ms: int
) -> ReplicationLanes:
    """Of one partition's states, the oldest first, and its elections."""
    return ReplicationLanes(
        spans=[*_leaders(history, gap_ms), *_in_sync(history, gap_ms), *_eligible(history, gap_ms)],
        low=stretches(history, view.from_ms, view.to_ms, gap_ms),
        marks=[_mark(row, unclean_epochs) for row in held],
    )


def _leaders(history: Sequence[Row], gap_ms: int) -> list[Span]:
    return _spans(
        LEADER,
        history,
        lambda row: f"{_leader(row)}, epoch {row['leader_epoch']}",
        gap_ms,
        is_bad=lambda row: row["leader"] is None,
    )


def _in_sync(history: Sequence[Row], gap_ms: int) -> list[Span]:
    return _spans(IN_SYNC, history, in_sync_words, gap_ms)


def _eligible(history: Sequence[Row], gap_ms: int) -> list[Span]:
    known = [row for row in history if row["eligible_leader_replicas"] is not None]
    return _spans(ELIGIBLE, known, lambda row: brokers(row["eligible_leader_replicas"], ""), gap_ms)


def _leader(row: Row) -> str:
    return "no leader" if row["leader"] is None else f"broker {row['leader']}"


def _spans(
    lane: str,
    rows: Iterable[Row],
    words: Callable[[Row], str],
    gap_ms: int,
    is_bad: Callable[[Row], bool] = lambda _: False,
) -> list[Span]:
    """One bar for as long as the words stay the same and no gap lies between; neighbours in two tones."""
    spans: list[Span] = []
    for row in rows:
        start, end, text = row["started_at_ms"], row["last_seen_at_ms"], words(row)
        last = spans[-1] if spans else None
        if last is not None and last.text == text and start - last.to_ms <= gap_ms:
            spans[-1] = Span(lane, last.from_ms, end, last.tone, text)
        else:
            spans.append(Span(lane, start, end, None if is_bad(row) else len(spans) % 2, text))
    return spans


def _mark(row: Row, unclean_epochs: set[int]) -> Mark:
    verdict, reason = elections.judged(row, is_found=row["leader_epoch"] in unclean_epochs)
    text = f"{elections.WORDS[verdict]}: {elections.leaders(row)}, epoch {row['leader_epoch']}; {reason}"
    return Mark(ELECTIONS, row["started_at_ms"], text, None if verdict is Verdict.OK else verdict)
