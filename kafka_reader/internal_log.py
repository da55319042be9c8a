"""Fetch for the topics that Kafka keeps its own state in: what is decided of many partitions, record by record."""

from collections.abc import Mapping
from dataclasses import dataclass

from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.batch_headers import CorruptBatchError
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_because
from kafka_reader.fetch import OFFSET_OUT_OF_RANGE, Part
from kafka_reader.fetch_answer import PartitionAnswer
from kafka_reader.header_fetch import log_start, partition_answers, tail_request
from kafka_reader.keyed_records import KeyedRecord, keyed_records
from kafka_reader.list_offsets import READ_COMMITTED


@dataclass(frozen=True, slots=True)
class FetchedLog:
    """The decided records from an offset on. `is_out_of_range`: the log does not hold that offset, or no longer.

    `missing`: offsets in between that compaction removed. What lies between the last stable offset and the high
    watermark waits for the end of a transaction.
    """

    records: tuple[KeyedRecord, ...]
    next_offset: int
    missing: int
    is_out_of_range: bool
    log_start_offset: int | Unknown
    last_stable_offset: int
    high_watermark: int
    observed_at_ms: int

    @property
    def is_at_end(self) -> bool:
        """Nothing is left to read and nothing waits for the end of a transaction."""
        return not self.is_out_of_range and self.next_offset >= self.high_watermark


def fetch_log(
    connections: Connections, positions_by_leader: Mapping[int, Mapping[Part, int]], max_bytes: int, timeout_s: float
) -> dict[Part, FetchedLog | Unknown]:
    """One request a leader, one entry per partition asked about; read_committed, so an aborted record is never seen.

    A leader fills its answer in the order of the partitions: who never comes first must not always come last.
    """
    requests = {
        leader: tail_request(positions, max_bytes, READ_COMMITTED) for leader, positions in positions_by_leader.items()
    }
    found: dict[Part, FetchedLog | Unknown] = {}
    for leader, answer in connections.send_all(requests, timeout_s).items():
        found |= parse_log(positions_by_leader[leader], answer)
    return found


def parse_log(positions: Mapping[Part, int], answer: Answer | CollectionError) -> dict[Part, FetchedLog | Unknown]:
    """A partition that failed, or whose batches are damaged, is Unknown and costs no other."""
    return {
        part: one if isinstance(one, Unknown) else _fetched(*one, positions[part])
        for part, one in partition_answers(positions, answer).items()
    }


def _fetched(part: PartitionAnswer, observed_at_ms: int, position: int) -> FetchedLog | Unknown:
    if part.error_code not in (0, OFFSET_OUT_OF_RANGE):
        return unknown_because(part.error_code)
    is_out_of_range = part.error_code == OFFSET_OUT_OF_RANGE
    try:
        found = keyed_records(b"" if is_out_of_range else part.records, part.aborted, position)
    except CorruptBatchError as exc:
        return Unknown(str(exc))
    return FetchedLog(
        found.records,
        found.next_offset,
        found.missing,
        is_out_of_range,
        log_start(part),
        part.last_stable_offset,
        part.high_watermark,
        observed_at_ms,
    )
