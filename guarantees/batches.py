"""What the headers of stored batches say: values read from a contiguous range, and the arithmetic of sequences."""

from dataclasses import dataclass
from enum import StrEnum

from guarantees.findings import Place
from guarantees.unknown import Unknown

# Sequence numbers wrap from 2147483647 to 0 (DefaultRecordBatch.incrementSequence).
SEQUENCES = 2**31


class Marker(StrEnum):
    """How a transaction ended on a partition (ControlRecordType)."""

    COMMIT = "commit"
    ABORT = "abort"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The header of a stored batch. Producer id, epoch and base sequence are None where the batch has none (−1).

    `crc` covers attributes to records, not the base offset nor the leader epoch: a byte-identical resend keeps it.
    `body_hash` is of the bytes after the 61-byte header: stamping at append changes the CRC, never the body.
    `records` is 0 in a batch that compaction emptied; it keeps its offsets and sequences.
    """

    base_offset: int
    last_offset: int
    records: int
    producer_id: int | None = None
    producer_epoch: int | None = None
    base_sequence: int | None = None
    leader_epoch: int
    is_transactional: bool = False
    marker: Marker | None = None
    coordinator_epoch: int | None = None
    crc: int
    body_hash: int
    size_bytes: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    is_log_append_time: bool = False

    @property
    def next_offset(self) -> int:
        return self.last_offset + 1

    @property
    def sequences(self) -> int:
        """How many sequence numbers the batch takes: one an offset, also of records that compaction removed."""
        return self.last_offset - self.base_offset + 1

    @property
    def last_sequence(self) -> int | None:
        return None if self.base_sequence is None else (self.base_sequence + self.sequences - 1) % SEQUENCES

    @property
    def is_data_of_producer(self) -> bool:
        """It carries sequences of an identified producer: markers and plain batches do not."""
        return self.marker is None and self.producer_id is not None and self.base_sequence is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderScan:
    """Every batch of one partition with an offset in [first_offset, next_offset).

    `producers_before`: the ids of which the leader kept state when the contiguous reading began (DescribeProducers).
    """

    place: Place
    first_offset: int
    next_offset: int
    batches: tuple[Batch, ...]
    log_start_offset: int | Unknown
    cleanup_policy: str | Unknown
    producers_before: frozenset[int] | Unknown
    observed_at_ms: int


def steps_ahead(sequence: int, of: int) -> int:
    """How far a sequence lies ahead of another, modulo 2^31: negative where it lies behind."""
    ahead = (sequence - of) % SEQUENCES
    return ahead if ahead < SEQUENCES // 2 else ahead - SEQUENCES
