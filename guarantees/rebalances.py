"""What changed in a group between two samples: who joined and left, which partitions moved, and why, as far as seen."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from guarantees.observations import SHARE, GroupState, Member
from guarantees.places import TopicPartition

# While a classic group rebalances, its description lists members without their assignments. Dead is also what a group
# looks like that was asked in another protocol's words.
_UNSETTLED = frozenset({"PreparingRebalance", "CompletingRebalance", "Dead", "Unknown"})


@dataclass(frozen=True, slots=True)
class Move:
    """A partition that changed hands. A member id is None where nobody owns the partition."""

    partition: TopicPartition
    old_member: str | None
    new_member: str | None


@dataclass(frozen=True, slots=True)
class Rebalance:
    """A change of members or ownership. `restarted`: static members that came back as (old, new) member id.

    The change happened after `changed_after_ms` and no later than `observed_at_ms`. `cause` is inferred from the
    difference: whether a member left by timeout, crash or request, and the broker's own reason, cannot be observed.
    """

    joined: tuple[str, ...]
    left: tuple[str, ...]
    restarted: tuple[tuple[str, str], ...]
    moved: tuple[Move, ...]
    cause: str
    changed_after_ms: int
    observed_at_ms: int
    group_epoch: int | None

    @property
    def is_static_restart(self) -> bool:
        """Static members came back within their session and nothing else changed: no rebalance in Kafka's sense."""
        return bool(self.restarted) and not (self.joined or self.left or self.moved)


def is_settled(state: GroupState) -> bool:
    """Members and assignments can be believed: not while a classic group rebalances, nor where it looks dead."""
    return state.state not in _UNSETTLED


def rebalance(before: GroupState, after: GroupState) -> Rebalance | None:
    """The difference of two samples, or None where nothing changed or the later one is not settled yet.

    Give as `before` the last settled sample: then a rebalance that spans several samples is seen once, whole, and a
    cooperative rebalance whose members keep their partitions moves nothing.
    """
    if not (is_settled(before) and is_settled(after)):
        return None
    if before.members == after.members and before.group_epoch == after.group_epoch:
        return None
    old, new = {_identity(m): m for m in before.members}, {_identity(m): m for m in after.members}
    joined = tuple(sorted(new[name].member_id for name in new.keys() - old.keys()))
    left = tuple(sorted(old[name].member_id for name in old.keys() - new.keys()))
    restarted = tuple(
        sorted(
            (old[name].member_id, new[name].member_id)
            for name in old.keys() & new.keys()
            if old[name].member_id != new[name].member_id
        )
    )
    moved = _moves(before, after, dict(restarted))
    has_new_epoch = _rose(before.group_epoch, after.group_epoch)
    if not (joined or left or restarted or moved or has_new_epoch):
        return None
    return Rebalance(
        joined=joined,
        left=left,
        restarted=restarted,
        moved=moved,
        cause=_cause(joined=joined, left=left, restarted=restarted, moved=moved, is_empty=not after.members),
        changed_after_ms=before.observed_at_ms,
        observed_at_ms=after.observed_at_ms,
        group_epoch=after.group_epoch,
    )


def _identity(member: Member) -> tuple[str, str]:
    """A static member keeps its identity over a restart; any other is its member id."""
    if member.group_instance_id is not None:
        return "static", member.group_instance_id
    return "dynamic", member.member_id


def _owners(members: Iterable[Member]) -> dict[TopicPartition, str]:
    return {partition: member.member_id for member in members for partition in member.assignment}


def _moves(before: GroupState, after: GroupState, restarted: Mapping[str, str]) -> tuple[Move, ...]:
    """In a share group several members hold a partition: none changes hands (KIP-932)."""
    if SHARE in (before.group_type, after.group_type):
        return ()
    old, new = _owners(before.members), _owners(after.members)
    return tuple(
        Move(partition, old.get(partition), new.get(partition))
        for partition in sorted(old.keys() | new.keys())
        if _same_person(old.get(partition), restarted) != new.get(partition)
    )


def _same_person(member_id: str | None, restarted: Mapping[str, str]) -> str | None:
    return None if member_id is None else restarted.get(member_id, member_id)


def _rose(before: int | None, after: int | None) -> bool:
    return before is not None and after is not None and after > before


def _cause(
    *,
    joined: tuple[str, ...],
    left: tuple[str, ...],
    restarted: tuple[tuple[str, str], ...],
    moved: tuple[Move, ...],
    is_empty: bool,
) -> str:
    if left and is_empty:
        return "all members left"
    if left and joined:
        return f"{_members(left)} left, {_members(joined)} joined"
    if left:
        return f"{_members(left)} left (by timeout, crash or request: not observable)"
    if joined:
        return f"{_members(joined)} joined"
    if moved:
        return "partitions moved among the same members (subscription, partition count or assignment changed)"
    if restarted:
        return "a static member restarted within its session"
    return "the group epoch rose without a visible change of members or ownership"


def _members(ids: tuple[str, ...]) -> str:
    return "1 member" if len(ids) == 1 else f"{len(ids)} members"
