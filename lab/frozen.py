"""What is true of a partition whose stable offset stands because of an open transaction."""

from guarantees.findings import Grade, Kind
from lab.injected import Expected


def stable_offset_frozen(
    topic: str, start_offset: int, count: int, at_ms: int, waiting_group: str, **facts: object
) -> Expected:
    """`count` records of the transaction stand at partition 0 from `start_offset` on, where the group waits."""
    return Expected(
        kind=Kind.STABLE_OFFSET_FROZEN,
        topic=topic,
        partition=0,
        group_id=None,
        count=count,
        first_offset=start_offset,
        last_offset=start_offset,
        evidence_at_ms=at_ms,
        grade=Grade.PROVEN,
        facts={
            "start_offset": start_offset,
            "waiting_groups": [{"group_id": waiting_group, "committed_offset": start_offset}],
            **facts,
        },
    )
