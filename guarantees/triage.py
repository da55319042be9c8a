"""One pass over the commits of a round, which may be a hundred thousand: the few that a rule has to look at."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from guarantees.epochs import is_beyond
from guarantees.lag import MARKER_SLACK
from guarantees.memory import Memory
from guarantees.observations import CommittedOffset, EpochEnd, GroupState, PartitionOffsets, Round
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown


class Reading(NamedTuple):
    """A known commit of this round, with the partition's trustworthy offsets where there are any."""

    key: GroupPartition
    commit: CommittedOffset
    committed_offset: int
    offsets: PartitionOffsets | None

    @property
    def readable(self) -> int | Unknown:
        """Offsets a read_committed consumer can read now; the isolation level cannot be observed, so never more."""
        if self.offsets is None:
            return Unknown("no trustworthy offsets in this round")
        start, end = self.offsets.log_start_offset, self.offsets.last_stable_offset
        if isinstance(start, Unknown):
            return start
        return end if isinstance(end, Unknown) else max(0, end - max(self.committed_offset, start))


@dataclass(frozen=True, slots=True)
class Fall:
    """A commit below the one known before, of the same topic, told by a coordinator that can be trusted."""

    key: GroupPartition
    before: CommittedOffset
    after: CommittedOffset
    old: int
    new: int


Lists = tuple[list[Reading], list[Reading], list[Reading], list[Reading]]


@dataclass(frozen=True, slots=True)
class Triage:
    """One pass over the commits: the few a rule has to look at. `commits` is what to remember.

    `beyond_epoch` lie past the end of the leader epoch they name; `carried` are the same as on a topic of another id.
    """

    commits: Mapping[GroupPartition, CommittedOffset]
    fallen: Sequence[Fall]
    behind: Sequence[Reading]
    ahead: Sequence[Reading]
    overtaken: Sequence[Reading]
    beyond_epoch: Sequence[Reading]
    carried: Sequence[Reading]


def known_reading(
    key: GroupPartition, observed: Round, offsets: Mapping[TopicPartition, PartitionOffsets]
) -> Reading | None:
    commit = observed.commits.get(key)
    if commit is None or commit.is_pending or not isinstance(commit.committed_offset, int):
        return None
    answer = offsets.get(key.topic_partition)
    is_same_topic = answer is not None and answer.topic_id == commit.topic_id
    return Reading(key, commit, commit.committed_offset, answer if is_same_topic else None)


def triage(
    before: Memory,
    observed: Round,
    offsets: Mapping[TopicPartition, PartitionOffsets],
    distrusted: Set[str],
    epoch_ends: Mapping[TopicPartition, Mapping[int, Sequence[EpochEnd]]],
) -> Triage:
    """One pass over the commits. A failed or pending answer changes nothing; "no commit" ends what was known.

    Share groups have no commits in this sense: they acknowledge out of order.
    """
    commits = dict(before.commits)
    fallen: list[Fall] = []
    carried: list[Reading] = []
    lists: Lists = ([], [], [], [])
    share = {g for g, state in observed.groups.items() if isinstance(state, GroupState) and state.group_type == "share"}
    for key, commit in observed.commits.items():
        value = commit.committed_offset
        if commit.is_pending or isinstance(value, Unknown) or key.group_id in share:
            continue
        is_trusted = key.group_id not in distrusted
        if value is None:
            if is_trusted:
                commits.pop(key, None)
            continue
        known = commits.get(key)
        fall = _fall(key, known, commit, value)
        if fall is not None and not is_trusted:
            continue
        if fall is not None:
            fallen.append(fall)
        carried += _carried(key, known, commit, value)
        commits[key] = commit
        partition = TopicPartition(key.topic, key.partition)
        answer = offsets.get(partition)
        if answer is not None and answer.topic_id == commit.topic_id and is_trusted:
            _sort_in(key, commit, value, answer, epoch_ends.get(partition), lists)
    return Triage(commits, fallen, *lists, carried)


def _fall(key: GroupPartition, known: CommittedOffset | None, commit: CommittedOffset, new: int) -> Fall | None:
    if known is None or known.topic_id != commit.topic_id:
        return None
    old = known.committed_offset
    return Fall(key, known, commit, old, new) if isinstance(old, int) and new < old else None


def _carried(
    key: GroupPartition, known: CommittedOffset | None, commit: CommittedOffset, value: int
) -> tuple[Reading, ...]:
    """The same commit as on a topic of the same name and another id."""
    if known is None or known.topic_id == commit.topic_id:
        return ()
    return (Reading(key, commit, value, None),) if known.committed_offset == value else ()


def _sort_in(
    key: GroupPartition,
    commit: CommittedOffset,
    value: int,
    answer: PartitionOffsets,
    epoch_ends: Mapping[int, Sequence[EpochEnd]] | None,
    lists: Lists,
) -> None:
    """Behind, ahead of the end, or overtaken by the log start, each only where the order of reading proves it; or past
    the end of the leader epoch the commit names.
    """
    behind, ahead, overtaken, beyond_epoch = lists
    start, stable, high = answer.log_start_offset, answer.last_stable_offset, answer.high_watermark
    if isinstance(start, int):
        if isinstance(stable, int) and stable - max(value, start) > MARKER_SLACK:
            behind.append(Reading(key, commit, value, answer))
        if start > value and answer.log_start_observed_at_ms <= commit.observed_at_ms:
            overtaken.append(Reading(key, commit, value, answer))
    if isinstance(high, int) and value > high and commit.observed_at_ms <= answer.observed_at_ms:
        ahead.append(Reading(key, commit, value, answer))
    if epoch_ends and _is_beyond_epoch(commit, value, epoch_ends):
        beyond_epoch.append(Reading(key, commit, value, answer))


def _is_beyond_epoch(commit: CommittedOffset, value: int, ends: Mapping[int, Sequence[EpochEnd]]) -> bool:
    """The commit lies past the end of the leader epoch it names, as last answered."""
    answers = () if commit.committed_leader_epoch is None else ends.get(commit.committed_leader_epoch, ())
    return bool(answers) and answers[-1].topic_id == commit.topic_id and is_beyond(value, answers[-1]) is True
