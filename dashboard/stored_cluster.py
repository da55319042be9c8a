"""One cluster as the store knows it, asked without the page: what commands and reports rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dashboard import promise_questions, proposals, queries
from dashboard.promise_facts import Seen
from dashboard.queries import Question, Rows
from guarantees.cadence import ASKED_LESS_OFTEN
from guarantees.promises import Pipeline
from settings import ClusterSettings, Settings

DAY_MS = 86_400_000
RECENT_MS = 15 * 60_000
ROUNDS_BACK = 1 + max(ASKED_LESS_OFTEN.values())


@dataclass(frozen=True, slots=True)
class StoredCluster:
    """`cluster_id` None: nothing was heard of it in the day before `now_ms`."""

    data_dir: Path
    settings: ClusterSettings
    cluster_id: str | None
    observed_at_ms: int
    now_ms: int

    @property
    def interval_ms(self) -> int:
        return round(self.settings.interval_s * 1000)

    def newest(self, questions: Sequence[Question]) -> dict[Question, Rows]:
        return self.between(self.observed_at_ms - ROUNDS_BACK * self.interval_ms, self.observed_at_ms + 1, questions)

    def recent(self, questions: Sequence[Question], **about: object) -> dict[Question, Rows]:
        return self.between(self.observed_at_ms - RECENT_MS, self.observed_at_ms + 1, questions, **about)

    def last_day(self, questions: Sequence[Question], **about: object) -> dict[Question, Rows]:
        return self.between(self.now_ms - DAY_MS, self.now_ms, questions, **about)

    def between(self, from_ms: int, to_ms: int, questions: Sequence[Question], **about: object) -> dict[Question, Rows]:
        """Nothing where no cluster was heard: there is nobody to ask about."""
        if self.cluster_id is None:
            return {}
        asked: Mapping[str, object] = {"cluster_id": self.cluster_id, **about}
        return {one: queries.ask(self.data_dir, from_ms, to_ms, one, asked) for one in questions}


def stored_cluster(settings: Settings, cluster: ClusterSettings, now_ms: int) -> StoredCluster:
    data_dir = Path(settings.store.data_dir)
    rows = queries.ask(data_dir, *queries.clusters_heard(now_ms, DAY_MS))
    newest = next((row for row in rows if row["cluster"] == cluster.name and row["cluster_id"]), None)
    if newest is None:
        return StoredCluster(data_dir, cluster, None, now_ms, now_ms)
    return StoredCluster(data_dir, cluster, newest["cluster_id"], newest["observed_at_ms"], now_ms)


def known_pipelines(settings: Settings, stored: StoredCluster) -> tuple[Pipeline, ...]:
    """Declared ones; where a cluster has none, those proposed from what was seen."""
    declared = tuple(known.pipeline for known in settings.pipelines if known.cluster == stored.settings.name)
    if declared or stored.cluster_id is None:
        return declared
    answers = stored.newest(promise_questions.OF_THE_NEWEST_ROUND) | stored.recent(promise_questions.OF_RECENT)
    answers |= stored.last_day((queries.SAMPLED,))
    return proposals.proposed(answers[queries.GROUP_LAG], Seen(answers))
