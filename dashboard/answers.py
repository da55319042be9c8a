"""What the pages ask about, put together from cached answers: pipelines, findings, events, tiles."""

from collections.abc import Collection, Mapping, Sequence

from dashboard import (
    cached,
    concerns,
    coverage,
    expired,
    finding_groups,
    known_findings,
    lag_answers,
    left_topics,
    partition_questions,
    promise_questions,
    proposals,
    queries,
    record_evidence,
    replication_questions,
    shapes,
    standing,
    tiles,
    total_lag,
    transaction_answers,
)
from dashboard.concerns import Concern
from dashboard.promise_facts import Seen
from dashboard.queries import Question, Rows
from dashboard.rebalance_questions import STATES
from dashboard.shapes import Mark
from dashboard.standing import Standing
from dashboard.tiles import Tile
from dashboard.total_lag import TotalLag
from dashboard.view import RAW_WINDOW_MS, View
from guarantees.completeness import RoundsSeen
from guarantees.observations import Signal
from guarantees.promises import Pipeline
from guarantees.verdicts import pipeline_verdict

SPARK_POINTS = 60
UNREAD_ROUNDS = 6  # of which every sample counts


def pipelines(view: View) -> tuple[Pipeline, ...]:
    """Declared pipelines of the cluster; where none is, every group with the topics it reads, promise inferred.

    All of them whatever is searched for: a search must not change what a finding means for the promises.
    """
    return _pipelines(view.without_search())


@cached.shared
def _pipelines(view: View) -> tuple[Pipeline, ...]:
    declared = [known.pipeline for known in cached.settings().pipelines if known.cluster == view.cluster]
    return tuple(declared) or proposals.proposed(group_lag(view), Seen(promise_answers(view)))


def promise_answers(view: View) -> dict[Question, Rows]:
    """What the promises of all pipelines are inferred from."""
    newest = {
        one: cached.now(view, one) for one in promise_questions.OF_THE_NEWEST_ROUND if one is not queries.GROUP_LAG
    }
    recent = {one: cached.recently(view, one) for one in promise_questions.OF_RECENT}
    of_groups = {queries.GROUP_LAG: cached.group_lag(view), queries.SAMPLED: cached.last_day(view, queries.SAMPLED)}
    return newest | recent | of_groups


def rounds_seen(view: View, signal: Signal = Signal.END_OFFSETS) -> RoundsSeen:
    """How complete the window on screen is, by the rounds in which a signal was answered."""
    rows = cached.in_window(view, promise_questions.ROUNDS_SEEN, signal=signal)
    return standing.rounds_seen(rows, view.from_ms, view.to_ms, cached.step_ms(view.cluster), signal)


@cached.shared
def group_lag(view: View) -> Rows:
    """Lag now of the groups and topics the search finds; what a group has left has none (C10)."""
    found = [row for row in cached.group_lag(view) if view.finds(row["group_id"], row["topic"])]
    return left_topics.marked(found, left_topics.left_topics(view))


def cluster_trend(view: View) -> Mapping[str, tuple[int | None, ...]]:
    """Total lag of each group over the window, as tiles, table and time strip draw it."""
    return lag_answers.lag_trend(view, SPARK_POINTS)


def cluster_lag(view: View) -> TotalLag:
    """Total lag of the cluster over the window, whatever is searched for."""
    trends, begins = cluster_trend(view), lag_answers.trend_begins(view, SPARK_POINTS)
    return total_lag.total(group_lag(view.without_search()), trends, begins)


def found(view: View) -> list[Concern]:
    """Every finding with the promises it touches and what people did about it until now, worst first."""
    return concerns.with_handling(_judged(view.without_search()), known_findings.handled())


@cached.shared
def _judged(view: View) -> list[Concern]:
    return concerns.concerns(known_findings.findings(view).values(), pipelines(view))


@cached.shared
def marks(view: View) -> list[Mark]:
    """What broke when, by kind, as far as the search finds it; the same whatever people did about it."""
    shown = concerns.in_view(_judged(view.without_search()), view)
    return finding_groups.marks(finding_groups.events(shown))


def urgent(view: View) -> list[Concern]:
    """Open findings that break or weaken a promise, worst first; those somebody looks after come last."""
    shown = concerns.in_view(found(view), view)
    urgent = [one for one in shown if one.verdict and one.finding.closed_reason is None]
    return sorted(urgent, key=lambda one: one.is_acknowledged)


def standings(view: View) -> list[Standing]:
    """Where each pipeline that the search finds stands at the end of the window, worst first."""
    every = _standings(view.without_search())
    return [
        one
        for one in every
        if view.finds(one.pipeline.name, one.pipeline.source, one.pipeline.group_id, one.pipeline.sink)
    ]


@cached.shared
def _standings(view: View) -> list[Standing]:
    lag, trends = standing.by_place(group_lag(view)), cluster_trend(view)
    states = standing.by_group(cached.now(view, queries.GROUP_STATES))
    ids, missed = record_evidence.sampled_topics(view), record_evidence.never_compared(view)
    known = concerns.ByReach(history.finding for history in known_findings.findings(view).values())
    rounds = rounds_seen(view)
    observed_at_ms = coverage.age(view, ()).observed_at_ms
    newest = standing.newest(coverage.by_signal(view), observed_at_ms, expired.now(view))
    judged = (
        pipeline_verdict(
            pipeline,
            known.near(pipeline),
            standing.sight(
                pipeline, newest, lag.get(_place(pipeline), ()), states.get(pipeline.group_id, ()), ids, rounds, missed
            ),
            now_ms=view.to_ms,
            window_from_ms=view.from_ms,
        )
        for pipeline in pipelines(view)
    )
    return standing.worst_first(standing.standing(one, lag.get(_place(one.pipeline), ()), trends) for one in judged)


def unread_for(view: View, standings: Sequence[Standing]) -> Mapping[tuple[str, str], int | None]:
    """By group and topic of these pipelines: how long at least the oldest unread offset has been there, ms."""
    return unread_of(view, {known.pipeline.group_id for known in standings})


def unread_of(view: View, group_ids: Collection[str]) -> Mapping[tuple[str, str], int | None]:
    """The same of some groups and each of their topics."""
    if rolled := cached.now(view, queries.GROUP_LAG_OF_ROUND):
        return {(row["group_id"], row["topic"]): row["unread_for_ms"] for row in rolled}
    rows = _unread(view, partition_questions.UNREAD_FOR, group_ids)
    return {(row["group_id"], row["topic"]): row["unread_for_ms"] for row in rows}


def unread_by_partition(view: View, group_id: str) -> Mapping[tuple[str, int], int | None]:
    """The same of each partition of a group; none where its lag is unknown."""
    rows = _unread(view, partition_questions.UNREAD_BY_PARTITION, {group_id})
    return {(row["topic"], row["partition"]): row["unread_for_ms"] for row in rows}


def _unread(view: View, question: Question, group_ids: Collection[str]) -> Rows:
    """Of the newest round that is over, as the lag is: of one under way the ends may not be there yet."""
    known = cached.heard(view)
    to_ms = known.observed_at_ms + 1 if known else view.to_ms
    since_ms = to_ms - UNREAD_ROUNDS * cached.step_ms(view.cluster)
    span = to_ms - RAW_WINDOW_MS, to_ms
    return cached.between(view, *span, question, groups=sorted(group_ids), since_ms=since_ms)


def _place(pipeline: Pipeline) -> tuple[str, str]:
    return pipeline.group_id, pipeline.source


@cached.shared
def overview_tiles(view: View) -> tuple[Tile, ...]:
    """How much: lag, losses, duplicates, replication, transactions."""
    known, share = found(view), cached.settings().thresholds.transaction_overdue_share
    copies, every = record_evidence.counted_in_last_day(view, known), pipelines(view)
    begins = lag_answers.trend_begins(view, SPARK_POINTS)
    return (
        tiles.lag(group_lag(view), cluster_trend(view), begins, expired.now(view)),
        tiles.lost(known, record_evidence.comparisons(view), record_evidence.compared(view), view.to_ms),
        tiles.duplicates(copies, record_evidence.sampled(view), record_evidence.read(view, every), view.to_ms),
        tiles.replication(cached.now(view, queries.REPLICATION)),
        tiles.transactions(transaction_answers.found(view), share, transaction_answers.asked(view)),
    )


def chosen_group(view: View, asked: str | None) -> str | None:
    """The group of the link; without one, the group with the most lag that the search finds."""
    return asked if asked is not None else next((row["group_id"] for row in group_lag(view)), None)


def partition_lag(view: View, group_id: str) -> Rows:
    """Every partition of the group now, whatever is searched for; those of a topic it has left have no lag."""
    rows = cached.now(view, queries.PARTITION_LAG, group_id=group_id)
    return left_topics.marked(rows, left_topics.left_topics(view))


def found_partitions(view: View, group_id: str) -> Rows:
    """Those the search finds by topic and number; all of them where it finds the group itself or nothing."""
    rows = partition_lag(view, group_id)
    found = [row for row in rows if view.finds(f"{row['topic']}-{row['partition']}")]
    return rows if view.finds(group_id) or not found else found


def events(view: View, group_id: str) -> list[Mark]:
    """What happened to a group and its topics in the window: rebalances, leader changes, findings."""
    topics = {row["topic"] for row in partition_lag(view, group_id)}
    about = [
        one
        for one in found(view)
        if one.finding.place.group_id in (None, group_id) and one.finding.place.topic in topics
    ]
    return shapes.event_marks(
        [row for row in cached.in_window(view, queries.REBALANCES) if row["group_id"] == group_id],
        [row for row in cached.in_window(view, replication_questions.LEADER_CHANGES) if row["topic"] in topics],
        concerns.in_view(about, view),
    )


def rebalances(view: View) -> Rows:
    """Rebalances in the window that the search finds, the newest first."""
    rows = cached.in_window(view, queries.REBALANCES)
    return [row for row in rows if view.finds(row["group_id"], row["cause"])]


def rebalanced_group(view: View, asked: str | None) -> str | None:
    """The group of the selected rebalance (`group@time`); without one, of the newest that the search finds."""
    if asked is not None:
        return asked.rpartition("@")[0]
    return next((row["group_id"] for row in rebalances(view)), None)


def group_states(view: View, group_id: str) -> Rows:
    return cached.in_window(view, STATES, group_id=group_id)
