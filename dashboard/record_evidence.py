"""What the record jobs tell of duplicates and losses now: of topics with ids, of comparisons that judged one.

What jobs wrote that are no longer at work tells of the time before they stopped, and nothing of now.
"""

from collections.abc import Collection, Iterable

from dashboard import cached, queries, traces, wording
from dashboard.audit_topics import read_topics
from dashboard.freshness import Freshness
from dashboard.queries import Rows
from dashboard.tiles import Reach
from dashboard.view import View
from guarantees.promises import Pipeline, Verdict

# Rounds of the jobs that find nothing to read say so once a minute.
IDLE_PACE_MS = 60_000


def jobs_age(view: View) -> Freshness:
    """When the record jobs last wrote, and how often they should."""
    trace = traces.of_jobs(view)
    return Freshness(trace[0], max(trace[1], IDLE_PACE_MS)) if trace else Freshness(None, IDLE_PACE_MS)


def sampled(view: View) -> Rows:
    """Topics of the last day with an id in at least one record."""
    return with_ids(cached.last_day(view, queries.SAMPLED)) if _are_at_work(view) else []


def with_ids(sampled: Iterable[dict[str, object]]) -> Rows:
    """Where no record has an id, nothing can be said of copies."""
    return [row for row in sampled if row["records"] > row["records_without_id"]]


def comparisons(view: View) -> Rows:
    """Pipelines whose source and sink are compared."""
    names = {one.name for one in cached.settings().pipelines if one.cluster == view.cluster}
    return judged(cached.last_day(view, queries.COMPARISONS), names) if _are_at_work(view) else []


def judged(comparisons: Iterable[dict[str, object]], declared: Collection[str]) -> Rows:
    """Those of which an id was judged; what is no longer declared is no longer compared."""
    return [row for row in comparisons if row["judged"] and row["pipeline"] in declared]


def compared(view: View) -> Reach:
    """Of how many pipelines losses are told."""
    declared = [one for one in cached.settings().pipelines if one.cluster == view.cluster and one.sink is not None]
    return Reach(len(comparisons(view)), len(declared), "pipeline", _why(view, "no pipeline is compared with a sink"))


def read(view: View, pipelines: Iterable[Pipeline]) -> Reach:
    """Of how many topics of the pipelines duplicates are told."""
    topics = set(read_topics(pipelines))
    seen = topics & {row["topic"] for row in sampled(view)}
    return Reach(len(seen), len(topics), "topic", _why(view, "no topic's ids are sampled"))


def _are_at_work(view: View) -> bool:
    return jobs_age(view).verdict(view.to_ms) is Verdict.OK


def _why(view: View, otherwise: str) -> str:
    age = jobs_age(view)
    if age.verdict(view.to_ms) is not Verdict.STALE:
        return otherwise
    return f"the record jobs last wrote {wording.age(age.observed_at_ms, view.to_ms)}"
