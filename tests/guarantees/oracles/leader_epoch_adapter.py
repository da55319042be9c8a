"""From the terms of Kafka's SubscriptionStateTest to ours: a consumer's position is what its group would commit."""

from typing import Any

from guarantees.observations import EpochEnd
from guarantees.unknown import Unknown

UNDEFINED = -1


def answered(case: dict[str, Any]) -> tuple[int, EpochEnd]:
    """The committed offset and the broker's answer about the epoch the commit names."""
    position, answer = case["position"], case["answer"]
    epoch, end = (
        Unknown("the log knows no such epoch") if value == UNDEFINED else value
        for value in (answer["leader_epoch"], answer["end_offset"])
    )
    return position["offset"], EpochEnd("id", position["leader_epoch"], epoch, end, 9, 1, 0)


def expected(case: dict[str, Any]) -> tuple[bool | None, int | None]:
    """Is the log cut below the position, and from where.

    The reset policy is the client's secret: a consumer with one goes to the divergent offset or resets in full, one
    without reports it, with the divergent offset or with none. An undefined answer locates nothing.
    """
    expect = case["expect"]
    if expect["full_reset"] or (expect["truncation_reported"] and expect["divergent_offset"] is None):
        return None, None
    divergent = expect["divergent_offset"] if expect["truncation_reported"] else expect["position"]
    return True, divergent["offset"]
