"""Spark data source `kafka_ranges`: sampled message ids of closed offset ranges, which few tasks share evenly.

Decoding, hashing and sampling happen in the worker. The ids that are kept cross to the JVM packed, as one binary value
for each answer of a broker: a row of its own for each id cost more there than all that the worker does for it. Those of
aborted records are marked; no read_committed reader is given them. Each range ends with one account row; a range that
could not be read completely has an account with an error, and its other rows mean nothing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from heapq import heappop, heappush
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from settings import MessageId, Secret, Security
from spark_jobs.ranges import OffsetRange, Part
from spark_jobs.sources.accounts import ACCOUNT_DDL

FORMAT = "kafka_ranges"
SCHEMA = f"range int, ids binary, account struct<{ACCOUNT_DDL}>"
# What is packed into `ids`: a record batch of Arrow's IPC format with these columns.
IDS = pa.schema(
    [
        ("offset", pa.int64()),
        ("id_hash", pa.int64()),
        ("message_id", pa.string()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int32()),
        ("sequence", pa.int32()),
        ("is_transactional", pa.bool_()),
        ("is_aborted", pa.bool_()),
        ("timestamp_ms", pa.int64()),
    ]
)
REQUEST_OFFSETS = 2_000  # what else could be read while a range is asked for


@dataclass(frozen=True, slots=True)
class RangeRequest:
    """A range and how its topic is audited: how ids are found, which share is kept, how far back copies are sought.

    `copies` of an id are meant to be there. Ids of `awaited` hashes are kept at every rate: the topic lacks them.
    `bytes_per_s` is what may be read of it in a second; None where the range itself was cut to what may be read.
    """

    range: OffsetRange
    bootstrap_servers: str
    security: Security
    message_id: MessageId
    rate: float
    horizon_s: float
    store_ids: bool
    copies: int = 1
    bytes_per_s: float | None = None
    awaited: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, given: Mapping[str, Any], awaited: Mapping[str, Sequence[int]]) -> "RangeRequest":
        """`awaited` is by topic id."""
        secrets = {name: Secret(**value) for name, value in given["security"].items() if isinstance(value, dict)}
        return cls(
            range=OffsetRange(**{**given["range"], "part": Part(**given["range"]["part"])}),
            bootstrap_servers=given["bootstrap_servers"],
            security=Security(**{**given["security"], **secrets}),
            message_id=MessageId(**given["message_id"]),
            rate=given["rate"],
            horizon_s=given["horizon_s"],
            store_ids=given["store_ids"],
            copies=given["copies"],
            bytes_per_s=given["bytes_per_s"],
            awaited=tuple(awaited.get(given["range"]["part"]["topic_id"], ())),
        )


def options(requests: Sequence[RangeRequest], tasks: int) -> dict[str, str]:
    """The data source's options; secrets travel as references, and each worker reveals them itself."""
    awaited = {request.range.part.topic_id: request.awaited for request in requests if request.awaited}
    ranges = [asdict(replace(request, awaited=())) for request in requests]  # once for a topic and not for each range
    return {"ranges": json.dumps(ranges), "awaited": json.dumps(awaited), "tasks": str(tasks)}


def shares(offsets: Sequence[int], tasks: int) -> list[list[int]]:
    """Which ranges each of at most so many tasks reads: about the same work for all, the longest range first.

    A range costs its offsets and a request. One that is longer than a share has a task of its own.
    """
    shared = [(0, number, list[int]()) for number in range(min(tasks, len(offsets)))]
    for number in sorted(range(len(offsets)), key=lambda each: (-offsets[each], each)):
        work, task, numbers = heappop(shared)
        heappush(shared, (work + offsets[number] + REQUEST_OFFSETS, task, [*numbers, number]))
    return [numbers for _, _, numbers in sorted(shared, key=lambda share: share[1])]


class KafkaRanges(DataSource):
    """`spark.read.format("kafka_ranges").options(**options(requests)).load()`"""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: Any) -> "KafkaRangesReader":
        return KafkaRangesReader(self.options["ranges"], self.options["awaited"], int(self.options["tasks"]))


class KafkaRangesReader(DataSourceReader):
    """Runs in the workers; Kafka is imported only there."""

    def __init__(self, requests: str, awaited: str, tasks: int) -> None:
        self._requests = requests
        self._awaited = awaited
        self._tasks = tasks

    def partitions(self) -> list[InputPartition]:
        offsets = [each["range"]["next_offset"] - each["range"]["first_offset"] for each in json.loads(self._requests)]
        return [InputPartition(numbers) for numbers in shares(offsets, self._tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # Spark runs one task even where there is nothing to read
            return iter(())
        from spark_jobs.sources.range_reading import read_requests  # imports Kafka: only where it is used

        requests, awaited = json.loads(self._requests), json.loads(self._awaited)
        return read_requests((number, RangeRequest.from_json(requests[number], awaited)) for number in partition.value)
