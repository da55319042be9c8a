"""Which finding about a log or its producers explains which: an election the cut, a cut the producer's recovery."""

from guarantees.findings import Finding, Grade, Statement
from guarantees.links import whole_number


def began_with_this_leader(effect: Finding, election: Finding) -> Statement | None:
    """Both name the same leader epoch: what was found begins with the leader that was elected uncleanly."""
    epoch = whole_number(effect, "leader_epoch")
    if epoch is None or epoch != whole_number(election, "leader_epoch"):
        return None
    return Statement(Grade.PROVEN, f"It begins with leader epoch {epoch}: {election.title}.")


def lost_with_the_old_leader(effect: Finding, cut: Finding) -> Statement | None:
    """The producer met the new leader of a log that was cut, which knows nothing of what is gone."""
    epoch = whole_number(effect, "leader_epoch")
    if epoch is None or epoch != whole_number(cut, "leader_epoch"):
        return None
    text = f"The log was cut when leader epoch {epoch} began: {cut.title}."
    return Statement(Grade.PROBABLE, text, "what the producer misses is what the cut removed")


def stored_as_a_batch(duplicate: Finding, resent: Finding) -> Statement | None:
    """A whole batch of the same producer was stored twice among the later copies."""
    producer_id, offset = whole_number(duplicate, "producer_id"), whole_number(resent, "offset")
    first, last = whole_number(duplicate, "first_offset"), whole_number(duplicate, "last_offset")
    if producer_id != whole_number(resent, "producer_id") or offset is None or first is None or last is None:
        return None
    if not first <= offset <= last:
        return None
    return Statement(Grade.PROVEN, f"A batch at offset {offset:,} is stored twice: {resent.title}.")


def sent_again_after_a_recovery(duplicate: Finding, recovered: Finding) -> Statement | None:
    """The producer of the later copies raised its epoch on the partition, and sent again what was in flight."""
    producer = (whole_number(duplicate, "producer_id"), whole_number(duplicate, "producer_epoch"))
    bumps = recovered.evidence.get("bumps")
    for bump in bumps if isinstance(bumps, list) else ():
        if isinstance(bump, dict) and (bump.get("producer_id"), bump.get("epoch")) == producer:
            text = f"Producer {producer[0]} met an error and went on under epoch {producer[1]}: {recovered.title}."
            return Statement(Grade.PROBABLE, text, "it sent again what it had in flight")
    return None


def stood_open_until_its_timeout(timed_out: Finding, frozen: Finding) -> Statement | None:
    """The transaction is the one that held the last stable offset."""
    producer_id, first = whole_number(timed_out, "producer_id"), whole_number(timed_out, "first_offset")
    if producer_id is None or producer_id != whole_number(frozen, "producer_id"):
        return None
    if first is None or first != whole_number(frozen, "start_offset"):
        return None
    return Statement(Grade.PROVEN, f"Its transaction stood open: {frozen.title}.")
