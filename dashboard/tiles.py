"""The tiles of the overview: a number with what it leaves open. A number that is not known is a word and a reason."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dashboard import wording
from dashboard.amounts import added, none_seen_upper
from dashboard.concerns import Concern
from dashboard.finding_times import newest_ms
from dashboard.total_lag import total
from dashboard.transactions import Asked, OpenTransaction
from guarantees.findings import Bounds, Kind, Unit
from guarantees.promises import Verdict
from guarantees.rules.transactions import TransactionClass
from guarantees.unknown import Unknown

Row = Mapping[str, Any]
DAY_MS = 86_400_000
NO_COMMIT_READ = "no commit is known on a topic that is still read"


@dataclass(frozen=True, slots=True)
class Tile:
    """`verdict` colours the note; None is neutral. `series` is drawn as a sparkline."""

    label: str
    value: str
    note: str
    verdict: Verdict | None = None
    series: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """Of how many of all things of a kind (`what`: pipeline, topic) a figure tells, and why of none if so."""

    seen: int
    of: int
    what: str
    why: str

    @property
    def is_whole(self) -> bool:
        return 0 < self.of == self.seen

    @property
    def note(self) -> str:
        """What follows the figure; nothing where it tells of all."""
        if self.is_whole:
            return ""
        return f" · {self.seen} of {wording.plural(self.of, self.what)}" if self.seen else f" · {self.why}"


def unknown(label: str, reason: str) -> Tile:
    return Tile(label, "Unknown", reason, Verdict.UNKNOWN)


def lag(
    group_lag: Sequence[Row],
    trends: Mapping[str, Sequence[int | None]],
    begins: Mapping[str, int],
    not_kept: Unknown | None = None,
) -> Tile:
    """Offsets behind, as far as they are known: at least so many where partitions are unknown, which are counted."""
    if not group_lag:
        return unknown("Lag, offsets", not_kept.reason if not_kept else "no group with a commit was seen")
    read = [row for row in group_lag if not row["is_left"]]
    lags = [row["lag"] for row in read if row["lag"] is not None]
    partitions = sum(row["unknown"] for row in read)
    if not lags:
        why = f"{wording.plural(partitions, 'partition')} cannot be read" if partitions else NO_COMMIT_READ
        return unknown("Lag, offsets", why)
    drawn, left = total(read, trends, begins), len(group_lag) - len(read)
    notes = [
        _trend(drawn.series) + (" as far as known" if partitions or drawn.left_out else ""),
        f"{wording.plural(partitions, 'partition')} unknown" if partitions else "",
        f"{wording.plural(drawn.left_out, 'group')} not in the trend" if drawn.left_out else "",
        f"{wording.plural(left, 'topic')} no longer read" if left else "",
    ]
    value = f"{'≥ ' if partitions else ''}{wording.compact(sum(lags))}"
    return Tile("Lag, offsets", value, " · ".join(filter(None, notes)), None, drawn.series)


def lost(concerns: Iterable[Concern], comparisons: Sequence[Row], reach: Reach, at_ms: int) -> Tile:
    """Records lost in the last day, as an interval; NOT-OBSERVABLE where no source is compared with a sink."""
    upper = max((row["upper"] or 0 for row in comparisons), default=0)
    return _counted("Lost, 24 h", recent(concerns, Kind.LOST_WRITE, at_ms), upper, reach)


def duplicates(concerns: Iterable[Concern], sampled: Sequence[Row], reach: Reach, at_ms: int) -> Tile:
    """Records stored more than once in the last day, as an interval; unknown where ids are not sampled."""
    upper = max((none_seen_upper(row["rate"]) for row in sampled), default=0)
    found = recent(concerns, Kind.DUPLICATE_WRITE, at_ms)
    tile = _counted("Duplicates, 24 h", found, upper, reach)
    return replace(tile, note=tile.note + _counted_since(found, at_ms))


def replication(rows: Sequence[Row]) -> Tile:
    """Partitions with a replica that is not caught up."""
    label = "Under-replicated"
    if not rows:
        return unknown(label, "no partition was seen")
    row = rows[0]
    note = f"of {wording.plural(row['partitions'], 'partition')} · {row['below_min_isr']:,} below min ISR"
    if row["min_isr_unknown"]:
        note += f" · min ISR unknown for {row['min_isr_unknown']:,}"
    if row["offline"]:
        note += f" · {row['offline']:,} offline"
    is_bad = row["under_replicated"] or row["below_min_isr"] or row["offline"]
    return Tile(label, wording.count(row["under_replicated"]), note, Verdict.DEGRADED if is_bad else Verdict.OK)


def transactions(found: Sequence[OpenTransaction], overdue_share: float, asked: Asked) -> Tile:
    """Open transactions, how many of them are near or past their timeout, and hanging ones (KIP-664).

    At least so many where not all told; that none hangs is known where the leaders told as well.
    """
    label = "Open transactions"
    if not found and not asked.coordinators:
        return unknown(label, f"{asked.missing} did not all tell")
    states = Counter(one.state for one in found)
    late, hanging = sum(one.is_late for one in found), states[TransactionClass.HANGING]
    unlisted = states[TransactionClass.UNLISTED]
    note = f"{late:,} past {overdue_share:.0%} of the timeout, {hanging:,} hanging"
    note += f", {unlisted:,} unlisted" if unlisted else ""
    note += f" · more is not known: {asked.missing} did not all tell" if asked.missing else ""
    calm = Verdict.UNKNOWN if asked.missing else Verdict.OK
    verdict = Verdict.DEGRADED if late or hanging or unlisted else calm
    at_least = "" if asked.coordinators else "≥ "
    return Tile(label, f"{at_least}{wording.count(len(found))}", note, verdict)


def recent(concerns: Iterable[Concern], kind: Kind, at_ms: int) -> list[Concern]:
    """Findings of one kind of which something was found in the last day."""
    found = (one for one in concerns if one.finding.kind is kind)
    return [one for one in found if newest_ms(one.finding) > at_ms - DAY_MS]


def _counted(label: str, found: Sequence[Concern], none_upper: int, reach: Reach) -> Tile:
    """The sum of the findings' intervals; without findings zero with its own upper end, as far as it reaches."""
    if not found and not reach.seen:
        return unknown(label, reach.why)
    if not found:
        note = f"at most {wording.count(none_upper)}" if none_upper else "all ids compared"
        return Tile(label, "0", note + reach.note, Verdict.OK if reach.is_whole else Verdict.UNKNOWN)
    total = added((one.finding.bounds for one in found if one.finding.bounds), Unit.RECORDS)
    ends = f"{wording.count(total.lower)} to {wording.count(total.upper)}"
    note = f"{'exact' if total.lower == total.upper else ends} · {wording.plural(len(found), 'finding')}"
    note += reach.note
    verdicts = [concern.verdict for concern in found if concern.verdict]
    worst = min(verdicts, key=wording.WORST_FIRST.index, default=None)
    return Tile(label, _figure(total), note, worst)


def _figure(total: Bounds) -> str:
    """The end that is known where the number in between is not."""
    if total.estimate is not None:
        return wording.compact(total.estimate)
    return f"≥ {wording.compact(total.lower)}" if total.upper is None else f"≤ {wording.compact(total.upper)}"


def _counted_since(found: Iterable[Concern], at_ms: int) -> str:
    """Since when findings count of which it is not known how much is of the last day; nothing where there is none."""
    known = [one.finding for one in found if one.finding.bounds and one.finding.bounds.estimate is None]
    earliest_ms = min((one.happened_at_ms for one in known), default=at_ms)
    return f" · counted since {wording.since(earliest_ms, at_ms)}" if earliest_ms < at_ms - DAY_MS else ""


def _trend(series: Sequence[int | None]) -> str:
    """The newest known value against the oldest one of the window."""
    seen = [value for value in series if value is not None]
    if len(seen) < 2:
        return "no trend yet"
    change = seen[-1] - seen[0]
    return "steady" if change == 0 else f"{'+' if change > 0 else '−'}{wording.compact(abs(change))} in the window"
