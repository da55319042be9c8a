"""Lag of a pipeline's group over a window, and per partition, from what was rolled up by minute or hour."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dashboard import wording
from dashboard.names import cut
from dashboard.reports import questions
from dashboard.reports.document import Cell, Column, Line, Part, Sentence, Table, Type, table
from dashboard.reports.finding_tables import limited
from dashboard.reports.look import MOST_ROWS, Look
from dashboard.shapes import ROLLED_UP_AFTER_MS
from guarantees import completeness
from guarantees.promise_time import MINUTE_MS, Stretch, union
from guarantees.promises import Pipeline, Verdict

HOUR_MS = 60 * MINUTE_MS
LONGEST_BY_MINUTE_MS = 24 * HOUR_MS
POINTS = 60
NO_ROLL_UP = "no lag of the group was rolled up: nothing was sampled, it expired, or the time is not over yet"
LAG = (
    Column("From", Type.TIME), Column("Lag in offsets, at the end", Type.COUNT),
    Column("Highest of one partition", Type.COUNT), Column("Unknown because"),
)  # fmt: skip
PARTITIONS = (
    Column("Partition", Type.COUNT), Column("Samples", Type.COUNT), Column("Of these unknown", Type.COUNT),
    Column("Highest lag", Type.COUNT), Column("Last lag", Type.COUNT), Column("Unknown because"),
)  # fmt: skip


def unit_ms(look: Look) -> int:
    """Minutes up to a day, hours beyond it."""
    return MINUTE_MS if look.to_ms - look.from_ms <= LONGEST_BY_MINUTE_MS else HOUR_MS


def units(look: Look, pipeline: Pipeline) -> list[dict[str, Any]]:
    """Rows of the roll-up of the pipeline's group on its source."""
    is_fine = unit_ms(look) == MINUTE_MS
    asked = questions.GROUP_LAG_BY_MINUTE if is_fine else questions.GROUP_LAG_BY_HOUR
    return look.ask(asked, group_id=pipeline.group_id, topic=pipeline.source)


def unknown_units(rows: Sequence[Mapping[str, Any]], look: Look) -> list[Stretch]:
    """Units without a known lag: those whose samples were unknown, and those that are not there."""
    size = unit_ms(look)
    found = [
        Stretch(row["at_ms"], row["at_ms"] + size, Verdict.UNKNOWN, f"lag unknown: {row['unknown_reason']}")
        for row in rows if row["unknown_reason"] is not None
    ]  # fmt: skip
    there = {row["at_ms"] for row in rows}
    first = look.from_ms - look.from_ms % size
    least_ms = completeness.gap_ms(look.settings.thresholds.gap_s, look.stored.interval_ms)
    absent = union((at, at + size) for at in range(first, look.to_ms, size) if at not in there)
    missing = [(start, end) for start, end in absent if end - start > least_ms]
    return [*_joined(found), *(Stretch(start, end, Verdict.UNKNOWN, NO_ROLL_UP) for start, end in missing)]


def parts(look: Look, pipeline: Pipeline) -> Iterator[Part]:
    """A line, its table, and the partitions where most is unknown or behind."""
    rows = units(look, pipeline)
    if not rows:
        yield Sentence(f"Lag over time is unknown: {NO_ROLL_UP}.")
        return
    over_time = _bucketed(rows, look)
    highest = f"{_highest(rows, look)}. Gaps are unknown, not zero."
    alt = f"Lag of {cut(pipeline.group_id)} on {cut(pipeline.source)} over time: {highest}"
    yield Line("Lag in offsets", alt, over_time, LAG[0].name, LAG[1].name, look.from_ms, look.to_ms)
    yield over_time
    yield _partitions(look, pipeline)


def _highest(rows: Sequence[Mapping[str, Any]], look: Look) -> str:
    """The total is known where a unit ends and may have been more within it; of one partition it is the highest."""
    unit = "a minute" if unit_ms(look) == MINUTE_MS else "an hour"
    total = max((row["lag"] for row in rows if row["lag"] is not None), default=None)
    of_one = max((row["lag_max"] for row in rows if row["lag_max"] is not None), default=None)
    return f"highest at the end of {unit}: {_offsets(total)}; of one partition: {_offsets(of_one)}"


def _offsets(lag: int | None) -> str:
    return "never known" if lag is None else f"{wording.count(lag)} offsets"


def _partitions(look: Look, pipeline: Pipeline) -> Table:
    is_fine = unit_ms(look) == MINUTE_MS
    asked = questions.PARTITION_LAG_BY_MINUTE if is_fine else questions.PARTITION_LAG_BY_HOUR
    found = look.ask(asked, group_id=pipeline.group_id, topic=pipeline.source, most=MOST_ROWS)
    rows: list[dict[str, Cell]] = [
        {"Partition": row["partition"], "Samples": row["samples"], "Of these unknown": row["unknown"],
         "Highest lag": row["lag_max"], "Last lag": row["lag_last"],
         "Unknown because": row["unknown_reason"] and cut(row["unknown_reason"], 120)}
        for row in found
    ]  # fmt: skip
    left_out = (found[0]["found"] - len(rows)) if found else 0
    made = limited("lag_by_partition", "Lag by partition, the worst first", PARTITIONS, rows, "No partition was seen.")
    note = f"{left_out:,} more partitions are left out, less behind than these." if left_out else made.note
    return Table(made.name, made.title, made.columns, made.rows, note)


def _bucketed(rows: Sequence[Mapping[str, Any]], look: Look) -> Table:
    """At most so many points, each with the last lag of its time; unknown where a part of it in the window is."""
    size = unit_ms(look)
    step = size * max(1, -(-(look.to_ms - look.from_ms) // (size * POINTS)))
    by_point: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_point.setdefault(row["at_ms"] - row["at_ms"] % step, []).append(row)
    first = look.from_ms - look.from_ms % step
    points: list[dict[str, Cell]] = []
    for at in range(first, look.to_ms, step):
        own = by_point.get(at, ())
        points.append(_point(at, own, has_gap=_has_gap(look, own, _units_within(look, at, at + step))))
    title = f"Lag over time, one row for {wording.duration(step)}"
    return table("lag_over_time", title, LAG, points)


def _units_within(look: Look, from_ms: int, to_ms: int) -> Sequence[int]:
    """When units of this part of the window begin that were over and rolled up when the report was made."""
    size = unit_ms(look)
    first = -(-max(from_ms, look.from_ms) // size) * size
    return range(first, min(to_ms, look.to_ms, look.made_ms - ROLLED_UP_AFTER_MS - size + 1), size)


def _has_gap(look: Look, rows: Sequence[Mapping[str, Any]], expected: Sequence[int]) -> bool:
    """Whether so many units in a row are missing that their time is a gap: a slow cluster leaves minutes empty."""
    size, there = unit_ms(look), {row["at_ms"] for row in rows}
    missing = union((at, at + size) for at in expected if at not in there)
    least_ms = completeness.gap_ms(look.settings.thresholds.gap_s, look.stored.interval_ms)
    return any(end - start > least_ms for start, end in missing)


def _point(at_ms: int, rows: Sequence[Mapping[str, Any]], *, has_gap: bool) -> dict[str, Cell]:
    reasons = [row["unknown_reason"] for row in rows if row["unknown_reason"] is not None]
    is_unknown = bool(reasons) or not rows or has_gap
    why = (cut(reasons[0], 120) if reasons else NO_ROLL_UP) if is_unknown else None
    highest = max((row["lag_max"] for row in rows if row["lag_max"] is not None), default=None)
    values = (at_ms, None if is_unknown else rows[-1]["lag"], highest, why)
    return dict(zip((column.name for column in LAG), values, strict=True))


def _joined(stretches: Sequence[Stretch]) -> Iterator[Stretch]:
    """Neighbours with one reason as one."""
    last: Stretch | None = None
    for one in stretches:
        if last is not None and last.to_ms == one.from_ms and last.why == one.why:
            last = Stretch(last.from_ms, one.to_ms, one.verdict, one.why)
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last
