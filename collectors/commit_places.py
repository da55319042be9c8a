"""Which group is read on which partition in a round, row by row, and where in the coordinators' answers each row is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.commit_columns import Span
from kafka_reader.offset_fetch import FetchedCommits, GroupCommits

# Partitions a group is known to read, by group: from earlier commits and assignments.
Reads = Mapping[str, frozenset[TopicPartition]]

# Rows that no answer holds: the group has no commit there, or nobody could say.
ABSENT, UNREAD = -1, -2

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Block:
    """One group on one topic: its partitions in order, and the row of each in its coordinator's answer."""

    group: int
    topic: str
    partitions: Ints
    rows: Ints


@dataclass(frozen=True, eq=False)
class Places:
    """Blocks laid out as rows; `former_keys` are those of the places before.

    The same as long as the answers keep their layouts and nobody reads anything else: then the keys, which cost most,
    are those of the round before.
    """

    groups: Sequence[str]
    blocks: Sequence[Block]
    made_of: tuple[object, ...]
    former_keys: Sequence[GroupPartition] = ()

    @cached_property
    def group(self) -> Ints:
        return np.repeat([block.group for block in self.blocks], self.sizes) if self.blocks else _NOTHING

    @cached_property
    def topics(self) -> list[str]:
        return sorted({block.topic for block in self.blocks})

    @cached_property
    def topic(self) -> Ints:
        numbers = {topic: number for number, topic in enumerate(self.topics)}
        return np.repeat([numbers[block.topic] for block in self.blocks], self.sizes) if self.blocks else _NOTHING

    @cached_property
    def partition(self) -> Ints:
        return np.concatenate([_NOTHING, *(block.partitions for block in self.blocks)])

    @cached_property
    def row(self) -> Ints:
        """In its group's answer; ABSENT or UNREAD."""
        return np.concatenate([_NOTHING, *(block.rows for block in self.blocks)])

    @cached_property
    def keys(self) -> list[GroupPartition]:
        """Those of the places before where they are the same: else the two would live on beside each other."""
        former = {key: key for key in self.former_keys}
        made = (
            GroupPartition(self.groups[block.group], block.topic, partition)
            for block in self.blocks
            for partition in block.partitions.tolist()
        )
        return [former.get(key, key) for key in made]

    @property
    def sizes(self) -> list[int]:
        return [len(block.rows) for block in self.blocks]


_NOTHING: Ints = np.empty(0, np.int64)


def places(
    fetched: Mapping[str, FetchedCommits], reads: Reads, watched: Sequence[TopicPartition], before: Places | None
) -> Places:
    """Of every group each watched partition of the topics it reads. `watched` is sorted."""
    made_of = (*_layouts(fetched), reads, watched)
    if before is not None and _are_the_same(before.made_of, made_of):
        return before
    of_topic = by_topic(watched)
    blocks = [
        block
        for number, (group_id, commits) in enumerate(fetched.items())
        for block in _blocks(number, commits, reads.get(group_id, frozenset()), of_topic)
    ]
    return Places(list(fetched), blocks, made_of, () if before is None else before.keys)


def by_topic(partitions: Sequence[TopicPartition]) -> dict[str, Ints]:
    """The numbers of the partitions of each topic, in order."""
    found: dict[str, list[int]] = {}
    for topic, partition in partitions:
        found.setdefault(topic, []).append(partition)
    return {topic: np.array(numbers, np.int64) for topic, numbers in found.items()}


def _layouts(fetched: Mapping[str, FetchedCommits]) -> Iterator[object]:
    """What decides the places: which groups, and how the answer of each is laid out."""
    for group_id, commits in fetched.items():
        yield group_id
        yield commits.partitions.spans if isinstance(commits.partitions, GroupCommits) else None


def _are_the_same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """The very same values, not equal ones: comparing a hundred thousand partitions costs more than it saves."""
    return len(one) == len(other) and all(
        a is b or (isinstance(a, str) and a == b) for a, b in zip(one, other, strict=True)
    )


def _blocks(
    number: int, commits: FetchedCommits, reads: frozenset[TopicPartition], of_topic: Mapping[str, Ints]
) -> Iterator[Block]:
    if isinstance(commits.partitions, Unknown):
        for topic, partitions in by_topic(sorted(reads)).items():
            known = np.intersect1d(partitions, of_topic.get(topic, _NOTHING))
            yield Block(number, topic, known, np.full(len(known), UNREAD, np.int64))
        return
    spans: dict[str, list[Span]] = {}
    for span in commits.partitions.spans.topics:
        spans.setdefault(span.topic, []).append(span)
    for topic in sorted(spans.keys() | {partition.topic for partition in reads}):
        if topic in of_topic:
            rows = _rows(commits.partitions, spans.get(topic, []), of_topic[topic])
            yield Block(number, topic, of_topic[topic], rows)


def _rows(commits: GroupCommits, spans: Sequence[Span], watched: Ints) -> Ints:
    """The row of each watched partition; ABSENT where the coordinator does not name it."""
    rows = np.concatenate([_NOTHING, *(np.arange(span.start, span.stop) for span in spans)])
    given = commits.columns.layout.partition[rows]
    if np.array_equal(given, watched):
        return rows
    row_of = dict(zip(given.tolist(), rows.tolist(), strict=True))
    return np.array([row_of.get(partition, ABSENT) for partition in watched.tolist()], np.int64)
