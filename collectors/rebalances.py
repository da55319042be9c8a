"""Changes of members and ownership between two samples of a group."""

import json
from collections.abc import Mapping

from collectors.rows import Row
from guarantees.internal_records import SAMPLES
from guarantees.observations import GroupState
from guarantees.rebalances import Rebalance, is_settled, rebalance

TABLE = "rebalances"


def settled_states(before: Mapping[str, GroupState], now: Mapping[str, GroupState]) -> dict[str, GroupState]:
    """Of every group the newest sample outside a rebalance: the next one is compared with it."""
    return dict(before) | {group_id: state for group_id, state in now.items() if is_settled(state)}


def rebalances(before: Mapping[str, GroupState], now: Mapping[str, GroupState]) -> dict[str, Rebalance]:
    """What changed in each group; a static member that came back within its session is no rebalance."""
    changed = {group_id: rebalance(before[group_id], state) for group_id, state in now.items() if group_id in before}
    return {
        group_id: change for group_id, change in changed.items() if change is not None and not change.is_static_restart
    }


def rows(cluster_id: str, tick: int, found: Mapping[str, Rebalance]) -> list[Row]:
    return [
        {
            "cluster_id": cluster_id,
            "group_id": group_id,
            "tick": tick,
            **difference(change),
            "changed_after": change.changed_after_ms,
            "observed_at": change.observed_at_ms,
            "group_epoch": change.group_epoch,
            "source": SAMPLES,
        }
        for group_id, change in found.items()
    ]


def difference(change: Rebalance) -> Row:
    """What changed, whoever tells it."""
    return {
        "joined": json.dumps(change.joined),
        "left": json.dumps(change.left),
        "moved": json.dumps(
            [
                [move.partition.topic, move.partition.partition, move.old_member, move.new_member]
                for move in change.moved
            ]
        ),
        "cause": change.cause,
    }
