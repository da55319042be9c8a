"""Watching a cluster round by round: one pure step from what earlier rounds left to what this one adds and finds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from guarantees import epochs
from guarantees.elections import elections
from guarantees.findings import Finding, Kind
from guarantees.memory import Memory
from guarantees.observations import CommittedOffset, Round, Signal
from guarantees.places import GroupPartition, TopicPartition
from guarantees.rules import (
    at_min_isr,
    commit_epochs,
    commit_expired,
    commit_pending,
    committed_ahead,
    expired_unread,
    falling_behind,
    min_isr,
    min_isr_setting,
    new_partition_skipped,
    partitions_added,
    progress,
    read_past_stable,
    recreation,
    redelivery,
    rewind,
    skipped_forward,
    stable_offset,
    stale_subscription,
    tail,
    truncation,
    unclean_election,
)
from guarantees.thresholds import Thresholds
from guarantees.triage import triage
from guarantees.trust import distrusted_groups, group_sights, in_use, missing_groups, newest_states, trusted_offsets
from guarantees.view import View, open_cuts, readers

__all__ = ["Memory", "observe", "resume"]

# A topic that complete metadata no longer names is gone once nothing has been heard of it for so long.
GONE_AFTER_MS = 60_000


@dataclass(frozen=True, slots=True)
class Rule:
    """`opened` gives what a round newly shows; `continued` what became of an open finding, closed or not."""

    kinds: tuple[Kind, ...]
    opened: Callable[[View], Iterator[Finding]]
    continued: Callable[[Finding, View], Finding]


# The most severe first.
RULES: Sequence[Rule] = (
    Rule((Kind.LOG_TRUNCATED,), truncation.opened, truncation.continued),
    Rule((Kind.UNCLEAN_ELECTION,), unclean_election.opened, unclean_election.continued),
    Rule((Kind.EXPIRED_UNREAD,), expired_unread.opened, expired_unread.continued),
    Rule(recreation.KINDS, recreation.opened, recreation.continued),
    Rule((Kind.SKIPPED_FORWARD,), skipped_forward.opened, skipped_forward.continued),
    Rule((Kind.READ_PAST_STABLE_OFFSET,), read_past_stable.opened, read_past_stable.continued),
    Rule((Kind.REWIND,), rewind.opened, rewind.continued),
    Rule((Kind.TAIL_TRUNCATED,), tail.opened, tail.continued),
    Rule((Kind.COMMITTED_AHEAD,), committed_ahead.opened, committed_ahead.continued),
    Rule((Kind.COMMIT_EXPIRED,), commit_expired.opened, commit_expired.continued),
    Rule((Kind.COMMIT_PENDING,), commit_pending.opened, commit_pending.continued),
    Rule((Kind.STABLE_OFFSET_FROZEN,), stable_offset.opened, stable_offset.continued),
    Rule((Kind.BELOW_MIN_ISR,), min_isr.opened, min_isr.continued),
    Rule((Kind.AT_MIN_ISR,), at_min_isr.opened, at_min_isr.continued),
    Rule((Kind.PARTITIONS_ADDED,), partitions_added.opened, partitions_added.continued),
    Rule(progress.KINDS, progress.opened, progress.continued),
    Rule(commit_epochs.KINDS, commit_epochs.opened, commit_epochs.continued),
    Rule((Kind.NEW_PARTITION_SKIPPED,), new_partition_skipped.opened, new_partition_skipped.continued),
    Rule((Kind.POSSIBLE_REDELIVERY,), redelivery.opened, redelivery.continued),
    Rule((Kind.MIN_ISR_ABOVE_REPLICAS,), min_isr_setting.opened, min_isr_setting.continued),
    Rule((Kind.FALLING_BEHIND,), falling_behind.opened, falling_behind.continued),
    Rule((Kind.STALE_SUBSCRIPTION,), stale_subscription.opened, stale_subscription.continued),
)
CONTINUED = {kind: rule.continued for rule in RULES for kind in rule.kinds}


def observe(memory: Memory, observed: Round, thresholds: Thresholds) -> tuple[Memory, list[Finding]]:
    """One round: what to remember, and every finding that is open or closes in it, the most severe first.

    Rounds of one cluster come in the order of time. A finding whose newest evidence is not older than the round (after
    a restart, when stored rounds come again) stays as it is.
    """
    view = look(memory, observed, thresholds)
    lasting = [_continued(finding, view) for finding in memory.open.values()]
    new = {f.finding_id: f for rule in RULES for f in rule.opened(view) if f.finding_id not in memory.open}
    found = [*lasting, *new.values()]
    still_open = {f.finding_id: f for f in found if f.closed_reason is None}
    return replace(view.now, open=still_open), sorted(found, key=_order)


def resume(
    rounds: Iterable[Round], known_open: Iterable[Finding], thresholds: Thresholds
) -> tuple[Memory, list[Finding]]:
    """After a restart: the memory that the stored rounds of the last 15 minutes leave, and what the last one finds.

    `known_open` are the cluster's open findings of metadata rules, from the store: they go on from their evidence. What
    the rounds before the last one found was written when they came; only the last may have been cut off by a crash.
    """
    memory = Memory(open={finding.finding_id: finding for finding in known_open if finding.kind in CONTINUED})
    found: list[Finding] = list(memory.open.values())
    for observed in rounds:
        memory, found = observe(memory, observed, thresholds)
    return memory, found


def look(memory: Memory, observed: Round, thresholds: Thresholds) -> View:
    """Everything the rules look at, made once per round."""
    offsets = trusted_offsets(memory, observed)
    distrusted = distrusted_groups(memory, observed)
    sights, rebalances = group_sights(memory, observed)
    seen = epochs.remember(memory, observed, offsets)
    checks = epochs.epoch_checks(observed, seen)
    long_empty = commit_expired.long_empty(sights, observed, thresholds)
    found = triage(memory, observed, offsets, distrusted, seen.ends, long_empty)
    added, discovered = new_partition_skipped.remember(memory, observed.states, offsets, sights)
    silences, customs = progress.remember(memory, observed, offsets, found, distrusted, thresholds.gap_s)
    states, former_states = newest_states(memory, observed)
    holds = stable_offset.remember(memory, observed, offsets)
    missing = missing_groups(memory, observed)
    gone = missing & memory.missing_groups
    now = Memory(
        commits=_without_groups(found.commits, gone - memory.gone_groups),
        offsets={**memory.offsets, **{p: o for p, o in offsets.items() if isinstance(o.leader_epoch, int)}},
        states=states,
        former_states=former_states,
        replicas=epochs.log_ends(memory, observed),
        groups=in_use(sights, found),
        silences=silences,
        customs=customs,
        growths=falling_behind.remember(memory, observed, offsets, found, distrusted),
        holds=holds,
        below_min_isr=min_isr.remember(memory, observed, thresholds.gap_s),
        at_min_isr=at_min_isr.remember(memory, observed, thresholds.gap_s),
        ahead=committed_ahead.remember(memory, observed, offsets, found.ahead),
        epochs=epochs.without_cuts(seen, checks),
        past_epoch_ends=commit_epochs.remember(memory, found),
        recreated=recreation.remember(memory, observed, found),
        pending=commit_pending.remember(memory, observed, found.pending, thresholds.gap_s),
        added=added,
        discovered=discovered,
        missing_groups=missing,
        gone_groups=gone,
        open=memory.open,
    )
    return View(
        before=memory,
        now=now,
        round=observed,
        thresholds=thresholds,
        offsets=offsets,
        triage=found,
        rebalances=rebalances,
        distrusted=distrusted,
        open_places={(f.kind, f.place) for f in memory.open.values()},
        open_cuts=open_cuts(memory),
        waiting=readers(observed, offsets, {p for p, hold in holds.items() if hold.rounds >= 2}),
        elections=elections(memory, observed),
        epoch_checks=checks,
    )


def _without_groups(
    commits: Mapping[GroupPartition, CommittedOffset], newly_gone: Set[str]
) -> Mapping[GroupPartition, CommittedOffset]:
    """A group that is gone took its commits along: one that comes back under its name begins a new history."""
    return {key: c for key, c in commits.items() if key.group_id not in newly_gone} if newly_gone else commits


def _continued(finding: Finding, view: View) -> Finding:
    if view.round.ended_at_ms <= finding.last_seen_at_ms:
        return finding
    reason = _lost_topic(finding, view)
    if reason is not None:
        return replace(finding, closed_reason=reason)
    return CONTINUED[finding.kind](finding, view)


def _lost_topic(finding: Finding, view: View) -> str | None:
    """Why a finding's topic is no more: two rounds show another id, or complete metadata does not name it any more."""
    topic, number = finding.place.topic, finding.place.partition
    if topic is None or finding.place.topic_id is None:
        return None
    partition = TopicPartition(topic, number or 0)
    state, before = view.round.states.get(partition), view.before.states.get(partition)
    if state is not None:
        is_other = before is not None and finding.place.topic_id not in (state.topic_id, before.topic_id)
        return "the topic was deleted and created anew" if is_other else None
    coverage = view.coverage(Signal.PARTITION_STATES)
    is_named_no_more = bool(view.round.states) and coverage is not None and coverage.is_complete
    is_silent = view.round.ended_at_ms - finding.last_seen_at_ms > GONE_AFTER_MS
    return "the topic is gone" if is_named_no_more and is_silent else None


def _order(finding: Finding) -> tuple[int, str, str, int, str, str]:
    place = finding.place
    return (
        -finding.severity,
        finding.kind,
        place.topic or "",
        -1 if place.partition is None else place.partition,
        place.group_id or "",
        finding.anchor,
    )
