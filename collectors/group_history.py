"""Rebalances as their coordinators wrote them, and which groups they are told of: samples then need not tell them."""

import json
from collections.abc import Iterable, Mapping

from collectors.log_rows import place
from collectors.rebalances import difference
from collectors.rows import Row
from guarantees.group_history import CLASSIC, CONSUMER, Followed, FollowedGroup, GroupChange, SettledGroup, of_sample
from guarantees.internal_records import CONSUMER_OFFSETS, LoggedMember
from guarantees.logged_rebalances import LoggedRebalance, logged_rebalance
from guarantees.observations import GroupState

# A group that settles is told as a whole. One that does not within this time is told by its samples as well.
UNSETTLED_MS = 60_000
_TYPES = frozenset({CLASSIC, CONSUMER})


def rows(cluster_id: str, tick: int, changes: Iterable[GroupChange], read_at_ms: Mapping[int, int]) -> list[Row]:
    """`read_at_ms`: when each partition of the log was read. A change that is no rebalance is left out."""
    told = ((change, logged_rebalance(change)) for change in changes)
    return [
        _row(cluster_id, tick, change, found, read_at_ms[change.record.partition])
        for change, found in told
        if found is not None
    ]


def _row(cluster_id: str, tick: int, change: GroupChange, found: LoggedRebalance, read_at_ms: int) -> Row:
    is_classic = change.after.group_type == CLASSIC
    lies = place(change.record, read_at_ms)
    return {
        "cluster_id": cluster_id,
        "group_id": change.group_id,
        "tick": tick,
        **difference(found.rebalance),
        "changed_after": min(max(0, found.rebalance.changed_after_ms), int(str(lies["observed_at"]))),
        "group_epoch": None if is_classic else found.epoch,
        "generation": found.epoch if is_classic else None,
        "source": CONSUMER_OFFSETS,
        "hosts": json.dumps(found.hosts),
        "subscriptions": json.dumps(found.subscriptions),
        "group_leader_before": found.leader_before,
        "group_leader": found.leader,
        **lies,
    }


def with_sampled(followed: Followed, sampled: Mapping[str, GroupState]) -> dict[str, FollowedGroup]:
    """And the groups that a sample shows settled: their records are followed from here on."""
    begun = {
        name: of_sample(_settled(state))
        for name, state in sampled.items()
        if followed.get(name, FollowedGroup()).settled is None and _is_whole(state)
    }
    return {**followed, **begun}


def told_by_records(followed: Followed, now_ms: int) -> frozenset[str]:
    """Groups whose rebalances are all known from their records, or will be once they settle."""
    return frozenset(
        name
        for name, group in followed.items()
        if group.settled is not None and (group.began_at_ms is None or now_ms - group.began_at_ms < UNSETTLED_MS)
    )


def _is_whole(state: GroupState) -> bool:
    """Settled, of a type whose records are read, and every member at the group's own epoch."""
    if state.group_type not in _TYPES or state.state not in ("Stable", "Empty"):
        return False
    if state.group_type == CLASSIC or not state.members:
        return True
    epochs = {member.member_epoch for member in state.members}
    return epochs == {state.group_epoch} and state.assignment_epoch == state.group_epoch


def _settled(state: GroupState) -> SettledGroup:
    """A sample shows neither subscriptions nor who leads, and no generation."""
    members = tuple(
        LoggedMember(each.member_id, each.group_instance_id, each.client_id, each.host, None, each.assignment)
        for each in sorted(state.members, key=lambda member: member.member_id)
    )
    return SettledGroup(state.group_type, state.group_epoch, None, members)
