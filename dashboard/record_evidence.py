"""What the record jobs tell of duplicates and losses now: of topics with ids, of comparisons that judged one.

What they wrote of a topic that they do not read to its end any more tells of the time before, and nothing of now.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dashboard import audit_questions, cached, copies_in_window, queries, record_reading, traces, wording
from dashboard.audit_topics import read_topics
from dashboard.concerns import Concern
from dashboard.freshness import Freshness
from dashboard.queries import Question, Rows
from dashboard.record_reading import HowRead, Look, Reading
from dashboard.tiles import Reach
from dashboard.view import View
from guarantees.findings import Finding
from guarantees.promises import Pipeline, Verdict
from settings import PipelineSettings

# Topics of which a range was covered.
COVERED = Question(("ledger",), """
    SELECT DISTINCT topic FROM ledger
    WHERE cluster_id = $cluster_id AND list_contains($topics::VARCHAR[], topic) ORDER BY topic""")  # fmt: skip


def jobs_age(view: View) -> Freshness:
    """When the record jobs last wrote, and how often they should."""
    trace = traces.of_jobs(view)
    return Freshness(trace[0] if trace else None, traces.look_pace_ms(trace))


def reading(view: View, topic: str) -> Reading:
    """How far the record jobs have read it."""
    return record_reading.reading(_looks(view.without_search()), topic)


def how_read(view: View) -> Callable[[str], HowRead]:
    """What reading allows to be said of a topic, by its name."""
    looks, missed, pace_ms = _looks(view.without_search()), never_compared(view), jobs_age(view).step_ms

    def how(topic: str) -> HowRead:
        return record_reading.how_read(record_reading.reading(looks, topic), view.to_ms, pace_ms, missed.get(topic))

    return how


def never_compared(view: View) -> Mapping[str, str]:
    """What of the last day was never compared, by topic; topics of which that hides nothing are not in it."""
    return record_reading.never_compared(cached.last_day(view, queries.SAMPLED))


@cached.shared
def _looks(view: View) -> list[Look]:
    return record_reading.looks(cached.of_tidemark(view, queries.LOOKS), view.cluster)


@cached.shared
def sampled(view: View) -> Rows:
    """Topics that tell of the last day whether they hold copies."""
    rows = cached.last_day(view, queries.SAMPLED)
    declared = {topic for one in _declared(view) for topic in one.pipeline.topics}
    return record_reading.tell_of_copies(rows, declared, partial(_covered_before, view), how_read(view))


def sampled_topics(view: View) -> frozenset[str]:
    """Their names."""
    return frozenset(row["topic"] for row in sampled(view))


def _covered_before(view: View, topics: list[str]) -> list[str]:
    """Those of which a range was covered before the last day of the window."""
    kept_ms = round(cached.settings().store.history_retention_d * cached.DAY_MS)
    before = view.to_ms - kept_ms, view.to_ms - cached.DAY_MS
    return [row["topic"] for row in cached.between(view, *before, COVERED, topics=topics)]


@cached.shared
def comparisons(view: View) -> Rows:
    """Pipelines whose source and sink are compared, and both read to their end."""
    read, compared = how_read(view), _compared(view)
    fresh = {one.name for one in compared if _both(one, read).verdict is Verdict.OK}
    return judged(cached.last_day(view, queries.COMPARISONS), fresh)


def judged(comparisons: Iterable[dict[str, object]], names: Collection[str]) -> Rows:
    """Those of which an id was judged; what is no longer declared is no longer compared."""
    return [row for row in comparisons if row["judged"] and row["pipeline"] in names]


def compared(view: View) -> Reach:
    """Of how many pipelines losses are told."""
    read, every = how_read(view), _compared(view)
    otherwise = "no id was to be judged yet" if every else "no pipeline is compared with a sink"
    why = _why(view, (_both(one, read) for one in every), otherwise)
    return Reach(len(comparisons(view)), len(every), "pipeline", why)


def read(view: View, pipelines: Iterable[Pipeline]) -> Reach:
    """Of how many topics of the pipelines duplicates are told."""
    how, topics = how_read(view), sorted(read_topics(pipelines))
    seen = sampled_topics(view).intersection(topics)
    return Reach(len(seen), len(topics), "topic", _why(view, map(how, topics), "no topic's ids are sampled"))


def counted_in_window(view: View, findings: Sequence[Finding]) -> list[Finding]:
    """The findings; those of duplicates with the copies of the window alone, and none of which it has no copy."""
    narrowed = map(_narrowing(view, view.from_ms, findings), findings)
    return [one for one in narrowed if one is not None]


def counted_in_last_day(view: View, found: Sequence[Concern]) -> list[Concern]:
    """The same of findings with what they break, and of the day that ends with the window."""
    narrow = _narrowing(view, view.to_ms - cached.DAY_MS, [one.finding for one in found])
    pairs = ((one, narrow(one.finding)) for one in found)
    return [_with(one, finding) for one, finding in pairs if finding is not None]


def _with(one: Concern, finding: Finding) -> Concern:
    return one if finding is one.finding else replace(one, history=replace(one.history, finding=finding))


def _narrowing(view: View, from_ms: int, findings: Sequence[Finding]) -> Callable[[Finding], Finding | None]:
    """Asks nothing where every finding counts of the window alone, as most do."""
    span = from_ms, view.to_ms
    if not any(copies_in_window.reaches_beyond(one, *span) for one in findings):
        return lambda finding: finding
    found = cached.between(view, *span, audit_questions.EXTRA_COPIES)
    audited = cached.between(view, *span, audit_questions.AUDITED_COPIES)
    return partial(copies_in_window.narrowed, known=copies_in_window.copies(*span, found, audited))


def _declared(view: View) -> list[PipelineSettings]:
    return [one for one in cached.settings().pipelines if one.cluster == view.cluster]


def _compared(view: View) -> list[PipelineSettings]:
    return [one for one in _declared(view) if one.sink is not None]


def _both(pipeline: PipelineSettings, read: Callable[[str], HowRead]) -> HowRead:
    return record_reading.worst(map(read, pipeline.pipeline.topics))


def _why(view: View, read: Iterable[HowRead], otherwise: str) -> str:
    """Why a figure tells of none: that the jobs stopped, what hinders the reading, or what was never compared."""
    age = jobs_age(view)
    if age.verdict(view.to_ms) is Verdict.STALE:
        return f"the record jobs last wrote {wording.age(age.observed_at_ms, view.to_ms)}"
    how = record_reading.worst(read)
    return how.why or how.missed or otherwise
