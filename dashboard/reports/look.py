"""What a report looks at: a cluster, a window, and what the store holds of both at the time it is made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path

from dashboard import action_log, actions, explained, rebalances_read
from dashboard.actions import Handling, IncidentHandling
from dashboard.queries import Question, Rows
from dashboard.reports import questions
from dashboard.stored_cluster import DAY_MS, StoredCluster, known_pipelines, stored_cluster
from dashboard.view import View
from guarantees import lifecycle
from guarantees.completeness import GAP_INTERVALS
from guarantees.findings import Finding
from guarantees.incidents import Incident, every_incident
from guarantees.links import Cause
from guarantees.promise_time import Stretch
from guarantees.promises import Pipeline, Verdict
from guarantees.times import utc
from guarantees.unknown import Unknown
from settings import ClusterSettings, Settings
from store.findings import load_events

# Rows of one table of a report; beyond it the table says how many are left out. Totals are over all.
MOST_ROWS = 5_000


@dataclass(frozen=True)
class Look:
    """`made_ms` is when the report is made: findings and causes are those known then, whatever the window."""

    settings: Settings
    stored: StoredCluster
    from_ms: int
    to_ms: int
    made_ms: int

    def ask(self, question: Question, **about: object) -> Rows:
        """Of the window; nothing where the cluster was never heard."""
        return self.stored.between(self.from_ms, self.to_ms, (question,), **about).get(question, [])

    def between(self, from_ms: int, to_ms: int, question: Question) -> Rows:
        """Of a part of the window."""
        return self.stored.between(from_ms, to_ms, (question,)).get(question, [])

    def days(self) -> Iterator[tuple[int, int]]:
        """The window in parts of at most a day: what a question about many rows may hold at a time."""
        for start in range(self.from_ms, self.to_ms, DAY_MS):
            yield start, min(self.to_ms, start + DAY_MS)

    @property
    def view(self) -> View:
        """As the pages know a window, for what they share with reports."""
        return View(self.stored.settings.name, self.from_ms, self.to_ms, True, None, "")

    @cached_property
    def pipelines(self) -> tuple[Pipeline, ...]:
        return known_pipelines(self.settings, self.stored)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Those of the cluster as they stood when the report was made."""
        events = [event for event in load_events(self.stored.data_dir) if event.at_ms <= self.made_ms]
        found = (history.finding for history in lifecycle.fold(events).values())
        return tuple(one for one in found if one.place.cluster_id == self.stored.cluster_id)

    @cached_property
    def causes(self) -> Mapping[str, tuple[Cause, ...]]:
        """As the pages tell them: by all the rebalances that are kept of when the findings happened."""
        cluster_id = self.stored.cluster_id or ""
        seen = rebalances_read.rebalances(self.stored.data_dir, cluster_id, self.findings, self.made_ms)
        return explained.causes_of(self.findings, seen, cluster_id, self.pipelines)

    @cached_property
    def not_looked_for(self) -> Sequence[Unknown]:
        """The causes of findings in the window that nobody can look for any more."""
        return rebalances_read.not_looked_for(self.stored.data_dir, self.in_window(self.findings), self.causes)

    @cached_property
    def incidents(self) -> list[Incident]:
        return every_incident(self.findings, self.causes, self.pipelines)

    @cached_property
    def handled(self) -> Mapping[str, Handling]:
        return actions.handled(self._actions)

    def handling(self, incident: Incident) -> IncidentHandling:
        """What people did about an incident until the report was made."""
        return actions.incident_handling(incident.known_as, actions.of_incidents(self._actions))

    @cached_property
    def _actions(self) -> Rows:
        rows = action_log.load(Path(self.stored.data_dir))
        return [row for row in rows if isinstance(at := row["observed_at"], int) and at <= self.made_ms]

    @cached_property
    def rounds(self) -> Mapping[str, int | None]:
        rows = self.ask(questions.ROUNDS)
        return (
            rows[0]
            if rows
            else {"present": 0, "first_ms": None, "last_ms": None, "first_tick": None, "last_tick": None}
        )

    @property
    def expected_rounds(self) -> int:
        """Of the whole window: time before the first round counts as missed too."""
        return max(int(self.rounds["present"] or 0), (self.to_ms - self.from_ms) // self.stored.interval_ms)

    @cached_property
    def gaps(self) -> Sequence[Stretch]:
        """Time of the window without any round: before the first, between two, after the last."""
        first, last, least = self.rounds["first_ms"], self.rounds["last_ms"], GAP_INTERVALS * self.stored.interval_ms
        if first is None or last is None:
            return (_unseen(self.from_ms, self.to_ms, "no round of samples is stored: expired, or never made"),)
        between = ((row["from_ms"], row["to_ms"]) for row in self.ask(questions.ROUND_GAPS, gap_ms=least))
        ends = [(self.from_ms, first), *between, (last, self.to_ms)]
        return tuple(_unseen(start, end, "no round of samples") for start, end in ends if end - start > least)

    def in_window(self, found: Iterable[Finding]) -> list[Finding]:
        """Those that lasted into the window, the oldest first."""
        lasting = (one for one in found if one.happened_at_ms < self.to_ms and one.last_seen_at_ms >= self.from_ms)
        return sorted(lasting, key=lambda one: (one.happened_at_ms, one.finding_id))


def look(settings: Settings, cluster: ClusterSettings, from_ms: int, to_ms: int, made_ms: int) -> Look:
    """The cluster as it was last heard before the report; where that is long ago, as it was heard in the window.

    Samples expire and findings do not: the only cluster of the settings is then the one of the newest finding.
    """
    stored = stored_cluster(settings, cluster, made_ms)
    if stored.cluster_id is None:
        stored = stored_cluster(settings, cluster, to_ms)
    if stored.cluster_id is None and len(settings.clusters) == 1:
        newest = max(load_events(stored.data_dir), key=attrgetter("at_ms"), default=None)
        stored = replace(stored, cluster_id=None if newest is None else newest.finding.place.cluster_id)
    return Look(settings, stored, from_ms, to_ms, made_ms)


def span_words(from_ms: int, to_ms: int) -> str:
    return f"{utc(from_ms)} to {utc(to_ms)}"


def _unseen(from_ms: int, to_ms: int, why: str) -> Stretch:
    return Stretch(from_ms, to_ms, Verdict.UNKNOWN, why)
