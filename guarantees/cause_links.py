"""Which finding explains which: each link is a named function with one sentence and its condition on the evidence."""

from collections.abc import Iterator

from guarantees.event_links import (
    came_with_a_rebalance,
    election,
    last_member_left,
    member_left,
    open_transaction,
    owner_left_after_committing,
    sent_again,
    set_by_an_operator,
    stands_since_a_rebalance,
)
from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.lag import MARKER_SLACK
from guarantees.links import EventLink, EvidenceLink, Link, LinkTable, SinkLink, earliest_ms, whole_number
from guarantees.log_links import (
    began_with_this_leader,
    lost_with_the_old_leader,
    sent_again_after_a_recovery,
    stood_open_until_its_timeout,
    stored_as_a_batch,
)
from guarantees.times import utc

# Samples of the replicas are seconds apart; what was over a minute before a cut is another story.
JUST_BEFORE_MS = 60_000
# max.poll.interval.ms of a Java consumer: by then it has processed what it was delivered, or left the group.
PROCESSED_WITHIN_MS = 300_000


def set_back_after_a_cut(rewind: Finding, cut: Finding) -> Statement | None:
    """The commit lay beyond the new end of a log that was cut, and the client went back from there."""
    before, end = whole_number(rewind, "committed_offset_before"), whole_number(cut, "high_watermark")
    old_end = whole_number(cut, "high_watermark_before")
    if before is None or end is None or old_end is None or not end < before <= old_end:
        return None
    text = f"The log was cut from {old_end:,} to {end:,}, below the commit {before:,}: the client lost its place."
    return Statement(Grade.PROBABLE, text, "its own reset, and not an operator, moved the commit")


def came_back_from_beyond_the_end(rewind: Finding, ahead: Finding) -> Statement | None:
    """The commit that fell is the one that lay beyond the end of the log."""
    before = whole_number(rewind, "committed_offset_before")
    if before is None or before != whole_number(ahead, "committed_offset"):
        return None
    text = f"The commit {before:,} lay beyond the end of the log: a fetch there is out of range and the client resets."
    return Statement(Grade.PROBABLE, text, "its own reset, and not an operator, moved the commit")


def left_beyond_the_end_by_a_cut(ahead: Finding, cut: Finding) -> Statement | None:
    """The commit lay within the log before it was cut, and beyond its end afterwards."""
    committed, end = whole_number(ahead, "committed_offset"), whole_number(cut, "high_watermark")
    old_end = whole_number(cut, "high_watermark_before")
    if committed is None or end is None or old_end is None or not end < committed <= old_end:
        return None
    text = f"The commit {committed:,} was within the log until it was cut from {old_end:,} to {end:,}."
    return Statement(Grade.PROVEN, text)


def cut_after_too_few_replicas(cut: Finding, below: Finding) -> Statement | None:
    """The partition had too few in-sync replicas just before its log was cut: few brokers held the newest records."""
    if earliest_ms(cut) - below.last_seen_at_ms > JUST_BEFORE_MS:
        return None
    text = f"Since {utc(below.happened_at_ms)} at the latest it had too few in-sync replicas: {below.title}."
    return Statement(Grade.PROBABLE, text, "the replicas still in sync were lost before the others had caught up")


def stood_until_it_expired(expired: Finding, standing: Finding) -> Statement | None:
    """The group stood at the very commit that retention overtook."""
    committed = whole_number(expired, "committed_offset")
    if committed is None or committed != whole_number(standing, "committed_offset"):
        return None
    text = f"The group had stood at the commit {committed:,} since {utc(standing.happened_at_ms)} at the latest."
    return Statement(Grade.PROVEN, text)


def waited_until_it_expired(expired: Finding, frozen: Finding) -> Statement | None:
    """The group had read up to the open transaction that held the stable offset, and retention went on."""
    committed, start = whole_number(expired, "committed_offset"), whole_number(frozen, "start_offset")
    if committed is None or start is None or not 0 <= start - committed <= MARKER_SLACK:
        return None
    text = f"The group had read up to {start:,}, where an open transaction held the last stable offset."
    return Statement(Grade.PROBABLE, text, "it reads with isolation level read_committed")


def ids_in_the_hole(lost: Finding, expired: Finding) -> Statement | None:
    """Lost ids lie among the offsets that were deleted before the group had committed them."""
    first, end = whole_number(expired, "committed_offset"), whole_number(expired, "log_start_offset")
    within = [] if first is None or end is None else [o for o, _ in _lost(lost) if first <= o < end]
    return _of_the_lost(lost, within, f"lie in the hole from {first:,} to {end:,}.") if within else None


def ids_cut_away(lost: Finding, cut: Finding) -> Statement | None:
    """Lost ids were seen in the part of the log that a cut removed."""
    end, old_end = whole_number(cut, "high_watermark"), whole_number(cut, "high_watermark_before")
    seen = [] if end is None or old_end is None else [
        o for o, seen_at_ms in _lost(lost) if end <= o < old_end and seen_at_ms <= cut.happened_at_ms
    ]  # fmt: skip
    return (
        _of_the_lost(lost, seen, f"were seen between {end:,} and {old_end:,}, where the log was cut.") if seen else None
    )


def written_again_after_redelivery(_: Finding, redelivery: Finding) -> Statement:
    """Later copies in the sink begin within the time in which a consumer processes what it was delivered again."""
    text = f"The group was delivered records again from {utc(redelivery.happened_at_ms)}: {redelivery.title}."
    return Statement(Grade.PROBABLE, text, "it wrote what it was delivered again to the sink")


def handed_on_from_the_source(_: Finding, in_source: Finding) -> Statement:
    """Later copies in the source were there before the sink's, by the time in which a consumer processes a record."""
    text = f"The source had duplicates from {utc(in_source.happened_at_ms)}: {in_source.title}."
    return Statement(Grade.PROBABLE, text, "the pipeline hands the ids of its source on")


def out_of_order_at_the_source(_: Finding, in_source: Finding) -> Statement:
    """Records of the source were out of order before the sink's, by the time a consumer processes a record."""
    text = f"The source had records out of order from {utc(in_source.happened_at_ms)}: {in_source.title}."
    return Statement(Grade.PROBABLE, text, "the pipeline writes records in the order in which it reads them")


def keys_moved_between_partitions(_: Finding, added: Finding) -> Statement | None:
    """The source got partitions before, and a key's newer records may have been read before its older ones."""
    before, after = whole_number(added, "partitions_before"), whole_number(added, "partitions")
    if before is None or after is None:
        return None
    text = (
        f"The source had {before:,} partitions and has {after:,} since {utc(added.happened_at_ms)}: keys moved, and "
        "the new records of one may have been read before its old ones."
    )
    return Statement(Grade.POSSIBLE, text)


def reset_past_the_hole(skipped: Finding, expired: Finding) -> Statement | None:
    """The commit that jumped is the one that retention had overtaken."""
    before = whole_number(skipped, "committed_offset_before")
    if before is None or before != whole_number(expired, "newest_committed_offset"):
        return None
    text = f"The commit {before:,} lay below the log start: a fetch there is out of range and the client resets."
    return Statement(Grade.PROBABLE, text, "its own reset, and not an operator, moved the commit")


def began_anew_after_expiry(moved: Finding, gone: Finding) -> Statement | None:
    """The commit that moved is the one that was gone in between."""
    before = whole_number(moved, "committed_offset_before")
    if before is None or gone.evidence.get("absent_since_ms") is None:
        return None
    if before != whole_number(gone, "committed_offset"):
        return None
    text = f"The commit {before:,} was gone: the group began where auto.offset.reset sends it."
    return Statement(Grade.PROBABLE, text, "nobody set the offset while the group had none")


def ids_passed_over(lost: Finding, skipped: Finding) -> Statement | None:
    """Lost ids lie among the offsets that a commit jumped over."""
    first, end = whole_number(skipped, "committed_offset_before"), whole_number(skipped, "committed_offset")
    within = [] if first is None or end is None else [o for o, _ in _lost(lost) if first <= o < end]
    return (
        _of_the_lost(lost, within, f"lie between {first:,} and {end:,}, which a commit jumped over.")
        if within
        else None
    )


def read_before_they_were_aborted(shown: Finding, past: Finding) -> Statement | None:
    """Aborted ids of the sink lie among the offsets that the group committed past the stable offset."""
    stable, committed = whole_number(past, "last_stable_offset"), whole_number(past, "committed_offset")
    first, last = whole_number(shown, "first_offset"), whole_number(shown, "last_offset")
    if stable is None or committed is None or first is None or last is None or last < stable or first >= committed:
        return None
    text = f"The group committed {committed:,}, past the stable offset {stable:,}: it had read what was still open."
    return Statement(Grade.PROVEN, text)


LINKS = LinkTable(
    at_place=(
        Link(Kind.LOG_TRUNCATED, Kind.UNCLEAN_ELECTION, began_with_this_leader),
        Link(Kind.LOG_TRUNCATED, Kind.BELOW_MIN_ISR, cut_after_too_few_replicas),
        Link(Kind.TAIL_TRUNCATED, Kind.UNCLEAN_ELECTION, began_with_this_leader),
        Link(Kind.UNCLEAN_ELECTION, Kind.BELOW_MIN_ISR, cut_after_too_few_replicas),
        Link(Kind.COMMIT_IN_TRUNCATED_LOG, Kind.LOG_TRUNCATED, left_beyond_the_end_by_a_cut),
        Link(Kind.MISSING_SEQUENCES, Kind.UNCLEAN_ELECTION, began_with_this_leader),
        Link(Kind.MISSING_SEQUENCES, Kind.LOG_TRUNCATED, lost_with_the_old_leader),
        Link(Kind.PRODUCER_RECOVERED, Kind.UNCLEAN_ELECTION, began_with_this_leader),
        Link(Kind.PRODUCER_RECOVERED, Kind.LOG_TRUNCATED, lost_with_the_old_leader),
        Link(Kind.DUPLICATE_WRITE, Kind.RESENT_BATCH, stored_as_a_batch),
        Link(Kind.DUPLICATE_WRITE, Kind.PRODUCER_RECOVERED, sent_again_after_a_recovery),
        Link(Kind.TRANSACTION_TIMED_OUT, Kind.STABLE_OFFSET_FROZEN, stood_open_until_its_timeout),
        Link(Kind.COMMITTED_AHEAD, Kind.LOG_TRUNCATED, left_beyond_the_end_by_a_cut),
        Link(Kind.REWIND, Kind.LOG_TRUNCATED, set_back_after_a_cut),
        Link(Kind.REWIND, Kind.COMMITTED_AHEAD, came_back_from_beyond_the_end),
        Link(Kind.SKIPPED_FORWARD, Kind.EXPIRED_UNREAD, reset_past_the_hole),
        Link(Kind.SKIPPED_FORWARD, Kind.COMMITTED_AHEAD, came_back_from_beyond_the_end),
        Link(Kind.SKIPPED_FORWARD, Kind.COMMIT_EXPIRED, began_anew_after_expiry),
        Link(Kind.REWIND, Kind.COMMIT_EXPIRED, began_anew_after_expiry),
        Link(Kind.LOST_WRITE, Kind.SKIPPED_FORWARD, ids_passed_over),
        Link(Kind.ABORTED_AT_SINK, Kind.READ_PAST_STABLE_OFFSET, read_before_they_were_aborted),
        Link(Kind.EXPIRED_UNREAD, Kind.STALE_SUBSCRIPTION, stood_until_it_expired),
        Link(Kind.EXPIRED_UNREAD, Kind.GROUP_STOPPED, stood_until_it_expired),
        Link(Kind.EXPIRED_UNREAD, Kind.GROUP_STALLED, stood_until_it_expired),
        Link(Kind.EXPIRED_UNREAD, Kind.STABLE_OFFSET_FROZEN, waited_until_it_expired),
        Link(Kind.LOST_WRITE, Kind.EXPIRED_UNREAD, ids_in_the_hole),
        Link(Kind.LOST_WRITE, Kind.LOG_TRUNCATED, ids_cut_away),
    ),
    to_sink=(
        SinkLink(Kind.DUPLICATE_WRITE, Kind.REWIND, PROCESSED_WITHIN_MS, written_again_after_redelivery),
        SinkLink(Kind.DUPLICATE_WRITE, Kind.POSSIBLE_REDELIVERY, PROCESSED_WITHIN_MS, written_again_after_redelivery),
        SinkLink(Kind.DUPLICATE_WRITE, Kind.DUPLICATE_WRITE, PROCESSED_WITHIN_MS, handed_on_from_the_source),
        SinkLink(Kind.OUT_OF_ORDER, Kind.OUT_OF_ORDER, PROCESSED_WITHIN_MS, out_of_order_at_the_source),
        SinkLink(Kind.OUT_OF_ORDER, Kind.PARTITIONS_ADDED, PROCESSED_WITHIN_MS, keys_moved_between_partitions),
    ),
    rebalances=(
        EventLink(Kind.GROUP_STOPPED, last_member_left, while_it_lasts=True),
        EventLink(Kind.GROUP_STALLED, stands_since_a_rebalance),
        EventLink(Kind.LOST_WRITE, owner_left_after_committing),
    ),
    evidence=(
        EvidenceLink(Kind.REWIND, came_with_a_rebalance),
        EvidenceLink(Kind.REWIND, set_by_an_operator),
        EvidenceLink(Kind.POSSIBLE_REDELIVERY, member_left),
        EvidenceLink(Kind.LOG_TRUNCATED, election),
        EvidenceLink(Kind.TAIL_TRUNCATED, election),
        EvidenceLink(Kind.UNCLEAN_ELECTION, election),
        EvidenceLink(Kind.STABLE_OFFSET_FROZEN, open_transaction),
        EvidenceLink(Kind.DUPLICATE_WRITE, sent_again),
    ),
)


def _of_the_lost(lost: Finding, within: list[int], what: str) -> Statement:
    return Statement(Grade.PROVEN, f"{len(within):,} of the {len(list(_lost(lost))):,} lost ids shown {what}")


def _lost(lost: Finding) -> Iterator[tuple[int, int]]:
    """Offset and time of sight of the lost ids that the evidence shows."""
    shown = lost.evidence.get("lost")
    for one in shown if isinstance(shown, list) else ():
        if isinstance(one, dict) and isinstance(one.get("offset"), int) and isinstance(one.get("observed_at_ms"), int):
            yield one["offset"], one["observed_at_ms"]
