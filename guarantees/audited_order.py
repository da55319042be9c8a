"""What exact audits found of the order within keys: the input of the rule of order."""

from dataclasses import dataclass
from enum import StrEnum


class OrderCause(StrEnum):
    """Who stored the record that is out of order, beside who stored the one it is behind."""

    NOT_IDEMPOTENT = "not_idempotent"  # one of them has no producer id
    SAME_PRODUCER = "same_producer"  # the same producer id
    OTHER_PRODUCER = "other_producer"  # two writers of a key, or a restart


@dataclass(frozen=True, slots=True)
class OrderedRecord:
    """A stored record and its `place` in its key: the number, or the time, that is declared to rise.

    Producer id, epoch and sequence are None where the batch has none.
    """

    place: int
    offset: int
    timestamp_ms: int
    producer_id: int | None
    producer_epoch: int | None
    sequence: int | None


@dataclass(frozen=True, slots=True)
class OrderExample:
    """`later` is stored behind `earlier` and has the lower place. `key` is None where only hashes are stored."""

    key: str | None
    key_hash: int
    earlier: OrderedRecord
    later: OrderedRecord


@dataclass(frozen=True, slots=True)
class OrderGroup:
    """Records out of order on one partition that share cause and producer, over all audited windows.

    `first_offset` and `last_offset` are of those records; `nearest_offsets` and `farthest_offsets` say how far behind.
    `audited`: the offsets [first, following) that were compared; so many of their keys lie on several partitions.
    `window_ms`: begin and end of all windows; `decided_at_ms`: when the newest audit was done. `order`: what is
    declared to rise, in words.
    """

    pipeline: str
    cluster_id: str
    topic: str
    topic_id: str
    partition: int
    cause: OrderCause
    producer_id: int | None
    producer_epoch: int | None
    first_producer_ids: tuple[int, ...]
    out_of_order: int
    first_offset: int
    last_offset: int
    nearest_offsets: int
    farthest_offsets: int
    keys_elsewhere: int
    order: str
    window_ms: tuple[int, int]
    decided_at_ms: int
    horizon_s: float
    audited: tuple[tuple[int, int], ...]
    examples: tuple[OrderExample, ...]
