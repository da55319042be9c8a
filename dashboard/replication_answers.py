"""What the Replication page asks about, put together from cached answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dashboard import (
    answers,
    cached,
    concerns,
    coverage,
    queries,
    replica_offsets,
    replication_lanes,
    replication_questions,
)
from dashboard.concerns import Concern
from dashboard.elections import election_row
from dashboard.queries import Rows
from dashboard.replica_offsets import ReplicaHistory
from dashboard.replication import AtRisk, partition_name
from dashboard.replication_lanes import ReplicationLanes
from dashboard.view import View
from guarantees import completeness
from guarantees.findings import Kind
from guarantees.observations import Signal


@dataclass(frozen=True, slots=True)
class Chosen:
    """One partition: its states in the window and its samples of the last quarter of an hour, the oldest first."""

    topic: str
    topic_id: str
    partition: int
    history: Rows
    offsets: Rows
    log_ends: Rows

    @property
    def name(self) -> str:
        return f"{self.topic_id}-{self.partition}"

    @property
    def only_leader(self) -> set[int]:
        """Who answered as the leader in every sample, if it was one broker alone."""
        leaders = {row["broker"] for row in self.offsets}
        return leaders if len(leaders) == 1 else set()


def gap_ms(view: View) -> int:
    """From here on two samples of partitions' states leave a gap between them, as the findings count it."""
    asked = next((row["asked"] for row in coverage.by_signal(view) if row["signal"] == Signal.PARTITION_STATES), 0)
    return completeness.gap_of_states_ms(cached.settings().thresholds.gap_s, cached.step_ms(view.cluster), asked)


def totals(view: View) -> Rows:
    """The row of the overview's tile."""
    return cached.now(view, queries.REPLICATION)


def at_risk(view: View) -> tuple[list[AtRisk], int]:
    """Partitions in danger now, and those that were in the window; the worst first, and how many were left out.

    Those that are no longer listed come last, with their last state.
    """
    elected = unclean_by_partition(view)
    were = cached.in_window(view, replication_questions.WERE_AT_RISK, search=view.search)
    also = sorted({row["name"] for row in were} | elected.keys())
    rows = cached.now(view, replication_questions.AT_RISK, search=view.search, also=also)
    gone = [row["name"] for row in were if row["is_gone"]]
    histories = _histories(view, [*map(partition_name, rows), *gone])
    known = [AtRisk(row, histories.get(partition_name(row), ()), elected.get(partition_name(row))) for row in rows]
    ended = [AtRisk(histories[name][-1], histories[name], elected.get(name), is_gone=True) for name in gone]
    return [*known, *ended], _left_out(rows) + _left_out(were)


def unclean_by_partition(view: View) -> Mapping[str, Concern]:
    """Of each partition its worst unclean election that lasted into the window, as a finding."""
    found: dict[str, Concern] = {}
    for one in unclean(view):
        place = one.finding.place
        found.setdefault(f"{place.topic_id}-{place.partition}", one)
    return found


def unclean(view: View) -> list[Concern]:
    """Findings of unclean elections that lasted into the window, worst first."""
    known = (one for one in answers.found(view) if one.finding.kind is Kind.UNCLEAN_ELECTION)
    return concerns.in_view(known, view)


def elections(view: View) -> tuple[list[dict[str, object]], int]:
    """Rows of the elections in the window, and how many were left out."""
    held, found = cached.in_window(view, replication_questions.ELECTIONS, search=view.search), _epochs(view)
    rows = [election_row(row, view, is_found=_is_found(row, found)) for row in held]
    return rows, _left_out(held)


def chosen_name(view: View, asked: str | None) -> str | None:
    """The partition of the link; without one the worst, and where none is at risk the one that changed most."""
    if asked is not None:
        return asked
    known, _ = at_risk(view)
    if known and known[0].is_in_danger:
        return known[0].name
    changed = cached.in_window(view, replication_questions.MOST_CHANGED, search=view.search)
    return changed[0]["name"] if changed else None


def chosen(view: View, name: str) -> Chosen | None:
    """The partition of that name; None where nothing of it was observed in the window."""
    topic_id, _, number = name.rpartition("-")
    if not number.isdecimal():
        return None
    about = {"topic_id": topic_id, "partition": int(number)}
    history = _histories(view, [name]).get(name, [])
    offsets = cached.recently(view, replication_questions.OFFSETS_OF, **about)
    if not history and not offsets:
        return None
    return Chosen(
        topic=(history or offsets)[-1]["topic"],
        topic_id=topic_id,
        partition=int(number),
        history=history,
        offsets=offsets,
        log_ends=cached.recently(view, replication_questions.LOG_ENDS_OF, **about),
    )


def offsets_over_time(view: View, one: Chosen) -> ReplicaHistory:
    return replica_offsets.replica_history(one.offsets, one.log_ends, cached.step_ms(view.cluster))


def lanes(view: View, one: Chosen) -> ReplicationLanes:
    """Whatever the search finds: the partition is chosen."""
    about = {"topic_id": one.topic_id, "partition": one.partition}
    held = cached.in_window(view, replication_questions.ELECTIONS_OF, **about)
    epochs = {epoch for name, epoch in _epochs(replace(view, search="")) if name == one.name}
    return replication_lanes.lanes(one.history, held, epochs, view, gap_ms(view))


def _histories(view: View, names: Sequence[str]) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for row in cached.in_window(view, replication_questions.HISTORY, partitions=sorted(names)) if names else ():
        found.setdefault(partition_name(row), []).append(row)
    return found


def _epochs(view: View) -> set[tuple[str, int]]:
    """(partition, leader epoch) of each unclean election that a finding tells of."""
    return {
        (f"{one.finding.place.topic_id}-{one.finding.place.partition}", int(str(one.finding.evidence["leader_epoch"])))
        for one in unclean(view)
    }


def _left_out(rows: Rows) -> int:
    return rows[0]["found"] - len(rows) if rows else 0


def _is_found(row: Mapping[str, object], found: set[tuple[str, int]]) -> bool:
    return (partition_name(row), row["leader_epoch"]) in found
