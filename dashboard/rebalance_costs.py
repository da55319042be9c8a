"""What a rebalance cost: how long the group stood still, the lag it gained meanwhile, what moved; and storms."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard import rebalance_words, wording
from dashboard.interval_ends import is_seen_over
from dashboard.names import cut
from dashboard.view import View

Row = Mapping[str, Any]

# From so many rebalances of a group in the window on, lanes of members say nothing: they are counted instead.
STORM = 50
BARS = 60


@dataclass(frozen=True, slots=True)
class Pause:
    """How long a group was not settled around a change, ms: at least `lower`, at most `upper` (None: not observed)."""

    lower_ms: int
    upper_ms: int | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Rebalances per bucket of the window; NaN where none was seen and no round asked the groups."""

    from_ms: int
    bucket_ms: int
    counts: np.ndarray


def pause(change: Row, rebalancing: Iterable[Row]) -> Pause:
    """From the samples that saw the group rebalancing, between the last settled sample before and the first after it.

    Where no sample saw it, it may have been nothing at all: members of the consumer protocol (KIP-848) read on.
    Their coordinator writes when each began and ended; of a classic group it writes the end alone.
    """
    after_ms, observed_ms = change["changed_after_ms"], change["observed_at_ms"]
    seen = [
        row
        for row in rebalancing
        if row["group_id"] == change["group_id"]
        and row["started_at_ms"] <= observed_ms
        and row["last_seen_at_ms"] >= (observed_ms if after_ms is None else after_ms)
    ]
    is_written = rebalance_words.is_written(change)
    if is_written and after_ms < observed_ms:
        return Pause(observed_ms - after_ms, observed_ms - after_ms)
    if not seen:
        return Pause(0, None if after_ms is None or is_written else observed_ms - after_ms)
    first_ms, last_ms = min(row["started_at_ms"] for row in seen), max(row["last_seen_at_ms"] for row in seen)
    is_over = after_ms is not None and not is_written and all(map(is_seen_over, seen))
    settled_ms = max(observed_ms, *(row["ended_before_ms"] or 0 for row in seen))
    return Pause(last_ms - first_ms, settled_ms - after_ms if is_over else None)


def lag_gained(around: Row | None) -> int | None:
    """Offsets the group fell behind from the round before the change to the one after it; negative: it caught up."""
    if around is None or around["lag_before"] is None or around["lag_after"] is None:
        return None
    return int(around["lag_after"] - around["lag_before"])


def row(change: Row, rebalancing: Iterable[Row], around: Row | None, view: View) -> dict[str, object]:
    """A rebalance as a row of the table; `around` is its lag before and after."""
    changed_after_ms = change["changed_after_ms"] or change["observed_at_ms"]
    return {
        "When (UTC)": wording.since(change["observed_at_ms"], view.to_ms),
        "Group": cut(change["group_id"]),
        "Rebalances": 1,
        "Cause (inferred)": cut(change["cause"] or "", 120),
        "Pause": paused(pause(change, rebalancing)),
        "Lag gained": lag_gained(around),
        "Partitions moved": len(json.loads(change["moved"] or "[]")),
        "Joined": len(json.loads(change["joined"] or "[]")),
        "Left": len(json.loads(change["left"] or "[]")),
        "Told by": rebalance_words.teller(change),
        "Seen within": "–"
        if rebalance_words.is_written(change)
        else wording.duration(change["observed_at_ms"] - changed_after_ms),
    }


def storm_row(newest: Row, number: int, view: View) -> dict[str, object]:
    """All rebalances of a group as one row: how many, and the newest; what each cost is not added up."""
    return dict.fromkeys(row(newest, (), None, view)) | {
        "When (UTC)": wording.since(newest["observed_at_ms"], view.to_ms),
        "Group": cut(newest["group_id"]),
        "Rebalances": number,
        "Cause (inferred)": cut(f"▲ Storm; the newest: {newest['cause'] or 'no cause told'}", 120),
        "Told by": rebalance_words.teller(newest),
    }


def paused(known: Pause) -> str:
    """`10 s to 25 s`; `at most 5 s` where no sample fell into it; `at least 10 s` where no end was seen."""
    if known.upper_ms is None:
        return f"at least {wording.duration(known.lower_ms)}" if known.lower_ms else "not observed"
    upper = wording.duration(known.upper_ms)
    if known.lower_ms == known.upper_ms:
        return upper
    return f"{wording.duration(known.lower_ms)} to {upper}" if known.lower_ms else f"at most {upper}"


def moves(change: Row) -> list[dict[str, str]]:
    """What changed hands, partition by partition."""
    return [
        {
            "Partition": cut(f"{topic}-{partition}"),
            "Old owner": cut(old or "nobody"),
            "New owner": cut(new or "nobody"),
        }
        for topic, partition, old, new in json.loads(change["moved"] or "[]")
    ]


def storms(rebalances: Iterable[Row]) -> dict[str, int]:
    """Groups with more rebalances than lanes can show, with how many."""
    counts: dict[str, int] = {}
    for one in rebalances:
        counts[one["group_id"]] = counts.get(one["group_id"], 0) + 1
    return {group_id: number for group_id, number in counts.items() if number > STORM}


def listed(rebalances: Sequence[Row]) -> list[tuple[Row, int]]:
    """The rows of a table, in their own order, and how many rebalances each is: all of a storm stand with its first."""
    stormy, told, rows = storms(rebalances), set[str](), list[tuple[Row, int]]()
    for one in rebalances:
        if one["group_id"] not in told:
            rows.append((one, stormy.get(one["group_id"], 1)))
        if one["group_id"] in stormy:
            told.add(one["group_id"])
    return rows


def per_bucket(rebalances: Iterable[Row], asked: Iterable[Row], window: tuple[int, int], step_ms: int) -> Counts:
    """Rebalances over regular buckets of the window (from, to); `asked` are those in which a round asked the groups.

    A bucket without one had none that was seen: samples may miss a short one.
    """
    start = window[0] - window[0] % step_ms
    counts = np.full(max(1, -(-(window[1] - start) // step_ms)), np.nan, dtype=np.float32)
    for at_ms, number in [(row["at_ms"], 0) for row in asked] + [(one["observed_at_ms"], 1) for one in rebalances]:
        at = (at_ms - start) // step_ms
        if 0 <= at < len(counts):
            counts[at] = np.nan_to_num(counts[at]) + number
    return Counts(start, step_ms, counts)
