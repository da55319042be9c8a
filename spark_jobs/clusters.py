"""One watched cluster as the live job sees it: its connections, its plan of a round, and what reading it costs."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError
from settings import ClusterSettings
from spark_jobs.audited import AuditedTopic
from spark_jobs.budget import Mark, first_guesses, marked, newest_rates, speeds, topic_rate
from spark_jobs.ledger import Coverage
from spark_jobs.offsets import ClusterNow, fetch_cluster_now
from spark_jobs.ranges import OffsetRange, Part, Plan, plan
from spark_jobs.retries import Retries
from spark_jobs.samples import RangeRead
from spark_jobs.sampling import beyond
from spark_jobs.sources.kafka_ranges import RangeRequest

logger = logging.getLogger(__name__)


class AuditedCluster:
    """Asked once a round. What fails rests for a while, so nothing is retried hot."""

    def __init__(self, settings: ClusterSettings, topics: Iterable[AuditedTopic], round_s: float) -> None:
        self._settings = settings
        self._topics = {topic.topic: topic for topic in topics if topic.cluster == settings.name}
        self._budget_bytes = round(settings.max_bytes_per_s * max(1.0, round_s))
        self._connections = Connections(
            settings.bootstrap_servers, settings.security, request_timeout_s=settings.request_timeout_s
        )
        self._retries = Retries()
        self._bytes_per_offset: dict[str, float] = {}
        self._marks: Mapping[Part, Sequence[Mark]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connections.close()

    @property
    def name(self) -> str:
        return self._settings.name

    def topic(self, name: str) -> AuditedTopic:
        return self._topics[name]

    def look(self, coverage: Mapping[Part, Coverage], now_ms: int) -> ClusterNow | CollectionError:
        """Where its audited topics stand now; an error when no broker answers."""
        histories = {(part.cluster_id, part.topic_id) for part in coverage}
        try:
            return fetch_cluster_now(
                self._connections,
                self._topics.values(),
                covered=lambda part: part in coverage,
                known_history=lambda cluster_id, topic_id: (cluster_id, topic_id) in histories,
                now_ms=now_ms,
            )
        except CollectionError as exc:
            return exc

    def plan(self, now: ClusterNow, coverage: Mapping[Part, Coverage], now_ms: int) -> Plan:
        """The round's ranges; what failed lately rests."""
        resting = self._retries.resting((each.part for each in now.parts), now_ms)
        planned = plan(
            (each for each in now.parts if each.part not in resting),
            {part: covered.next_offset for part, covered in coverage.items()},
            budget_bytes=self._budget_bytes,
            bytes_per_offset=self._bytes_per_offset,
        )
        return replace(planned, waiting={**planned.waiting, **resting})

    def rates(self, now: ClusterNow, coverage: Mapping[Part, Coverage]) -> dict[str, float]:
        """By topic id, the share of ids that the round keeps; asked once for each look."""
        self._marks = marked(self._marks, now.parts)
        horizon_s = {name: topic.horizon_s for name, topic in self._topics.items()}
        # A topic's second look, and the rate it is read at, are surer than the guess of the first.
        guesses = first_guesses((each for each in now.parts if each.part not in coverage), horizon_s)
        known, current = speeds(self._marks), newest_rates(coverage)
        offsets_per_s = {**{each: guesses[each] for each in guesses if each not in current}, **known}
        names = {each.part.topic_id: each.part.topic for each in now.parts}
        return {
            each: topic_rate(self._topics[name].samplings, offsets_per_s.get(each), current.get(each))
            for each, name in names.items()
        }

    def request(self, planned: OffsetRange, rate: float, awaited: Iterable[int] = ()) -> RangeRequest:
        """A planned range with all a worker needs; `awaited` are hashes of ids that are kept at every rate."""
        topic = self.topic(planned.part.topic)
        return RangeRequest(
            range=planned,
            bootstrap_servers=self._settings.bootstrap_servers,
            security=self._settings.security,
            message_id=topic.message_id,
            rate=rate,
            awaited=beyond(awaited, rate),
            horizon_s=topic.horizon_s,
            store_ids=topic.store_ids,
            copies=topic.copies,
        )

    def note(self, read: RangeRead, now_ms: int) -> None:
        """Learn from an outcome: what an offset costs, and what has to rest."""
        part = read.range.part
        if read.account.error is not None:
            logger.warning("%s waits: %s", part, read.account.error)
        elif read.range.offsets:
            self._bytes_per_offset[part.topic_id] = max(1.0, read.account.bytes / read.range.offsets)
        self._retries.note(part, read.account.error, now_ms)
