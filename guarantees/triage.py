"""One pass over the commits of a round, which may be a hundred thousand: the few that a rule has to look at."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from guarantees.epochs import is_beyond
from guarantees.findings import Kind
from guarantees.lag import MARKER_SLACK
from guarantees.memory import Memory, Silence
from guarantees.observations import SHARE, CommittedOffset, EpochEnd, GroupState, PartitionOffsets, Round
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown

# The newest answers about the end of each leader epoch asked for, by partition.
EpochEnds = Mapping[TopicPartition, Mapping[int, Sequence[EpochEnd]]]


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
class CommitMove:
    """A commit other than the one known before, of the same topic, told by a coordinator that can be trusted.

    `was_absent`: in between the group had no commit here, as an open finding says.
    """

    key: GroupPartition
    before: CommittedOffset
    after: CommittedOffset
    old: int
    new: int
    was_absent: bool = False


@dataclass(slots=True)
class Triage:
    """One pass over the commits: the few a rule has to look at. `commits` is what to remember.

    `fallen` and `raised` are moves backward, and forward where the group has no members, had no commit, or stood with
    work left; `gone` the former commits of those that are none now; `first` commits where none was known; `past_stable`
    commits beyond the last stable offset; `in_empty_groups` those of groups empty for so long that they may expire;
    `beyond_epoch` lie past the end of the leader epoch they name; `carried` are the same as on a topic of another id.
    """

    commits: dict[GroupPartition, CommittedOffset]
    fallen: list[CommitMove] = field(default_factory=list)
    raised: list[CommitMove] = field(default_factory=list)
    gone: list[tuple[GroupPartition, CommittedOffset]] = field(default_factory=list)
    first: list[Reading] = field(default_factory=list)
    pending: list[tuple[GroupPartition, CommittedOffset]] = field(default_factory=list)
    behind: list[Reading] = field(default_factory=list)
    ahead: list[Reading] = field(default_factory=list)
    overtaken: list[Reading] = field(default_factory=list)
    past_stable: list[Reading] = field(default_factory=list)
    in_empty_groups: list[Reading] = field(default_factory=list)
    beyond_epoch: list[Reading] = field(default_factory=list)
    carried: list[Reading] = field(default_factory=list)


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
    epoch_ends: EpochEnds,
    long_empty: Set[str],
) -> Triage:
    """One pass over the commits. A failed or pending answer changes nothing; "no commit" ends what was known.

    Share groups have no commits in this sense: they acknowledge out of order.
    """
    found = Triage(dict(before.commits))
    described = {g: state for g, state in observed.groups.items() if isinstance(state, GroupState)}
    share = {g for g, state in described.items() if state.group_type == SHARE}
    memberless = {g for g, state in described.items() if not state.members}
    context = Context(before.silences, _lapsed(before), offsets, distrusted, memberless, long_empty, epoch_ends)
    for key, commit in observed.commits.items():
        if key.group_id in share:
            continue
        value = commit.committed_offset
        if commit.is_pending:
            found.pending.append((key, commit))
        elif isinstance(value, int):
            _take(found, key, commit, value, context)
        elif value is None and key.group_id not in distrusted:
            _note_absence(found, key)
    return found


class Context(NamedTuple):
    """What a commit is compared with."""

    silences: Mapping[GroupPartition, Silence]
    lapsed: Mapping[GroupPartition, CommittedOffset]
    offsets: Mapping[TopicPartition, PartitionOffsets]
    distrusted: Set[str]
    memberless: Set[str]
    long_empty: Set[str]
    epoch_ends: EpochEnds


def _take(found: Triage, key: GroupPartition, commit: CommittedOffset, value: int, context: Context) -> None:
    """Called for each of a hundred thousand commits: looks up no more than it must."""
    known, is_trusted = found.commits.get(key), key.group_id not in context.distrusted
    last = context.lapsed.get(key) if known is None else known
    if last is not None and (last.committed_offset != value or last.topic_id != commit.topic_id):
        if last.topic_id == commit.topic_id and not _note_move(found, key, last, commit, value, context):
            return
        if last.topic_id != commit.topic_id and last.committed_offset == value:
            found.carried.append(Reading(key, commit, value, None))
    found.commits[key] = commit
    answer = context.offsets.get(TopicPartition(key.topic, key.partition)) if is_trusted else None
    if answer is not None and answer.topic_id == commit.topic_id:
        reading = Reading(key, commit, value, answer)
        if known is None:
            found.first.append(reading)
        _sort_in(found, reading, answer, context)


def _note_move(
    found: Triage, key: GroupPartition, last: CommittedOffset, commit: CommittedOffset, new: int, context: Context
) -> bool:
    """Whether the move can be believed: a fall told by a coordinator that cannot be trusted is none."""
    old, was_absent = last.committed_offset, key in context.lapsed
    if not isinstance(old, int):
        return True
    if new < old:
        if key.group_id in context.distrusted:
            return False
        found.fallen.append(CommitMove(key, last, commit, old, new, was_absent))
    elif was_absent or key.group_id in context.memberless or key in context.silences:
        found.raised.append(CommitMove(key, last, commit, old, new, was_absent))
    return True


def _lapsed(before: Memory) -> dict[GroupPartition, CommittedOffset]:
    """Commits that are gone, from the open findings that say so: what a group commits next follows on them."""
    found = {}
    for finding in before.open.values():
        place, evidence = finding.place, finding.evidence
        if finding.kind is Kind.COMMIT_EXPIRED and evidence.get("absent_since_ms") is not None:
            old, read_at_ms = evidence["committed_offset"], evidence["last_observed_at_ms"]
            if isinstance(old, int) and isinstance(read_at_ms, int) and place.group_id and place.topic:
                key = GroupPartition(place.group_id, place.topic, place.partition or 0)
                found[key] = CommittedOffset(place.topic_id, old, None, False, read_at_ms)
    return found


def _note_absence(found: Triage, key: GroupPartition) -> None:
    known = found.commits.pop(key, None)
    if known is not None:
        found.gone.append((key, known))


def _sort_in(found: Triage, reading: Reading, answer: PartitionOffsets, context: Context) -> None:
    if context.epoch_ends:
        ends = context.epoch_ends.get(reading.key.topic_partition)
        if ends and _is_beyond_epoch(reading.commit, reading.committed_offset, ends):
            found.beyond_epoch.append(reading)
    if context.long_empty and reading.key.group_id in context.long_empty:
        found.in_empty_groups.append(reading)
    _sort_by_offsets(found, reading, answer)


def _sort_by_offsets(found: Triage, reading: Reading, answer: PartitionOffsets) -> None:
    """Behind, past the stable end or the end, or overtaken by the log start, where the order of reading proves it."""
    commit, value = reading.commit, reading.committed_offset
    start, stable, high = answer.log_start_offset, answer.last_stable_offset, answer.high_watermark
    if isinstance(start, int):
        if isinstance(stable, int) and stable - max(value, start) > MARKER_SLACK:
            found.behind.append(reading)
        if start > value and answer.log_start_observed_at_ms <= commit.observed_at_ms:
            found.overtaken.append(reading)
    if commit.observed_at_ms > answer.observed_at_ms:
        return
    if isinstance(high, int) and value > high:
        found.ahead.append(reading)
    elif isinstance(stable, int) and value - stable > MARKER_SLACK:
        found.past_stable.append(reading)


def _is_beyond_epoch(commit: CommittedOffset, value: int, ends: Mapping[int, Sequence[EpochEnd]]) -> bool:
    """The commit lies past the end of the leader epoch it names, as last answered."""
    answers = () if commit.committed_leader_epoch is None else ends.get(commit.committed_leader_epoch, ())
    return bool(answers) and answers[-1].topic_id == commit.topic_id and is_beyond(value, answers[-1]) is True
