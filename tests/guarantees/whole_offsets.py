"""Whole findings of the rules that look at offsets, commits, leaders and replicas (`whole_findings` says what for)."""

from collections.abc import Callable, Mapping
from functools import partial

from guarantees.findings import Finding, Kind
from tests.guarantees import (
    test_at_min_isr,
    test_commit_epochs,
    test_commit_expired,
    test_commit_pending,
    test_new_partition_skipped,
    test_read_past_stable,
    test_skipped_forward,
    test_stale_subscription,
    test_tail,
    test_topic_changes,
    test_truncation_by_epochs,
    test_unclean_election,
)
from tests.guarantees.builders import finding, seen, state, steps

expired = test_commit_expired
skipped = test_skipped_forward
cut = test_truncation_by_epochs
unclean = test_unclean_election
changes = test_topic_changes
tail = test_tail
added = test_new_partition_skipped
epochs = test_commit_epochs
low = test_at_min_isr

LEFT = (seen(0, high=900, committed=500), skipped.empty(5, 500), skipped.empty(10, 500))
EMPTY = [expired.there(s) for s in steps(0, 120)]
CUT = (*cut.OLD, cut.asked(10, 4, 1400), cut.asked(15, 4, 1400))
ELECTED = (unclean.BEFORE, unclean.AFTER)
GREW = (added.BEFORE, added.GROWN, added.added(300, 120, None))
BEYOND = (epochs.at_second(0, 219, end=163), epochs.at_second(5, 219, end=163))

SHOWN: Mapping[str, tuple[Kind, tuple]] = {
    "skipped_forward_by_a_new_leader": (Kind.SKIPPED_FORWARD, (*skipped.stood(), skipped.end(20))),
    "skipped_forward_by_an_operator": (Kind.SKIPPED_FORWARD, (*LEFT, skipped.empty(15, 800))),
    "skipped_forward_after_an_absence": (Kind.SKIPPED_FORWARD, skipped.absent(900)),
    "rewind_after_an_absence": (Kind.REWIND, skipped.absent(300)),
    "rewind_below_the_log_start": (
        Kind.REWIND,
        (seen(0, high=900, committed=500), seen(5, high=900, start=600, committed=300)),
    ),
    "commit_gone": (Kind.COMMIT_EXPIRED, (expired.there(0), expired.gone(5))),
    "commit_pending": (Kind.COMMIT_PENDING, (seen(0, high=900, committed=500), *test_commit_pending.pending(5, 80))),
    "new_partition_skipped": (Kind.NEW_PARTITION_SKIPPED, (*GREW, added.added(360, 125, 120))),
    "new_partition_perhaps_skipped": (Kind.NEW_PARTITION_SKIPPED, (*GREW, added.added(360, 125, 121))),
    "read_past_stable_offset": (Kind.READ_PAST_STABLE_OFFSET, test_read_past_stable.two()),
    "stale_subscription": (Kind.STALE_SUBSCRIPTION, tuple(test_stale_subscription.left(130))),
    "committed_ahead_that_moved": (
        Kind.COMMITTED_AHEAD,
        tuple(seen(s, high=100, committed=c) for s, c in ((0, 150), (5, 150), (10, 101))),
    ),
    "log_truncated_by_epochs": (Kind.LOG_TRUNCATED, CUT),
    "unclean_election": (Kind.UNCLEAN_ELECTION, ELECTED),
    "unclean_election_with_a_cut": (
        Kind.UNCLEAN_ELECTION,
        (unclean.BEFORE, *(unclean.checked(s, 4, 1400, committed=1450) for s in (5, 10))),
    ),
    "unclean_election_without_a_cut": (
        Kind.UNCLEAN_ELECTION,
        (unclean.BEFORE, *(unclean.checked(s, 4, 1500) for s in (5, 10))),
    ),
    "unclean_election_of_the_last_known": (
        Kind.UNCLEAN_ELECTION,
        (unclean.led(0, [], 4, None, eligible=[], last_known=(3,)), unclean.AFTER),
    ),
    "tail_truncated": (Kind.TAIL_TRUNCATED, (tail.old(), tail.new(5))),
    "commit_in_truncated_log": (Kind.COMMIT_IN_TRUNCATED_LOG, BEYOND),
    "wrong_commit_epoch": (
        Kind.WRONG_COMMIT_EPOCH,
        (epochs.at_second(0, 160, end=163), epochs.at_second(5, 700, end=163)),
    ),
    "topic_recreated": (
        Kind.TOPIC_RECREATED,
        (changes.OLD, *(changes.topic(s, changes.NEW_ID, 10) for s in (5, 10))),
    ),
    "commit_of_old_topic": (
        Kind.COMMIT_OF_OLD_TOPIC,
        (changes.OLD, *(changes.topic(s, changes.NEW_ID, 2, 5) for s in (5, 10))),
    ),
    "commit_of_old_topic_that_is_empty_now": (
        Kind.COMMIT_OF_OLD_TOPIC,
        (changes.OLD, *(changes.topic(s, changes.NEW_ID, 0, 5) for s in (5, 10))),
    ),
    "partitions_added": (Kind.PARTITIONS_ADDED, (changes.partitioned(0, 1), changes.partitioned(5, 6))),
    "at_min_isr": (
        Kind.AT_MIN_ISR,
        (low.at_second(0, [1, 2, 3]), *(low.at_second(s, [1, 2]) for s in steps(5, 125))),
    ),
    "at_min_isr_that_became_a_single_copy": (
        Kind.AT_MIN_ISR,
        (
            low.at_second(0, [1, 2, 3]),
            *(low.at_second(s, [1, 2]) for s in steps(5, 125)),
            low.at_second(130, [1], 1),
        ),
    ),
    "min_isr_above_replicas": (Kind.MIN_ISR_ABOVE_REPLICAS, (changes.note(0, [1], 2),)),
    "partition_without_a_leader": (
        Kind.BELOW_MIN_ISR,
        (seen(0, isr=state()), *(seen(s, isr=state([], leader=None, second=s)) for s in (5, 10))),
    ),
    "expired_unread_that_grew": (
        Kind.EXPIRED_UNREAD,
        tuple(
            seen(s, high=900, start=start, committed=300, settings={"cleanup.policy": "delete", "retention.ms": "1000"})
            for s, start in ((0, 0), (5, 301), (10, 450))
        ),
    ),
}

WHOLE_OFFSETS: Mapping[str, Callable[[], Finding]] = {
    **{name: partial(finding, *rounds, kind=kind) for name, (kind, rounds) in SHOWN.items()},
    "commit_expires_soon": partial(expired.expired, *EMPTY[:21]),
    "commit_expired": partial(expired.expired, *EMPTY, expired.gone(125)),
    "commit_gone_with_its_group": partial(
        expired.expired, expired.there(0), *(expired.without_group(s) for s in (2, 5))
    ),
}
