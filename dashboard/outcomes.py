"""How transactions ended: counts in regular buckets, and lanes of those that did not end well."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard import wording
from dashboard.fencing import Event
from dashboard.names import cut
from dashboard.shapes import Mark, Span
from dashboard.transaction_words import OUTCOMES, STATES, Outcome
from dashboard.transactions import OpenTransaction
from dashboard.wording import Look
from guarantees.findings import Kind
from guarantees.rules.transactions import TransactionClass

Row = Mapping[str, Any]
MINUTE_MS = 60_000
LANES = 20
MARKED = {Kind.PRODUCER_FENCED: Outcome.FENCED, Kind.TRANSACTION_TIMED_OUT: Outcome.TIMED_OUT}


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Transactions with a marker in each bucket, at least so many; NaN where it has none and not all headers were read.

    `markers`: all of them.
    """

    from_ms: int
    bucket_ms: int
    committed: np.ndarray
    aborted: np.ndarray
    markers: np.ndarray

    @property
    def bucket(self) -> str:
        """One bucket in words."""
        return "minute" if self.bucket_ms == MINUTE_MS else wording.duration(self.bucket_ms)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A transaction's time on its lane, and what it was."""

    look: Look
    span: Span


@dataclass(frozen=True, slots=True)
class Moment:
    """A transaction's end on its lane, and how it ended."""

    look: Look
    mark: Mark


@dataclass(frozen=True, slots=True)
class Lanes:
    """Transactions that are late or hang, were slow, aborted, fenced or timed out. Shown: `names` of `found`."""

    names: tuple[str, ...]
    stretches: tuple[Stretch, ...]
    moments: tuple[Moment, ...]
    found: int


def outcomes(
    rows: Sequence[Row], seen: Iterable[Row], read_from_ms: int, window: tuple[int, int], bucket_ms: int
) -> Outcomes:
    """Buckets of the window (from, to). Zero is only said where all headers were `seen` since they began to be read.

    Markers that were read late, after a pause, make their bucket known too.
    """
    start = window[0] - window[0] % bucket_ms
    size = max(1, -(-(window[1] - start) // bucket_ms))
    known = {row["at_ms"] for row in seen if row["at_ms"] + bucket_ms > read_from_ms} | {row["at_ms"] for row in rows}
    numbers = {at_ms: (at_ms - start) // bucket_ms for at_ms in known if start <= at_ms < start + size * bucket_ms}

    def series(column: str, *markers: str) -> np.ndarray:
        values = np.full(size, np.nan, dtype=np.float32)
        values[list(numbers.values())] = 0
        for row in rows:
            if row["at_ms"] in numbers and row["marker"] in markers:
                values[numbers[row["at_ms"]]] += row[column]
        return values

    return Outcomes(
        start, bucket_ms, series("transactions", "commit"), series("transactions", "abort"),
        series("markers", "commit", "abort"),
    )  # fmt: skip


def bucket_rows(shown: Outcomes) -> list[dict[str, object]]:
    """The chart as a table, the newest bucket first; None where headers were not read."""
    rows = [
        {
            f"{shown.bucket.capitalize()} from (UTC)": wording.utc(shown.from_ms + number * shown.bucket_ms)[:16],
            "Committed": _count(shown.committed[number]),
            "Aborted": _count(shown.aborted[number]),
            "Markers": _count(shown.markers[number]),
        }
        for number in range(len(shown.committed))
    ]
    return rows[::-1]


def _count(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


def lanes(
    open_ones: Iterable[OpenTransaction], lasting: Iterable[Row], aborts: Iterable[Row], events: Iterable[Event]
) -> Lanes:
    """One lane for each producer id, the worst open transaction first, then by the newest end."""
    open_ones, lasting = list(open_ones), list(lasting)
    names = {row["producer_id"]: row["transactional_id"] for row in [*lasting, *(one.row for one in open_ones)]}
    bad = [one for one in open_ones if one.state is not TransactionClass.OPEN]
    ended = [row for row in lasting if not row["is_open"]]
    stretches = [*(_open(one, names) for one in bad), *(_ended(row, names) for row in ended)]
    moments = [*(_abort(row, names) for row in aborts), *(m for event in events for m in _marks(event, names))]
    newest: dict[str, int] = {}
    for one in [*(stretch.span for stretch in stretches[len(bad) :]), *(moment.mark for moment in moments)]:
        newest[one.lane] = max(newest.get(one.lane, 0), one.at_ms if isinstance(one, Mark) else one.to_ms)
    worst = dict.fromkeys(stretch.span.lane for stretch in stretches[: len(bad)])
    found = [*worst, *sorted(newest.keys() - worst.keys(), key=lambda lane: (-newest[lane], lane))]
    shown = tuple(found[:LANES])
    return Lanes(
        shown,
        tuple(one for one in stretches if one.span.lane in shown),
        tuple(one for one in moments if one.mark.lane in shown),
        len(found),
    )


def lane(producer_id: int, names: Mapping[int, str | None]) -> str:
    """A transactional id as far as it is known, with the producer id that tells equal beginnings apart."""
    name = names.get(producer_id)
    return f"producer {producer_id}" if name is None else f"{cut(name, 20)} ·{producer_id}"


def _open(one: OpenTransaction, names: Mapping[int, str | None]) -> Stretch:
    look = STATES[one.state]
    text = f"{look.text}, open for {wording.duration(one.seen_ms - one.began[0])}"
    return Stretch(look, Span(lane(one.row["producer_id"], names), one.began[0], one.seen_ms, None, text))


def _ended(row: Row, names: Mapping[int, str | None]) -> Stretch:
    look = OUTCOMES[Outcome.ABORTED if row["is_aborted"] else Outcome.SLOW]
    text = f"{look.text} after {wording.duration(row['to_ms'] - row['from_ms'])}"
    return Stretch(look, Span(lane(row["producer_id"], names), row["from_ms"], row["to_ms"], None, text))


def _abort(row: Row, names: Mapping[int, str | None]) -> Moment:
    more = f" and {wording.plural(row['topics'] - 1, 'more topic')}" if row["topics"] > 1 else ""
    what = "ABORT marker" if row["markers"] == 1 else f"{row['markers']:,} ABORT markers, the last"
    text = f"{what} of epoch {row['producer_epoch']} on {row['topic']}{more}"
    return Moment(
        OUTCOMES[Outcome.ABORTED], Mark(lane(row["producer_id"], names), row["at_ms"], text, size=row["markers"])
    )


def _marks(event: Event, names: Mapping[int, str | None]) -> Iterable[Moment]:
    outcome = MARKED.get(event.finding.kind)
    if outcome is None:
        return
    known = {**dict.fromkeys(event.producers, event.names[0] if event.names else None), **names}
    for producer_id in event.producers:
        yield Moment(OUTCOMES[outcome], Mark(lane(producer_id, known), event.at_ms, event.finding.title))


def lane_rows(shown: Lanes) -> list[dict[str, object]]:
    """The lanes as a table, in their order."""
    rows = [(one.look, one.span.lane, one.span.from_ms, one.span.to_ms, one.span.text) for one in shown.stretches]
    rows += [(one.look, one.mark.lane, one.mark.at_ms, None, one.mark.text) for one in shown.moments]
    rows.sort(key=lambda row: (shown.names.index(row[1]), row[2]))
    return [
        {"State": look.text, "Transaction": name, "From (UTC)": wording.utc(from_ms)[:19],
         "To (UTC)": None if to_ms is None else wording.utc(to_ms)[:19], "What": cut(text, 120)}
        for look, name, from_ms, to_ms, text in rows
    ]  # fmt: skip
