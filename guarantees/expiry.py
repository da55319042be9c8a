"""When a committed offset expires (C8): Kafka's own rule (KIP-211, offsetExpirationCondition of its groups) ahead."""

from dataclasses import dataclass

from guarantees.observations import SHARE, GroupState
from guarantees.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Never:
    """The commit does not expire while things stay as they are, and why. Known, unlike Unknown."""

    reason: str


PENDING = Never("a transactional commit that awaits its marker blocks expiry")
SUBSCRIBED = Never("the group is subscribed to the topic")
NO_COMMITS = Never("a share group has no commits")
EMPTIED_UNSEEN = Unknown("since when the group is empty was not seen")
LOOKS_DEAD = Unknown("the group looks dead: gone, or described in another protocol's words")


def expires_at_ms(
    state: GroupState | Unknown | None,
    *,
    is_subscribed: bool | Unknown,
    committed_at_ms: int | Unknown,
    empty_since_ms: int | None,
    is_pending: bool,
    retention_ms: int,
) -> int | Never | Unknown:
    """From when on the broker's next check (every 10 minutes by default) removes the commit, in ms since 1970, UTC.

    `state` is None for a group without a protocol type (a simple consumer that assigns its partitions itself): its
    commits expire while it runs. `is_subscribed`: some member of the group is subscribed to the commit's topic.
    The coordinator knows when it stored a commit, an answer of OffsetFetch does not say: from the time at which the
    commit was first seen the result is too early by every later repetition of it, and too late by one sampling
    interval at most.
    """
    if is_pending:
        return PENDING
    base = _counted_from(state, is_subscribed, committed_at_ms, empty_since_ms)
    return base + retention_ms if isinstance(base, int) else base


def _counted_from(
    state: GroupState | Unknown | None,
    is_subscribed: bool | Unknown,
    committed_at_ms: int | Unknown,
    empty_since_ms: int | None,
) -> int | Never | Unknown:
    """An empty classic group ages as a whole; else a commit ages by itself, unless its topic is subscribed to."""
    if state is None or isinstance(state, Unknown):
        return committed_at_ms if state is None else state
    if state.group_type == SHARE:
        return NO_COMMITS
    if state.state in ("Dead", "Unknown"):
        return LOOKS_DEAD
    if state.group_type == "classic" and state.state == "Empty":
        return EMPTIED_UNSEEN if empty_since_ms is None else empty_since_ms
    if state.group_type == "classic" and state.state != "Stable":
        return Never(f"nothing expires while the group is {state.state}")
    if state.state == "Empty" or is_subscribed is False:
        return committed_at_ms
    return is_subscribed if isinstance(is_subscribed, Unknown) else SUBSCRIBED
