"""Reading one range in a worker of an audit: as far as there is time, and knowing how far it got."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.batch_headers import CorruptBatchError
from kafka_reader.batches import Records
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError
from kafka_reader.fetch import Fetched, OffsetsGoneError
from kafka_reader.list_offsets import fetch_offsets, log_start_request
from spark_jobs.audits.blocks import Account
from spark_jobs.sources.kafka_ranges import RangeRequest
from spark_jobs.sources.open_clusters import OpenClusters
from spark_jobs.sources.range_reading import MAX_BYTES, answers, decoded, in_range_of

R = TypeVar("R", bound=Records)

MOST_IDS = 500_000  # kept before they are written: about 25 MB, and as much again while they are


@dataclass(slots=True)
class Reading(Generic[R]):
    """Reads a range and knows how far it got. Ends at the range's end, with `error`, or with `purged_to`.

    `purged_to`: the log start has moved past where the reading would have gone on; nothing below it is stored.
    """

    request: RangeRequest
    clusters: OpenClusters
    decoded: Callable[[Fetched], R]
    max_bytes: int = MAX_BYTES
    reached: int = field(init=False)
    purged_to: int | None = field(init=False, default=None)
    error: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.reached = self.first

    @property
    def first(self) -> int:
        return self.request.range.first_offset

    @property
    def offsets(self) -> int:
        return self.reached - self.first

    def pass_purged(self, window: tuple[int, int]) -> int:
        """Go on behind what is gone, if anything is; how many offsets of the window that were."""
        if self.purged_to is None:
            return 0
        gone = max(0, min(window[1], self.purged_to) - max(window[0], self.reached))
        self.reached = self.purged_to
        return gone

    def __iter__(self) -> Iterator[tuple[R, np.ndarray]]:
        """Records of one answer after another, with those inside the range."""
        try:
            connections = self.clusters.connections(self.request)
            try:
                yield from self._records(connections)
            except OffsetsGoneError as exc:
                self._note_purge(connections, exc)
        except (CollectionError, CorruptBatchError) as exc:
            self.error = str(exc)

    def _records(self, connections: Connections) -> Iterator[tuple[R, np.ndarray]]:
        end = self.request.range.next_offset
        for fetched in answers(connections, self.request, self.max_bytes):
            records = self.decoded(fetched)
            # Where the answer ends in emptied batches a little of it is read again; one of nothing else is passed.
            self.reached = max(self.reached, min(end, int(records.offset[-1]) + 1 if len(records) else 0))
            yield records, in_range_of(records, self.request)
        self.reached = end

    def _note_purge(self, connections: Connections, gone: OffsetsGoneError) -> None:
        """The log start now, where it explains what is gone."""
        wanted = self.request.range
        place = TopicPartition(wanted.part.topic, wanted.part.partition)
        answer = fetch_offsets(connections, {wanted.leader: log_start_request([place])})[wanted.leader][place].offset
        if isinstance(answer, Unknown) or answer <= self.reached:
            self.error = str(gone) if not isinstance(answer, Unknown) else f"{gone}; log start: {answer.reason}"
        else:
            self.purged_to = min(answer, wanted.next_offset)


def of_ids(request: RangeRequest, clusters: OpenClusters, max_bytes: int = MAX_BYTES) -> Reading[Records]:
    """Records with the ids that the request asks for."""
    return Reading(request, clusters, lambda fetched: decoded(fetched, request.message_id), max_bytes)


def account_of(records: Records, in_range: np.ndarray, window: tuple[int, int], compared: int) -> Account:
    """What the offsets of the window hold, of one answer."""
    here = in_range & (records.offset >= window[0]) & (records.offset < window[1])
    visible = here & records.is_visible
    return Account(
        visible=int(visible.sum()),
        without_id=int((visible & ~records.has_id).sum()),
        not_json=int((visible & records.is_not_json).sum()),
        aborted=int((here & records.is_aborted).sum()),
        markers=int((here & records.is_control).sum()),
        compared=compared,
    )
