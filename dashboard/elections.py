"""Elections as rows: between which samples, who followed whom, and whether the new leader was in sync."""

from collections.abc import Mapping
from typing import Any

from dashboard import wording
from dashboard.low_isr import state_of
from dashboard.names import cut
from dashboard.replication import brokers, label
from dashboard.view import View
from guarantees.elections import is_outside
from guarantees.observations import PartitionState
from guarantees.promises import Verdict

Row = Mapping[str, Any]

WORDS: Mapping[Verdict, str] = {
    Verdict.OK: "clean",
    Verdict.DEGRADED: "unclean",
    Verdict.UNKNOWN: "unknown",
}


def state_before(row: Row) -> PartitionState:
    """The state of the partition in the last sample before the election."""
    return state_of({**row, "offline_replicas": (), **row["before"]})


def judged(row: Row, *, is_found: bool) -> tuple[Verdict, str]:
    """Clean, unclean or unknown, and why. `is_found`: a finding says that it was unclean.

    The rule of the finding: the new leader is alone in sync and was outside when last seen (KIP-966: neither in sync
    nor eligible). Of elections between the two samples nobody saw anything.
    """
    leader, before = row["leader"], state_before(row)
    outside, is_alone = is_outside(before, leader), list(row["in_sync_replicas"]) == [leader]
    if is_found or (outside and is_alone):
        return Verdict.DEGRADED, f"broker {leader} was neither in sync nor known to be eligible when last seen"
    if outside:
        return Verdict.UNKNOWN, f"broker {leader} was not in sync when last seen, and may have caught up since"
    if outside is None:
        return Verdict.UNKNOWN, _not_seen(leader, before)
    if unseen(row):
        return Verdict.UNKNOWN, _epochs_not_seen(unseen(row))
    how = "in sync" if leader in before.in_sync_replicas else "eligible (KIP-966)"
    return Verdict.OK, f"broker {leader} was {how} when last seen"


def unseen(row: Row) -> int:
    """Leader epochs between the two samples. Where there was no leader in between, its epoch was seen."""
    return int(row["leader_epoch"] - row["before"]["leader_epoch"] - 1)


def election_row(row: Row, view: View, *, is_found: bool) -> dict[str, object]:
    verdict, reason = judged(row, is_found=is_found)
    return {
        "Election": election_words(verdict),
        "Partition": cut(label(row)),
        "After (UTC)": wording.since(row["before"]["last_seen_at_ms"], view.to_ms),
        "Seen by (UTC)": wording.since(row["started_at_ms"], view.to_ms),
        "Leader": leaders(row),
        "Leader epoch": f"{row['before']['leader_epoch']} → {row['leader_epoch']}",
        "Because": reason,
        "In sync before": brokers(row["before"]["in_sync_replicas"], ""),
        "In sync after": brokers(row["in_sync_replicas"], ""),
    }


def election_words(verdict: Verdict) -> str:
    return f"{wording.LOOKS[verdict].icon} {WORDS[verdict]}"


def leaders(row: Row) -> str:
    """`1 → 2`; where the partition was without a leader in between, so it says."""
    before, last = row["before"]["leader"], row["last_leader"]
    if before is None:
        return f"{'nobody seen' if last is None else last} → none → {row['leader']}"
    return f"{before} → {row['leader']}"


def _not_seen(leader: int, before: PartitionState) -> str:
    if leader not in before.replicas:
        return f"broker {leader} was no replica when last seen"
    return "nobody was in sync when last seen, and who was eligible was not asked or the feature is off (KIP-966)"


def _epochs_not_seen(number: int) -> str:
    return f"{wording.plural(number, 'leader epoch')} in between {'was' if number == 1 else 'were'} not seen"
