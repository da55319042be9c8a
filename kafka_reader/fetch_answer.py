"""A Fetch answer taken from its bytes. Record batches stay where they arrived: the library copies them three times.

Layout: FetchResponse v12 to v18 (KIP-482); topics are named by id from v13 on (KIP-516).
"""

from dataclasses import dataclass
from uuid import UUID

from kafka_reader.batches import AbortedTransaction
from kafka_reader.undecoded import Uncopied
from kafka_reader.wire import Reader

OLDEST_VERSION = 12  # v12 by topic name; what the metadata request needs (topic ids) is as old
_BY_ID_SINCE = 13


@dataclass(frozen=True, slots=True)
class PartitionAnswer:
    """What a broker said of one partition; `topic` is its name, its id as text from v13 on."""

    topic: str
    partition: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: tuple[AbortedTransaction, ...]
    records: memoryview


@dataclass(frozen=True, slots=True)
class FetchAnswer:
    """`error_code` is of the whole answer: where it is not 0, there are no partitions."""

    error_code: int
    partitions: tuple[PartitionAnswer, ...]


def parse_fetch_answer(answer: Uncopied) -> FetchAnswer:
    """Raises UnreadableAnswerError."""
    reader = Reader(answer.data)
    reader.skip(4)  # throttle time
    error_code = reader.int16()
    reader.skip(4)  # session
    partitions: list[PartitionAnswer] = []
    for _ in range(reader.count()):
        partitions += _partitions_of_topic(reader, answer.version)
    return FetchAnswer(error_code, tuple(partitions))


def _partitions_of_topic(reader: Reader, version: int) -> list[PartitionAnswer]:
    topic = reader.name() if version < _BY_ID_SINCE else str(UUID(bytes=bytes(reader.taken(16))))
    found = [_partition(reader, topic) for _ in range(reader.count())]
    reader.skip_tags()
    return found


def _partition(reader: Reader, topic: str) -> PartitionAnswer:
    partition, error_code = reader.int32(), reader.int16()
    high_watermark, last_stable_offset, log_start_offset = reader.int64(), reader.int64(), reader.int64()
    aborted = tuple(_aborted(reader) for _ in range(reader.count()))
    reader.skip(4)  # preferred read replica
    records = reader.taken(max(0, reader.unsigned() - 1))  # null where there are none
    reader.skip_tags()
    return PartitionAnswer(
        topic, partition, error_code, high_watermark, last_stable_offset, log_start_offset, aborted, records
    )


def _aborted(reader: Reader) -> AbortedTransaction:
    found = AbortedTransaction(reader.int64(), reader.int64())
    reader.skip_tags()
    return found
