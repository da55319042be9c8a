"""Rows of the store as the facts a promise is inferred from and audited against; what no table tells is Unknown."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dashboard import promise_questions as questions
from dashboard import queries
from dashboard.queries import Question
from guarantees.observations import Coverage, Signal
from guarantees.pipeline_facts import Backlog, Commits, OpenTransaction, PipelineFacts, Producers, TopicFacts
from guarantees.promises import Pipeline
from guarantees.topic_settings import (
    CLEANUP_POLICY,
    RETENTION_MS,
    UNLIMITED,
    TopicSettings,
    is_unclean_election_enabled,
)
from guarantees.unknown import Unknown

Row = Mapping[str, Any]
Answers = Mapping[Question, Sequence[Row]]

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_VERSION = "transaction.version"
MINUTE_MS = 60_000

NOT_SEEN = Unknown("the topic was not seen in the newest round")
NO_COMMITS = Unknown("no commit was seen in the newest round")
NO_SAMPLES = Unknown("no records of it were sampled lately")
NO_IDS = Unknown("its message ids are not sampled")
NOT_READ = Unknown("the topic's settings were not read: that needs DESCRIBE_CONFIGS")
NO_FEATURES = Unknown("the cluster's features were not read in the newest round")
NOT_ASKED = Unknown("not asked for all pipelines at once")
NOTHING_SEEN = Unknown("nothing was observed yet")


class Seen:
    """The answers by topic and group, made once for all pipelines of a cluster."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._topics = {row["topic"]: row for row in answers.get(questions.TOPICS, ())}
        self._settings = {
            row["topic"]: json.loads(row["configuration"]) for row in answers.get(questions.CONFIGURATIONS, ())
        }
        self._producers = {row["topic"]: row for row in answers.get(questions.PRODUCERS_SEEN, ())}
        self._rates = {row["topic"]: float(row["rate"]) for row in answers.get(queries.SAMPLED, ())}
        self._lag = {(row["group_id"], row["topic"]): row for row in answers.get(queries.GROUP_LAG, ())}
        self._pending = {
            (row["group_id"], row["topic"]): row["observed_at_ms"]
            for row in answers.get(questions.PENDING_COMMITS, ())
        }  # fmt: skip
        self._coverage = {row["signal"]: row for row in answers.get(queries.COVERAGE, ())}
        self._facts_of_topics: dict[str, TopicFacts] = {}
        self._transactions = tuple(_transaction(row) for row in answers.get(questions.TRANSACTIONS_SEEN, ()))

    def facts(self, pipeline: Pipeline, coverage: Sequence[Coverage] = ()) -> PipelineFacts:
        """`coverage`: of the newest round, as far as it concerns the pipeline; what others may not see is no gap."""
        key = (pipeline.group_id, pipeline.source)
        return PipelineFacts(
            source=self._topic(pipeline.source),
            sink=None if pipeline.sink is None else self._topic(pipeline.sink),
            commits=self._commits(key),
            pending_commit_at_ms=self._pending.get(
                key, None if Signal.COMMITTED_OFFSETS in self._coverage else NOTHING_SEEN
            ),
            commit_moves=self._moves(),
            backlog=self._backlog(key),
            transactions=self._seen_transactions(),
            transaction_version=self._transaction_version(),
            refused=_refused(coverage),
        )

    def _topic(self, name: str) -> TopicFacts:
        """Made once: many groups read one topic."""
        if name not in self._facts_of_topics:
            self._facts_of_topics[name] = self._made_topic(name)
        return self._facts_of_topics[name]

    def _made_topic(self, name: str) -> TopicFacts:
        row, producers, settings = self._topics.get(name), self._producers.get(name), self._settings.get(name)
        is_unclean_allowed = is_unclean_election_enabled(settings)
        return TopicFacts(
            name=name,
            replication_factor=NOT_SEEN if row is None else int(row["replicas"]),
            min_insync_replicas=_min_insync_replicas(row),
            unclean_leader_election=NOT_READ if is_unclean_allowed is None else is_unclean_allowed,
            retention_ms=_retention_ms(settings),
            cleanup_policy=NOT_READ if settings is None else settings.get(CLEANUP_POLICY, NOT_READ),
            producers=NO_SAMPLES if producers is None else _producers(producers),
            sampling_rate=self._rates.get(name, NO_IDS),
        )

    def _commits(self, key: tuple[str, str]) -> Commits | Unknown:
        row = self._lag.get(key)
        if row is None:
            return NO_COMMITS
        return Commits(row["partitions"], row["without_commit"], row["unknown"], row["unknown_reason"])

    def _moves(self) -> tuple[int, int] | Unknown:
        if questions.COMMIT_MOVES not in self._answers:
            return NOT_ASKED
        rows = self._answers[questions.COMMIT_MOVES]
        return (rows[0]["moves"], rows[0]["over_ms"]) if rows else NO_COMMITS

    def _backlog(self, key: tuple[str, str]) -> Backlog | Unknown:
        """Unread offsets and how long the oldest of them has waited; withheld where a partition is unknown."""
        row = self._lag.get(key)
        if row is None or row["lag"] is None or row["unknown"]:
            return NO_COMMITS if row is None else Unknown(row["unknown_reason"] or "no lag is known")
        if row["lag"] == 0:
            return Backlog(0, 0, 0)
        if questions.UNREAD_SINCE not in self._answers or not self._coverage:
            return NOT_ASKED
        return _waiting(row["lag"], self._answers)

    def _transaction_version(self) -> int | Unknown:
        """A feature that is not in force is at level 0; where none is known, nobody said."""
        levels = {row["feature"]: row["level"] for row in self._answers.get(questions.FEATURES, ())}
        return int(levels.get(TRANSACTION_VERSION, 0)) if levels else NO_FEATURES

    def _seen_transactions(self) -> tuple[OpenTransaction, ...] | Unknown:
        row = self._coverage.get(Signal.TRANSACTIONS)
        if row is None:
            return Unknown("open transactions were not asked for")
        is_blind = row["answered"] < row["asked"] and not self._transactions
        return Unknown(row["error"] or "not every coordinator answered") if is_blind else self._transactions


def _refused(coverage: Sequence[Coverage]) -> Mapping[str, str] | Unknown:
    if not coverage:
        return NOTHING_SEEN
    # What the lists may leave out is nothing that the pipeline is known to need.
    refused = (known for known in coverage if known.refused and known.signal != Signal.RIGHTS)
    return {known.signal: known.error or "not permitted" for known in refused}


def _min_insync_replicas(row: Row | None) -> int | Unknown:
    if row is None:
        return NOT_SEEN
    if row["min_insync_replicas_unknown"] or row["min_insync_replicas"] is None:
        return Unknown("min.insync.replicas may not be read")
    return int(row["min_insync_replicas"])


def _retention_ms(settings: TopicSettings | None) -> int | None | Unknown:
    """None: kept for ever."""
    if settings is None or RETENTION_MS not in settings:
        return NOT_READ
    value = int(settings[RETENTION_MS])
    return None if value == UNLIMITED else value


def _producers(row: Row) -> Producers:
    return Producers(row["records"], row["idempotent"], row["transactional"])


def _transaction(row: Row) -> OpenTransaction:
    topics = frozenset(topic for topic, _ in json.loads(row["partitions"]))
    return OpenTransaction(row["transactional_id"], topics - {OFFSETS_TOPIC}, OFFSETS_TOPIC in topics)


def _waiting(unread: int, answers: Answers) -> Backlog:
    """At least since the end of the log was first seen beyond the commit; at most since a minute without any lag."""
    at_ms = max(row["observed_at_ms"] for row in answers[queries.COVERAGE])
    waits = answers[questions.UNREAD_SINCE]
    read = {row["partition"]: row["minute_ms"] for row in answers.get(questions.LAST_CAUGHT_UP, ())}
    at_least = max((at_ms - row["since_ms"] for row in waits), default=0)
    caught_up = [read.get(row["partition"]) for row in waits]
    known = [minute for minute in caught_up if minute is not None]
    is_bounded = len(known) == len(caught_up) > 0
    return Backlog(unread, max(0, at_least), max(0, at_least, at_ms - min(known)) if is_bounded else None)
