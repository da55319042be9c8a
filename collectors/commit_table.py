"""The commits of a round as columns: what each coordinator answered, in the order of the places."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collectors.columns import flags
from collectors.commit_places import ABSENT, UNREAD, Ints, Places
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.commit_columns import CommitColumns
from kafka_reader.offset_fetch import PENDING, FetchedCommits, GroupCommits, why_no_offset


@dataclass(frozen=True, slots=True, eq=False)
class Commits:
    """The commits of a round, row by row as `places` has them.

    `unknown` says by row why there is no offset, None where the group has none; elsewhere `offset` is one. An epoch
    below 0 is not known.
    """

    places: Places
    fetched: Mapping[str, FetchedCommits]
    offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int32]
    unknown: Mapping[int, Unknown | None]

    @property
    def is_unknown(self) -> NDArray[np.bool_]:
        return flags(len(self.offset), list(self.unknown))

    @property
    def is_pending(self) -> NDArray[np.bool_]:
        return flags(len(self.offset), [row for row, why in self.unknown.items() if why is PENDING])


def commits(places: Places, fetched: Mapping[str, FetchedCommits]) -> Commits:
    """The rows of all answers in the order of the places."""
    answers = answers_of(fetched)
    offset, epoch, error = (_all(answers, name) for name in ("committed_offset", "leader_epoch", "error_code"))
    is_read = places.row >= 0
    rows = (_first_rows(answers, fetched)[places.group] + places.row)[is_read]
    offsets, epochs = np.zeros(len(is_read), np.int64), np.full(len(is_read), -1, np.int32)
    offsets[is_read], epochs[is_read] = offset[rows], epoch[rows]
    unknown = {**_unread(places, fetched), **_failed(np.flatnonzero(is_read), rows, answers, offset, error)}
    epochs[list(unknown)] = -1
    return Commits(places, fetched, offsets, epochs, unknown)


def answers_of(fetched: Mapping[str, FetchedCommits]) -> list[CommitColumns]:
    """Each coordinator's once."""
    found = [commits.partitions.columns for commits in fetched.values() if isinstance(commits.partitions, GroupCommits)]
    return list({id(columns): columns for columns in found}.values())


def _all(answers: Iterable[CommitColumns], name: str) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, np.int64), *(getattr(columns, name) for columns in answers)])


def _first_rows(answers: Iterable[CommitColumns], fetched: Mapping[str, FetchedCommits]) -> Ints:
    """Of each group: where its coordinator's answer begins when all are joined."""
    first, first_of = 0, {}
    for columns in answers:
        first_of[id(columns)] = first
        first += len(columns.error_code)
    return np.array(
        [
            first_of[id(commits.partitions.columns)] if isinstance(commits.partitions, GroupCommits) else 0
            for commits in fetched.values()
        ],
        np.int64,
    )


def _unread(places: Places, fetched: Mapping[str, FetchedCommits]) -> dict[int, Unknown | None]:
    found: dict[int, Unknown | None] = dict.fromkeys(np.flatnonzero(places.row == ABSENT).tolist())
    for row in np.flatnonzero(places.row == UNREAD).tolist():
        why = fetched[places.groups[int(places.group[row])]].partitions
        found[row] = why if isinstance(why, Unknown) else None
    return found


def _failed(
    places_read: Ints, rows: Ints, answers: list[CommitColumns], offset: Ints, error: Ints
) -> dict[int, Unknown | None]:
    """Of the rows that were read, those without an offset."""
    is_missing = (error[rows] != 0) | (offset[rows] < 0)
    return {
        place: why_no_offset(int(error[row]))
        for place, row in zip(places_read[is_missing].tolist(), rows[is_missing].tolist(), strict=True)
    }


def named_epochs(found: Commits) -> set[tuple[TopicPartition, int]]:
    """The leader epochs that commits on each partition name."""
    has_epoch, places = found.leader_epoch >= 0, found.places
    if not has_epoch.any():
        return set()
    topic, partition, epoch = places.topic[has_epoch], places.partition[has_epoch], found.leader_epoch[has_epoch]
    # As one number each: to find the different ones among rows of three takes ten times as long.
    partitions, epochs = int(partition.max()) + 1, int(epoch.max()) + 1
    different = np.unique((topic * partitions + partition) * epochs + epoch)
    where, epoch = np.divmod(different, epochs)
    topic, partition = np.divmod(where, partitions)
    return {
        (TopicPartition(places.topics[a_topic], a_partition), an_epoch)
        for a_topic, a_partition, an_epoch in zip(topic.tolist(), partition.tolist(), epoch.tolist(), strict=True)
    }
