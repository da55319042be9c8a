"""Spark data source `kafka_ranges`: sampled message ids of closed offset ranges, one Spark partition per range.

Decoding, hashing and sampling happen in the worker: only kept ids cross to the JVM, those of aborted records marked,
which no read_committed reader is given. Each range ends with one account
row; a range that could not be read completely has an account with an error, and its other rows mean nothing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from settings import MessageId, Secret, Security
from spark_jobs.ranges import OffsetRange, Part
from spark_jobs.sources.accounts import ACCOUNT_DDL

FORMAT = "kafka_ranges"
SCHEMA = (
    "range int, offset bigint, id_hash bigint, message_id string, producer_id bigint, producer_epoch int, "
    f"sequence int, is_transactional boolean, is_aborted boolean, timestamp_ms bigint, account struct<{ACCOUNT_DDL}>"
)


@dataclass(frozen=True, slots=True)
class RangeRequest:
    """A range and how its topic is audited: how ids are found, which share is kept, how far back copies are sought.

    `copies` of an id are meant to be there. `bytes_per_s` is what may be read of it in a second; None where
    the range itself was cut to what may be read.
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

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "RangeRequest":
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
        )


def options(requests: Sequence[RangeRequest]) -> dict[str, str]:
    """The data source's options; secrets travel as references, and each worker reveals them itself."""
    return {"ranges": json.dumps([asdict(request) for request in requests])}


class KafkaRanges(DataSource):
    """`spark.read.format("kafka_ranges").options(**options(requests)).load()`"""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: Any) -> "KafkaRangesReader":
        return KafkaRangesReader(self.options["ranges"])


class KafkaRangesReader(DataSourceReader):
    """Runs in the workers; Kafka is imported only there."""

    def __init__(self, requests: str) -> None:
        self._requests = requests

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(number) for number in range(len(json.loads(self._requests)))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # Spark runs one task even where there is nothing to read
            return iter(())
        from spark_jobs.sources.range_reading import read_request  # imports Kafka: only where it is used

        request = RangeRequest.from_json(json.loads(self._requests)[partition.value])
        return read_request(partition.value, request)
