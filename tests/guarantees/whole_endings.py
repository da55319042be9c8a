"""Whole findings as they last and as they close (`whole_findings` says what for): what is told then is true then."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from guarantees.findings import Finding, Kind
from guarantees.observations import Round
from guarantees.places import GroupPartition
from tests.guarantees import (
    test_at_min_isr,
    test_commit_epochs,
    test_commit_expired,
    test_commit_pending,
    test_expired_unread,
    test_new_partition_skipped,
    test_read_past_stable,
    test_redelivery,
    test_skipped_forward,
    test_stable_offset,
    test_stale_subscription,
    test_tail,
    test_topic_changes,
    test_truncation_by_epochs,
    test_unclean_election,
)
from tests.guarantees.builders import NOBODY, TOPIC, commit, finding, replica, seen, state, steps, transaction

expired = test_commit_expired
skipped = test_skipped_forward
cut = test_truncation_by_epochs
unclean = test_unclean_election
changes = test_topic_changes
tail = test_tail
added = test_new_partition_skipped
epochs = test_commit_epochs
low = test_at_min_isr
pending = test_commit_pending
past = test_read_past_stable
left = test_redelivery
frozen = test_stable_offset

EMPTY = [expired.there(s) for s in steps(0, 105)]
WEEK_S = 604_800


def with_audit(observed: Round, committed: int) -> Round:
    """A second group, which has committed on the same partition."""
    key = GroupPartition("audit", TOPIC, 0)
    return replace(observed, commits={**observed.commits, key: commit(committed, second=observed.tick)})


def long_empty(second: float, since_s: float, **given: object) -> Round:
    """The collectors have seen the group empty for longer than the rounds go back."""
    one = expired.there(second, **given)
    groups = {name: replace(g, unchanged_since_ms=expired.at(since_s)) for name, g in one.groups.items()}
    return replace(one, groups=groups)


CUT = tuple(with_audit(one, 1480) for one in (*cut.OLD, *(cut.asked(s, 4, 1400, committed=1450) for s in (10, 15))))
UNCLEANLY_CUT = (unclean.BEFORE, *(unclean.checked(s, 4, 1400, committed=1450) for s in (5, 10)))
FOLLOWED = [1, 2, 3]
BEYOND = (epochs.at_second(0, 219, end=163), epochs.at_second(5, 219, end=163))
PENDING = (seen(0, high=900, committed=500), *pending.pending(5, 80))
LONG = transaction(pending.COMMITS, timeout_s=600)
SINGLE = (low.at_second(0, [1, 2], 1), low.at_second(5, [1], 1), low.at_second(10, [1], 1))
BELOW = (seen(0, isr=state()), *(seen(s, isr=state([1], second=s)) for s in (5, 10)))
DELETED = [
    seen(s, high=900, start=start, committed=300, settings=test_expired_unread.KEEPS_ALL)
    for s, start in ((0, 0), (5, 400))
]
KEPT = {"cleanup.policy": "delete", "retention.ms": "1000", "retention.bytes": "9"}
HELD = frozen.held(600, transactions=(transaction(frozen.PARTITION, timeout_s=900),))
STOOD = [seen(s, high=200 + int(s), committed=100, members=()) for s in steps(0, 65)]
BEHIND = [seen(s, committed=1000 + int(s), high=1100 + 2 * int(s)) for s in steps(0, 130)]
CARRIED = (changes.OLD, *(changes.topic(s, changes.NEW_ID, 10, 5) for s in (5, 10)))
ADDED = (changes.partitioned(0, 3, committed=50), changes.partitioned(5, 6, committed=50))
SKIPPED = (added.BEFORE, added.GROWN, added.added(300, 120, None, start=20), added.added(360, 125, 120, start=20))
STALE = test_stale_subscription.left(125)

ENDINGS: Mapping[str, tuple[Kind, Sequence[Round]]] = {
    "topic_recreated_and_watched": (
        Kind.TOPIC_RECREATED,
        (changes.OLD, *(changes.topic(s, changes.NEW_ID, 10) for s in (5, 10, 15))),
    ),
    "commit_of_old_topic_that_stands": (Kind.COMMIT_OF_OLD_TOPIC, (*CARRIED, changes.topic(15, changes.NEW_ID, 10, 5))),
    "commit_of_old_topic_read_on": (Kind.COMMIT_OF_OLD_TOPIC, (*CARRIED, changes.topic(15, changes.NEW_ID, 10, 8))),
    "tail_truncated_corrected_by_the_epochs_end": (
        Kind.TAIL_TRUNCATED,
        (tail.old(), *(tail.new(s, high=1195, end=1195, ends=tail.told(3, 1180, s)) for s in (5, 10))),
    ),
    "tail_truncated_below_a_cut": (
        Kind.TAIL_TRUNCATED,
        (tail.old(), *(tail.new(s, high=1185, end=1185, ends=tail.told(3, 1170, s)) for s in (5, 10))),
    ),
    "tail_truncated_without_an_answer": (Kind.TAIL_TRUNCATED, (tail.old(), tail.new(5), tail.new(70))),
    "unclean_election_cut_and_followed": (
        Kind.UNCLEAN_ELECTION,
        tuple(with_audit(one, 1480) for one in (*UNCLEANLY_CUT, unclean.led(15, FOLLOWED, 5, 3))),
    ),
    "unclean_election_whole_and_followed": (
        Kind.UNCLEAN_ELECTION,
        (unclean.BEFORE, *(unclean.checked(s, 4, 1500) for s in (5, 10)), unclean.led(15, FOLLOWED, 5, 3)),
    ),
    "unclean_election_unanswered_and_followed": (
        Kind.UNCLEAN_ELECTION,
        (unclean.BEFORE, unclean.AFTER, unclean.led(70, FOLLOWED, 5, 3)),
    ),
    "commit_pending_for_longer": (Kind.COMMIT_PENDING, (*PENDING, *pending.pending(85, 90))),
    "commit_pending_for_a_long_timeout": (Kind.COMMIT_PENDING, pending.pending(0, 615, transactions=(LONG,))),
    "commit_pending_decided": (Kind.COMMIT_PENDING, (*PENDING, seen(85, high=900, committed=510))),
    "commit_pending_aborted": (Kind.COMMIT_PENDING, (*PENDING, seen(85, high=900, no_commit=True))),
    "log_truncated_for_groups_and_perhaps_more": (
        Kind.LOG_TRUNCATED,
        (
            with_audit(
                seen(
                    0,
                    high=1500,
                    committed=1450,
                    isr=state([1], eligible=[2]),
                    replicas=(replica(1, 1500), replica(3, 1050)),
                ),
                1480,
            ),
            with_audit(seen(5, high=1100, epoch=1, broker=3, committed=1450, isr=state([3], leader=3, epoch=1)), 1480),
        ),
    ),
    "log_truncated_and_grown_again": (Kind.LOG_TRUNCATED, (*CUT, seen(20, high=1700, epoch=5, broker=3))),
    "new_partition_skipped_and_gone_on": (Kind.NEW_PARTITION_SKIPPED, (*SKIPPED, added.added(365, 130, 130, start=20))),
    "committed_ahead_no_more": (
        Kind.COMMITTED_AHEAD,
        [seen(s, high=high, committed=150) for s, high in ((0, 100), (5, 110), (10, 160))],
    ),
    "at_min_isr_of_a_single_copy": (Kind.AT_MIN_ISR, SINGLE),
    "at_min_isr_no_more": (Kind.AT_MIN_ISR, (*SINGLE, low.at_second(15, [1, 2], 1))),
    "below_min_isr_no_more": (Kind.BELOW_MIN_ISR, (*BELOW, seen(15, isr=state(second=15)))),
    "expired_unread_by_a_delete_request": (Kind.EXPIRED_UNREAD, DELETED),
    "expired_unread_by_age_or_size": (
        Kind.EXPIRED_UNREAD,
        [seen(s, high=900, start=start, committed=300, settings=KEPT) for s, start in ((0, 0), (5, 301))],
    ),
    "expired_unread_and_gone_on": (Kind.EXPIRED_UNREAD, (*DELETED, seen(10, high=900, start=500, committed=450))),
    "read_past_stable_offset_for_longer": (
        Kind.READ_PAST_STABLE_OFFSET,
        (*past.two(), seen(10, high=200, stable=160, committed=190)),
    ),
    "read_past_stable_offset_no_more": (
        Kind.READ_PAST_STABLE_OFFSET,
        (*past.two(), seen(10, high=200, stable=200, committed=195, members=[past.OTHER])),
    ),
    "skipped_forward_and_gone_on": (Kind.SKIPPED_FORWARD, (*skipped.stood(), skipped.end(20), skipped.end(25))),
    "skipped_forward_and_back": (Kind.SKIPPED_FORWARD, (*skipped.stood(), skipped.end(20), skipped.end(25, 7))),
    "stale_subscription_of_now": (Kind.STALE_SUBSCRIPTION, STALE),
    "stale_subscription_read_again": (
        Kind.STALE_SUBSCRIPTION,
        (*STALE, seen(130, high=2000, committed=500, members=[test_stale_subscription.OWNER])),
    ),
    "min_isr_above_two_replicas": (Kind.MIN_ISR_ABOVE_REPLICAS, (changes.note(0, [1, 2], 3),)),
    "min_isr_above_replicas_for_longer": (
        Kind.MIN_ISR_ABOVE_REPLICAS,
        (changes.note(0, [1, 2], 3), changes.note(5, [1, 2], 3)),
    ),
    "min_isr_above_replicas_no_more": (
        Kind.MIN_ISR_ABOVE_REPLICAS,
        (changes.note(0, [1], 2), changes.note(5, [1, 2], 2)),
    ),
    "commit_in_truncated_log_that_fell_back": (Kind.COMMIT_IN_TRUNCATED_LOG, (*BEYOND, epochs.at_second(10, 200))),
    "commit_in_truncated_log_of_another_epoch": (
        Kind.COMMIT_IN_TRUNCATED_LOG,
        (*BEYOND, epochs.at_second(10, 300, epoch=2)),
    ),
    "commit_in_truncated_log_superseded": (Kind.COMMIT_IN_TRUNCATED_LOG, (*BEYOND, epochs.at_second(10, 300))),
    "wrong_commit_epoch_that_moves_on": (
        Kind.WRONG_COMMIT_EPOCH,
        (epochs.at_second(0, 160, end=163), epochs.at_second(5, 700, end=163), epochs.at_second(10, 900)),
    ),
    "partitions_added_and_waited_for": (Kind.PARTITIONS_ADDED, (*ADDED, changes.partitioned(10, 6, committed=60))),
    "partitions_added_and_read": (
        Kind.PARTITIONS_ADDED,
        (*ADDED, changes.partitioned(10, 6, high=200, committed=100)),
    ),
    "stable_offset_frozen_for_longer": (
        Kind.STABLE_OFFSET_FROZEN,
        [with_audit(replace(one, commits=seen(one.tick, committed=90).commits), 89) for one in HELD],
    ),
    "stable_offset_frozen_by_nobody_known_for_long": (
        Kind.STABLE_OFFSET_FROZEN,
        frozen.held(600, transactions=(), producers=NOBODY),
    ),
    "stable_offset_frozen_until_a_cut": (Kind.STABLE_OFFSET_FROZEN, (*frozen.held(10), seen(15, high=80, epoch=1))),
    "possible_redelivery_read": (
        Kind.POSSIBLE_REDELIVERY,
        (*left.crash(10), seen(20, high=180, committed=180, members=[left.NEW])),
    ),
    "possible_redelivery_after_ten_minutes": (
        Kind.POSSIBLE_REDELIVERY,
        (
            *(seen(s, high=150, committed=100, members=[left.OLD]) for s in steps(0, 600)),
            seen(605, high=150, committed=100, members=[left.NEW]),
        ),
    ),
    "rewind_recovered": (
        Kind.REWIND,
        [seen(s, high=9000, committed=c) for s, c in ((0, 500), (5, 10), (10, 501))],
    ),
    "rewind_without_a_commit_now": (
        Kind.REWIND,
        (seen(0, high=9000, committed=500), seen(5, high=9000, committed=10), seen(10, high=9000, no_commit=True)),
    ),
    "group_stopped_and_started": (Kind.GROUP_STOPPED, (*STOOD, seen(70, high=300, committed=101, members=()))),
    "group_stopped_with_nothing_left": (Kind.GROUP_STOPPED, (*STOOD, seen(70, high=300, start=300, committed=100))),
    "falling_behind_of_now": (Kind.FALLING_BEHIND, BEHIND[:26]),
    "falling_behind_no_more": (Kind.FALLING_BEHIND, (*BEHIND, seen(135, committed=1370, high=1370))),
}

WHOLE_ENDINGS: Mapping[str, Callable[[], Finding]] = {
    **{name: partial(finding, *rounds, kind=kind) for name, (kind, rounds) in ENDINGS.items()},
    "commit_expires_soon_in_a_week": partial(
        finding, *(long_empty(s, -WEEK_S * 0.9) for s in (0, 5)), kind=Kind.COMMIT_EXPIRED
    ),
    "commit_expired_after_a_week": partial(
        finding,
        long_empty(0, -WEEK_S),
        expired.gone(5),
        kind=Kind.COMMIT_EXPIRED,
    ),
    "commit_saved": partial(expired.expired, *EMPTY, seen(110, high=11, committed=10)),
    "commit_gone_and_back": partial(
        expired.expired, expired.there(0), expired.gone(5), expired.gone(10), seen(15, high=11, committed=11)
    ),
}
