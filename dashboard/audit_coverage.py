"""What was read of one topic: lanes of offsets read, purged, missing and not read yet."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dashboard import wording
from dashboard.names import cut

Row = Mapping[str, Any]
Part = tuple[str, int]


class Stretch(StrEnum):
    """What became of a stretch of offsets, in words."""

    READ = "read"
    PURGED = "purged before it was read"
    GAP = "in no range"
    LEFT = "not read yet"


@dataclass(frozen=True, slots=True)
class Piece:
    """Offsets [first_offset, next_offset) of one partition."""

    stretch: Stretch
    first_offset: int
    next_offset: int

    @property
    def offsets(self) -> int:
        return self.next_offset - self.first_offset


@dataclass(frozen=True, slots=True)
class Lane:
    """One partition of one history of the topic, from the lowest offset of the window; `stored` is its log now."""

    label: str
    pieces: tuple[Piece, ...]
    ranges: int
    records: int
    stored: Row | None

    @property
    def first_offset(self) -> int:
        return self.pieces[0].first_offset

    def offsets(self, *stretches: Stretch) -> int:
        return sum(piece.offsets for piece in self.pieces if piece.stretch in stretches)


MISSED = (Stretch.PURGED, Stretch.GAP, Stretch.LEFT)


def lanes(topic: str, covered: Iterable[Row], stored: Iterable[Row]) -> list[Lane]:
    """One lane for each partition read in the window, those that miss most first."""
    logs: dict[Part, Row] = {(row["topic_id"], row["partition"]): row for row in stored}
    rows: dict[Part, list[Row]] = {}
    for row in covered:
        rows.setdefault((row["topic_id"], row["partition"]), []).append(row)
    histories = {topic_id for topic_id, _ in rows}
    found = [_lane(topic, part, own, logs.get(part), len(histories) > 1) for part, own in rows.items()]
    return sorted(found, key=lambda lane: -lane.offsets(*MISSED))


def lane_row(lane: Lane) -> dict[str, object]:
    """The table twin of a lane: offsets as text, in full; what is not known of the log is said."""
    return {
        "Partition": cut(lane.label),
        "Read from": str(lane.first_offset),
        "Read to": str(_read_to(lane.pieces)),
        "Offsets read": lane.offsets(Stretch.READ),
        "Purged": lane.offsets(Stretch.PURGED),
        "Gaps": lane.offsets(Stretch.GAP),
        "Not read yet": lane.offsets(Stretch.LEFT) if _stable(lane.stored) is not None else None,
        "Log start": _known(lane.stored, "log_start_offset"),
        "Last stable": _known(lane.stored, "last_stable_offset"),
        "Older offsets kept": _older(lane),
        "Ranges": lane.ranges,
        "Records": lane.records,
    }


def _lane(topic: str, part: Part, rows: Sequence[Row], stored: Row | None, is_named: bool) -> Lane:
    name = f"{topic}-{part[1]}"
    return Lane(
        label=f"{name} ({part[0]})" if is_named else name,
        pieces=tuple(_pieces(rows, _stable(stored))),
        ranges=sum(row["ranges"] for row in rows),
        records=sum(row["records"] for row in rows),
        stored=stored,
    )


def _pieces(rows: Sequence[Row], last_stable_offset: int | None) -> Iterator[Piece]:
    """Ranges in order, what lies between them, and what is left up to the stable offset."""
    reached = rows[0]["first_offset"]
    for row in rows:
        if row["first_offset"] > reached:
            yield Piece(Stretch.GAP, reached, row["first_offset"])
        yield Piece(_stretch(row), row["first_offset"], row["next_offset"])
        reached = max(reached, row["next_offset"])
    if last_stable_offset is not None and last_stable_offset > reached:
        yield Piece(Stretch.LEFT, reached, last_stable_offset)


def _stretch(row: Row) -> Stretch:
    return Stretch.READ if row["state"] == "complete" else Stretch.PURGED


def _read_to(pieces: Iterable[Piece]) -> int:
    return max(piece.next_offset for piece in pieces if piece.stretch is not Stretch.LEFT)


def _stable(stored: Row | None) -> int | None:
    return stored["last_stable_offset"] if stored else None


def _known(stored: Row | None, name: str) -> str:
    if stored is None:
        return "unknown: not sampled"
    value = stored[name]
    return f"unknown: {cut(stored[f'{name}_unknown'] or '')}" if value is None else str(value)


def _older(lane: Lane) -> int | None:
    """Offsets the log still holds from before the first one read in the window."""
    start = lane.stored["log_start_offset"] if lane.stored else None
    return None if start is None else max(0, lane.first_offset - start)


def summary(found: Sequence[Lane]) -> str:
    """How much of what was there was read."""
    read, missed = (sum(lane.offsets(*kinds) for lane in found) for kinds in ((Stretch.READ,), MISSED))
    parts = [f"{wording.count(read)} of {wording.count(read + missed)} offsets were read"]
    for stretch in MISSED:
        offsets = sum(lane.offsets(stretch) for lane in found)
        parts += [f"{wording.count(offsets)} {stretch}"] if offsets else []
    return ", ".join(parts) + "."
