"""What brokers said of the offsets of many partitions: columns, and a value of each row for who looks at it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown

# In the columns, never outside of them.
_NO_EPOCH = -1
NO_LEADER_EPOCH = Unknown("the broker gave no leader epoch")


@dataclass(frozen=True, slots=True)
class ListedOffset:
    """What one broker said of one partition. `leader_epoch` is the answering replica's current one."""

    offset: int | Unknown
    leader_epoch: int | Unknown
    broker: int | None
    requested_at_ms: int | None
    observed_at_ms: int


@dataclass(frozen=True, eq=False)
class ListedOffsets(Mapping[TopicPartition, ListedOffset]):
    """Offsets as columns, made into values one by one when looked at.

    `unknown` says by row why there is no offset; elsewhere `offset` is one. An epoch below 0 was not given. `broker`,
    `requested_at_ms` and `observed_at_ms` are those of the row's answer, the first two below 0 where none came.
    """

    partitions: Sequence[TopicPartition]
    offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int32]
    unknown: Mapping[int, Unknown]
    broker: NDArray[np.int32]
    requested_at_ms: NDArray[np.int64]
    observed_at_ms: NDArray[np.int64]

    @property
    def offsets_or_reasons(self) -> list[int | Unknown]:
        """The offset of each row, or why there is none."""
        return self._with_reasons(self.offset.tolist())

    @property
    def epochs_or_reasons(self) -> list[int | Unknown]:
        """The leader epoch of each row; where there is no offset, there is none either."""
        return self._with_reasons([epoch(given) for given in self.leader_epoch.tolist()])

    def _with_reasons(self, values: list[int | Unknown]) -> list[int | Unknown]:
        for row, why in self.unknown.items():
            values[row] = why
        return values

    @cached_property
    def row_of(self) -> dict[TopicPartition, int]:
        return {partition: row for row, partition in enumerate(self.partitions)}

    def __getitem__(self, partition: TopicPartition) -> ListedOffset:
        row = self.row_of[partition]
        offset: int | Unknown = self.unknown.get(row) or int(self.offset[row])
        given = offset if isinstance(offset, Unknown) else epoch(int(self.leader_epoch[row]))
        broker, requested_at_ms = int(self.broker[row]), int(self.requested_at_ms[row])
        return ListedOffset(
            offset,
            given,
            broker if broker >= 0 else None,
            requested_at_ms if requested_at_ms >= 0 else None,
            int(self.observed_at_ms[row]),
        )

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self.partitions)

    def __len__(self) -> int:
        return len(self.partitions)


def without_answer(reasons: Mapping[TopicPartition, Unknown], observed_at_ms: int) -> ListedOffsets:
    """Rows for partitions nobody has answered for; the time is when that was known."""
    number = len(reasons)
    return ListedOffsets(
        tuple(reasons),
        np.zeros(number, np.int64),
        np.full(number, _NO_EPOCH, np.int32),
        dict(enumerate(reasons.values())),
        np.full(number, -1, np.int32),
        np.full(number, -1, np.int64),
        np.full(number, observed_at_ms, np.int64),
    )


def epoch(leader_epoch: int) -> int | Unknown:
    """As a value: brokers give −1 where they know none."""
    return leader_epoch if leader_epoch >= 0 else NO_LEADER_EPOCH


def joined(parts: Sequence[ListedOffsets]) -> ListedOffsets:
    """The rows of several answers, one after another."""
    if not parts:
        return without_answer({}, 0)
    first_rows = np.cumsum([0, *map(len, parts)])
    return ListedOffsets(
        tuple(partition for part in parts for partition in part.partitions),
        np.concatenate([part.offset for part in parts]),
        np.concatenate([part.leader_epoch for part in parts]),
        {
            int(first) + row: why
            for first, part in zip(first_rows, parts, strict=False)
            for row, why in part.unknown.items()
        },
        np.concatenate([part.broker for part in parts]),
        np.concatenate([part.requested_at_ms for part in parts]),
        np.concatenate([part.observed_at_ms for part in parts]),
    )


def in_order(
    listed: ListedOffsets, partitions: Sequence[TopicPartition], missing: Unknown, observed_at_ms: NDArray[np.int64]
) -> ListedOffsets:
    """The rows of these partitions; `missing` stands where there is none, as of `observed_at_ms`."""
    if listed.partitions == partitions:
        return listed
    rows = np.array([listed.row_of.get(partition, -1) for partition in partitions], np.int64)
    nobody = without_answer(dict.fromkeys(partitions, missing), 0)
    is_there = rows >= 0
    if not is_there.any():
        return replace(nobody, observed_at_ms=observed_at_ms)
    return ListedOffsets(
        partitions,
        *(
            np.where(is_there, having[rows], without)
            for having, without in ((listed.offset, nobody.offset), (listed.leader_epoch, nobody.leader_epoch))
        ),
        {
            row: listed.unknown.get(found, missing)
            for row, found in enumerate(rows.tolist())
            if found < 0 or found in listed.unknown
        },
        np.where(is_there, listed.broker[rows], nobody.broker),
        np.where(is_there, listed.requested_at_ms[rows], nobody.requested_at_ms),
        np.where(is_there, listed.observed_at_ms[rows], observed_at_ms),
    )
