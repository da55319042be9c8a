"""Which event explains which finding: rebalances of the group, and what the finding's own evidence names."""

from guarantees.audits import DuplicateCause
from guarantees.findings import Finding, Grade, Statement
from guarantees.links import REBALANCE_EXPLAINS_MS, GroupRebalance, rebalance_event, whole_number
from guarantees.rules.duplicates import CAUSES, UNIQUE_IDS
from guarantees.times import utc


def last_member_left(stopped: Finding, seen: GroupRebalance) -> Statement | None:
    """The group lost its last members after the commit at which it stands."""
    since = stopped.happened_at_ms - REBALANCE_EXPLAINS_MS
    if seen.cause != "all members left" or not since <= seen.observed_at_ms <= stopped.last_seen_at_ms:
        return None
    when = f"between {utc(seen.changed_after_ms)} and {utc(seen.observed_at_ms)}"
    return Statement(Grade.PROVEN, f"All members of the group left {when}.")


def stands_since_a_rebalance(stalled: Finding, seen: GroupRebalance) -> Statement | None:
    """The partition changed hands within a minute of the moment from which its commit stands."""
    away_ms = abs(seen.observed_at_ms - stalled.happened_at_ms)
    if not (_moved(stalled, seen) and away_ms <= REBALANCE_EXPLAINS_MS):
        return None
    text = f"The partition changed hands, seen at {utc(seen.observed_at_ms)}: {seen.cause}."
    return Statement(Grade.PROBABLE, text, "the change of owner, and not the records there, stopped it")


def owner_left_after_committing(lost: Finding, seen: GroupRebalance) -> Statement | None:
    """The owner of the partition left just after commits had passed the lost ids: what it held was not processed."""
    waited_ms = seen.observed_at_ms - lost.happened_at_ms
    if not (seen.left and _moved(lost, seen) and 0 <= waited_ms <= REBALANCE_EXPLAINS_MS):
        return None
    text = f"Member {seen.left[0]} left, seen at {utc(seen.observed_at_ms)}, after commits had passed the lost ids."
    return Statement(Grade.PROBABLE, text, "it had committed before it processed them")


def came_with_a_rebalance(rewind: Finding) -> tuple[Statement, str, int] | None:
    """The group rebalanced within a minute before the commit fell."""
    seen = rewind.evidence.get("rebalance")
    at_ms = seen.get("observed_at_ms") if isinstance(seen, dict) else None
    if not isinstance(seen, dict) or not isinstance(at_ms, int):
        return None
    text = f"The group rebalanced, seen at {utc(at_ms)}: {seen.get('cause')}."
    statement = Statement(Grade.PROBABLE, text, "the rebalance seen just before is its cause")
    return statement, rebalance_event(rewind.place.cluster_id, rewind.place.group_id, at_ms), at_ms


def set_by_an_operator(rewind: Finding) -> tuple[Statement, str, int] | None:
    """The group had no members before and after the commit fell, as offset tools demand."""
    if rewind.evidence.get("is_operator_reset") is not True:
        return None
    text = "An operator set the offsets: the group had no members on both sides of the change."
    statement = Statement(Grade.PROBABLE, text, "no consumer that assigns its partitions itself commits for it")
    place, at_ms = rewind.place, rewind.happened_at_ms
    return statement, f"reset of {place.group_id} at {at_ms} on {place.cluster_id}", at_ms


def member_left(redelivery: Finding) -> tuple[Statement, str, int] | None:
    """The rebalance in which the owner of the partition vanished."""
    at_ms = whole_number(redelivery, "observed_at_ms")
    if at_ms is None:
        return None
    text = f"The group rebalanced, seen at {utc(at_ms)}: {redelivery.evidence.get('cause')}."
    event = rebalance_event(redelivery.place.cluster_id, redelivery.place.group_id, at_ms)
    return Statement(Grade.PROVEN, text), event, at_ms


def election(cut: Finding) -> tuple[Statement, str, int] | None:
    """The leader epoch rose between the two samples that show the cut."""
    before, after = whole_number(cut, "leader_epoch_before"), whole_number(cut, "leader_epoch")
    if before is None or after is None:
        return None
    leaders = f"{_leader(cut, 'leader_before')} to {_leader(cut, 'leader')}"
    text = f"The leader changed from {leaders} (leader epoch {before} to {after})."
    place, statement = cut.place, Statement(Grade.PROVEN, text)
    if cut.evidence.get("is_unclean") is True:
        assumption = "the in-sync replicas did not change after they were last sampled"
        statement = Statement(Grade.PROBABLE, f"{text} It was an unclean election.", assumption)
    return statement, f"leader epoch {after} of {place.topic_id}-{place.partition}", cut.happened_at_ms


def _leader(cut: Finding, name: str) -> str:
    """Between two leaders a partition may have had none, and not every sample names it."""
    broker = whole_number(cut, name)
    return "no known broker" if broker is None else f"broker {broker}"


def open_transaction(frozen: Finding) -> tuple[Statement, str, int] | None:
    """The producer whose transaction begins at the stable offset."""
    producer_id, epoch = whole_number(frozen, "producer_id"), whole_number(frozen, "producer_epoch")
    if producer_id is None or epoch is None:
        return None
    text = f"A transaction of producer {producer_id}, epoch {epoch}, is open there."
    event = f"transaction of producer {producer_id}, epoch {epoch} on {frozen.place.cluster_id}"
    return Statement(Grade.PROVEN, text), event, frozen.happened_at_ms


def sent_again(duplicate: Finding) -> tuple[Statement, str, int] | None:
    """How the second copy came to be, read from both copies' producer identity."""
    cause = duplicate.evidence.get("cause")
    if cause not in set(DuplicateCause):
        return None
    known = DuplicateCause(str(cause))
    text = f"The later copies were stored {CAUSES[known]}."
    producer = f"producer {duplicate.evidence.get('producer_id')}, epoch {duplicate.evidence.get('producer_epoch')}"
    event = f"{known} by {producer} on {duplicate.place.cluster_id} in {duplicate.place.topic_id}"
    return Statement(Grade.PROBABLE, text, UNIQUE_IDS), event, duplicate.happened_at_ms


def _moved(finding: Finding, seen: GroupRebalance) -> bool:
    return any(p.topic == finding.place.topic and p.partition == finding.place.partition for p in seen.moved)
