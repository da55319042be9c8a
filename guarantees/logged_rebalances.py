"""What a rebalance changed, out of two settled states of a group's records: more than samples can tell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from guarantees.group_history import CONSUMER, GroupChange, SettledGroup
from guarantees.internal_records import LoggedMember
from guarantees.observations import GroupState, Member
from guarantees.rebalances import Rebalance, rebalance

_WITHOUT_A_CHANGE = "the group epoch rose without a visible change of members or ownership"


@dataclass(frozen=True, slots=True)
class LoggedRebalance:
    """`rebalance` is what samples would show; the rest stands only in the records.

    `hosts` are members whose host changed, as (member id, old, new); `subscriptions` those whose topics changed, as
    (member id, topics it left, topics it added); the leaders are those of a classic group.
    """

    rebalance: Rebalance
    hosts: tuple[tuple[str, str, str], ...]
    subscriptions: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    leader_before: str | None
    leader: str | None
    epoch: int | None


def logged_rebalance(change: GroupChange) -> LoggedRebalance | None:
    """None where nothing changed, or no more than a static member coming back within its session."""
    seen = rebalance(_state(change.before, change), _state(change.after, change))
    if seen is None or seen.is_static_restart:
        return None
    before, after = change.before, change.after
    subscriptions = tuple(_subscriptions(_members(before), after))
    return LoggedRebalance(
        rebalance=replace(
            seen,
            cause=_cause(seen, after, has_new_topics=bool(subscriptions)),
            changed_after_ms=change.record.at_ms if change.began_at_ms is None else change.began_at_ms,
        ),
        hosts=tuple(
            (old.member_id, old.host, new.host)
            for new in after.members
            if (old := _members(before).get(new.member_id)) is not None and old.host != new.host
        ),
        subscriptions=subscriptions,
        leader_before=before.leader,
        leader=after.leader,
        epoch=after.epoch,
    )


def _state(group: SettledGroup, change: GroupChange) -> GroupState:
    """As a sample would show it; a generation counts as the epoch it is."""
    members = tuple(
        Member(each.member_id, each.group_instance_id, each.client_id, each.host, each.assignment)
        for each in group.members
    )
    return GroupState(group.group_type, "Stable", 0, members, group.epoch, group.epoch, change.record.at_ms)


def _members(group: SettledGroup) -> Mapping[str, LoggedMember]:
    return {member.member_id: member for member in group.members}


def _subscriptions(
    before: Mapping[str, LoggedMember], after: SettledGroup
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Where both are known: a sample shows none."""
    for new in after.members:
        old = before.get(new.member_id)
        if old is None or old.subscription is None or new.subscription is None:
            continue
        if old.subscription != new.subscription:
            left, added = old.subscription - new.subscription, new.subscription - old.subscription
            yield new.member_id, tuple(sorted(left)), tuple(sorted(added))


def _cause(seen: Rebalance, after: SettledGroup, *, has_new_topics: bool) -> str:
    if has_new_topics and not (seen.joined or seen.left):
        return "a member changed its subscription"
    if seen.cause == _WITHOUT_A_CHANGE and after.group_type != CONSUMER:
        return "the members joined again without a visible change of members or ownership"
    return seen.cause
