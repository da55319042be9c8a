"""How far a partition's log is replicated and readable: differences of offsets, sample by sample, with their gaps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dashboard import wording
from dashboard.names import cut
from guarantees.unknown import Unknown

Row = Mapping[str, Any]
LogEnds = Mapping[int, Row]

# Rounds begin on the step: two samples further apart than this have a missing one between them.
GAP_STEPS = 1.5

OTHER_EPOCH = Unknown("the leader changed between its two answers")
NOT_SAMPLED = Unknown("not sampled in this round")
NO_STATE = "unknown: no state was read"


@dataclass(frozen=True, slots=True)
class ReplicaHistory:
    """Differences of offsets at `at_ms` (ms since 1970, UTC); NaN where one is unknown and where a round is missing.

    `not_replicated`: high watermark to the leader's log end; `held`: last stable offset to high watermark; `behind`:
    what each replica's log end lacks of the leader's. The answers of a round are moments apart.
    """

    at_ms: np.ndarray
    not_replicated: np.ndarray
    held: np.ndarray
    behind: Mapping[int, np.ndarray]


def replica_history(offsets: Sequence[Row], log_ends: Sequence[Row], step_ms: int) -> ReplicaHistory:
    """From the samples of one partition, the oldest first."""
    by_tick = ends_by_tick(log_ends)
    drawn = with_gaps(offsets, step_ms)
    ends = [by_tick.get(row["tick"], {}) if row else {} for _, row in drawn]
    rows = [row for _, row in drawn]
    return ReplicaHistory(
        at_ms=np.array([at_ms for at_ms, _ in drawn], dtype=np.float64),
        not_replicated=_series([not_replicated(row, its) for row, its in zip(rows, ends, strict=True)]),
        held=_series([held(row) for row in rows]),
        behind={
            replica: _series([behind(row, its, replica) for row, its in zip(rows, ends, strict=True)])
            for replica in sorted({row["replica"] for row in log_ends})
        },
    )


def ends_by_tick(log_ends: Sequence[Row]) -> dict[int, dict[int, Row]]:
    """The replicas' answers of each round."""
    found: dict[int, dict[int, Row]] = {}
    for row in log_ends:
        found.setdefault(row["tick"], {})[row["replica"]] = row
    return found


def with_gaps(offsets: Sequence[Row], step_ms: int) -> list[tuple[int, Row | None]]:
    """Each sample with its time, and one without values where a round is missing."""
    found: list[tuple[int, Row | None]] = [(row["observed_at_ms"], row) for row in offsets[:1]]
    for before, row in pairwise(offsets):
        if row["observed_at_ms"] - before["observed_at_ms"] > GAP_STEPS * step_ms:
            found.append((before["observed_at_ms"] + step_ms, None))
        found.append((row["observed_at_ms"], row))
    return found


def leader_end(offsets: Row | None, ends: LogEnds) -> int | Unknown:
    """The log end of the broker that answered as the leader, in the epoch in which it did."""
    if offsets is None:
        return NOT_SAMPLED
    if offsets["broker"] is None:
        return Unknown(offsets["high_watermark_unknown"] or "no leader answered")
    end = ends.get(offsets["broker"])
    epochs = {offsets["leader_epoch"], end["leader_epoch"] if end else None} - {None}
    return OTHER_EPOCH if len(epochs) > 1 else log_end(end)


def log_end(end: Row | None) -> int | Unknown:
    return NOT_SAMPLED if end is None else _known(end, "log_end_offset")


def not_replicated(offsets: Row | None, ends: LogEnds) -> int | Unknown:
    """High watermark to the leader's log end: not yet on every in-sync replica, and lost with the leader."""
    high_watermark = NOT_SAMPLED if offsets is None else _known(offsets, "high_watermark")
    return _difference(leader_end(offsets, ends), high_watermark)


def held(offsets: Row | None) -> int | Unknown:
    """Last stable offset to high watermark: replicated, and not readable for read_committed yet."""
    if offsets is None:
        return NOT_SAMPLED
    return _difference(_known(offsets, "high_watermark"), _known(offsets, "last_stable_offset"))


def behind(offsets: Row | None, ends: LogEnds, replica: int) -> int | Unknown:
    """What the replica lacks of the leader's log, a little more or less: it answered a moment earlier or later."""
    return _difference(leader_end(offsets, ends), log_end(ends.get(replica)))


def replica_rows(offsets: Row, ends: LogEnds, state: Row | None) -> list[dict[str, object]]:
    """The replicas in one round: where each log ends, in full digits, and why a number is missing."""
    replicas = sorted({*(state["replicas"] if state else ()), *ends})
    return [_replica_row(replica, offsets, ends, state) for replica in replicas]


def _replica_row(replica: int, offsets: Row, ends: LogEnds, state: Row | None) -> dict[str, object]:
    end, lacks = ends.get(replica), behind(offsets, ends, replica)
    reasons = dict.fromkeys(one.reason for one in (log_end(end), lacks) if isinstance(one, Unknown))
    return {
        "Broker": str(replica),
        "Role": role(replica, state),
        "Log end offset": _digits(None if end is None else end["log_end_offset"]),
        "Behind the leader, offsets": "–" if isinstance(lacks, Unknown) else wording.count(lacks),
        "Leader epoch": _digits(None if end is None else end["leader_epoch"]),
        "Read (UTC)": wording.utc(None if end is None else end["observed_at_ms"]).removesuffix(" UTC"),
        "Unknown because": cut("; ".join(reasons) or "–", 160),
    }


def role(replica: int, state: Row | None) -> str:
    """What the replica is in a state of the partition; None: none was read."""
    if state is None:
        return NO_STATE
    if replica == state["leader"]:
        return "leader"
    if replica not in state["replicas"]:
        return "no replica now"
    if replica in (state["offline_replicas"] or ()):
        return "offline"
    return "in sync" if replica in state["in_sync_replicas"] else "not in sync"


def offset_rows(offsets: Row) -> list[dict[str, object]]:
    """The three offsets a leader answers, each with its time, in full digits."""
    read_at = {"log_start_offset": "log_start_observed_at_ms"}
    return [
        {
            "Offset": words,
            "Value": _digits(offsets[name]),
            "Answered by broker": _digits(offsets["broker"]),
            "Read (UTC)": wording.utc(offsets[read_at.get(name, "observed_at_ms")]).removesuffix(" UTC"),
            "Unknown because": cut(offsets[f"{name}_unknown"] or "–", 160),
        }
        for words, name in (
            ("High watermark", "high_watermark"),
            ("Last stable offset", "last_stable_offset"),
            ("Log start offset", "log_start_offset"),
        )
    ]


def _known(row: Row, name: str) -> int | Unknown:
    return Unknown(row[f"{name}_unknown"] or NOT_SAMPLED.reason) if row[name] is None else int(row[name])


def _difference(upper: int | Unknown, lower: int | Unknown) -> int | Unknown:
    if isinstance(upper, Unknown):
        return upper
    return lower if isinstance(lower, Unknown) else upper - lower


def _series(values: Sequence[int | Unknown]) -> np.ndarray:
    return np.array([np.nan if isinstance(value, Unknown) else value for value in values], dtype=np.float32)


def _digits(value: int | None) -> str:
    return "–" if value is None else str(value)
