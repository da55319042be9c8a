"""What held on one partition at one moment: leader, ISR, owner, commit, offsets, open transaction; or why not known."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dashboard import wording
from dashboard.interval_ends import is_seen_over, speaks_of
from dashboard.names import cut
from dashboard.partition_history import owner_at
from dashboard.replication import brokers, in_sync_words
from guarantees.cadence import ASKED_LESS_OFTEN
from guarantees.observations import Signal

Row = Mapping[str, Any]
Held = tuple[str, str]

BEFORE_MS = 60_000  # a sample that is older says nothing about the moment
GROUPS = 3  # an incident of one pipeline has one
NO_SAMPLE = "unknown: no sample of the minute before this moment is kept"


def interval_at(rows: Iterable[Row], at_ms: int, step_ms: int) -> tuple[Row | None, str]:
    """The interval that held at a moment, and what to say of it: nothing, or that it may just have ended."""
    found = [row for row in rows if speaks_of(row, at_ms, step_ms)]
    if not found:
        return None, ""
    newest = max(found, key=lambda row: row["started_at_ms"])
    if at_ms <= newest["last_seen_at_ms"]:
        return newest, ""
    changed = "; it changed before the next sample" if is_seen_over(newest) else ""
    return newest, f" (last seen {wording.clock(newest['last_seen_at_ms'])}{changed})"


def replication(states: Iterable[Row], at_ms: int, step_ms: int) -> list[Held]:
    """Leader, epoch and in-sync replicas of one partition, whose states a large cluster is asked for less often."""
    row, note = interval_at(states, at_ms, ASKED_LESS_OFTEN[Signal.PARTITION_STATES] * step_ms)
    if row is None:
        why = "unknown: no sample of the partition's state covers this moment"
        return [("Leader", why), ("In sync", why)]
    leader = "none: offline" if row["leader"] is None else f"broker {row['leader']}"
    minimum = "unknown" if row["min_insync_replicas"] is None else str(row["min_insync_replicas"])
    return [
        ("Leader", f"{leader}, epoch {row['leader_epoch']}{note}"),
        ("In sync", f"{in_sync_words(row)}; min ISR {minimum}{note}"),
        ("ELR", brokers(row["eligible_leader_replicas"], "feature off (KIP-966), or not asked")),
    ]


def offsets(samples: Iterable[Row], at_ms: int) -> list[Held]:
    """The newest answer of the leader not later than the moment, and how old it was then."""
    row = _newest(samples, "observed_at_ms", at_ms)
    names = (("High watermark", "high_watermark"), ("Last stable offset", "last_stable_offset"),
             ("Log start offset", "log_start_offset"))  # fmt: skip
    return [(title, _value(row, name, "observed_at_ms", at_ms)) for title, name in names]


def log_end(samples: Iterable[Row], offsets_then: Iterable[Row], at_ms: int) -> Held:
    """The log end of the broker that answered as the leader."""
    leader = _newest(offsets_then, "observed_at_ms", at_ms)
    own = [row for row in samples if leader is not None and row["replica"] == leader["broker"]]
    return "Leader's log end", _value(_newest(own, "observed_at_ms", at_ms), "log_end_offset", "observed_at_ms", at_ms)


def commits(samples: Iterable[Row], group_id: str, at_ms: int) -> Held:
    """The newest commit of a group seen not later than the moment."""
    row = _newest(samples, "committed_at_ms", at_ms)
    return f"Commit of {cut(group_id, 40)}", _value(row, "committed_offset", "committed_at_ms", at_ms)


def owner(owners: Sequence[Row], states: Sequence[Row], group_id: str, at_ms: int, step_ms: int) -> Held:
    said, _ = owner_at(owners, states, at_ms, step_ms)
    return f"Owner in {cut(group_id, 40)}", said


def transactions(rows: Iterable[Row], offsets_then: Iterable[Row], at_ms: int) -> Held:
    """Transactions open on the partition. Where nobody holds the stable offset back, none has written anything."""
    open_then = [row for row in rows if row["started_at_ms"] <= at_ms <= row["last_seen_at_ms"]]
    if open_then:
        return "Open transaction", "; ".join(_transaction(row) for row in open_then[:5])
    row = _newest(offsets_then, "observed_at_ms", at_ms)
    ends = (None, None) if row is None else (row["last_stable_offset"], row["high_watermark"])
    if None in ends:
        return "Open transaction", NO_SAMPLE
    if ends[0] == ends[1]:
        return "Open transaction", "none: the last stable offset is the high watermark"
    return "Open transaction", "unknown: one holds the last stable offset back, and no answer says whose it is"


def _transaction(row: Row) -> str:
    who = f"{cut(row['transactional_id'], 40)}, " if row["transactional_id"] else ""
    start = row["current_transaction_start_offset"]
    since = "" if start is None else f", from offset {start}"
    return f"{who}producer {row['producer_id']}, epoch {row['producer_epoch']}{since}"


def _newest(samples: Iterable[Row], time: str, at_ms: int) -> Row | None:
    known = [row for row in samples if at_ms - BEFORE_MS <= row[time] <= at_ms]
    return max(known, key=lambda row: row[time], default=None)


def _value(row: Row | None, name: str, time: str, at_ms: int) -> str:
    if row is None:
        return NO_SAMPLE
    age = f"{wording.duration(at_ms - row[time])} before"
    if row[name] is None:
        return f"unknown: {cut(row[f'{name}_unknown'] or 'not answered', 160)} ({age})"
    return f"{row[name]} ({age})"
