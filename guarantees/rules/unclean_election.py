"""unclean_election: who leads was neither in sync nor eligible when last seen (L3 e), or only the last known (L7)."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.beyond_end import beyond_end
from guarantees.elections import Election, is_last_known, is_outside
from guarantees.epochs import CHECK_WITHIN_MS, EpochCheck
from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.observations import PartitionState
from guarantees.places import TopicPartition
from guarantees.times import utc
from guarantees.topic_settings import is_unclean_election_enabled
from guarantees.view import View, partition_place, present, topic_partition

_UNLESS = ", unless it caught up and was elected in order between the two samples"


def opened(view: View) -> Iterator[Finding]:
    """The new leader is alone in sync, as an unclean election leaves it, and was outside when last seen.

    With others in sync beside it nothing tells it from a replica that caught up and was elected in order between two
    samples; what such an election cut is found by the ends of the old epochs. So it must have caught up too where the
    topic forbids unclean elections, as when brokers are restarted one after the other; only the last known leader may
    be elected all the same (KIP-966). Where it allows them and somebody led until then, as with two replicas that are
    restarted so, it is a possibility until a cut is shown.
    """
    for partition, election in view.elections.items():
        is_alone = election.after.in_sync_replicas == (election.after.leader,)
        if is_alone and is_outside(election.before, election.after.leader) and _may_be(view, partition, election):
            yield _finding(view, partition, election)


def continued(finding: Finding, view: View) -> Finding:
    """Graver once a cut is shown; closes when every replica follows, and says what is known of a loss."""
    partition = present(topic_partition(finding.place))
    told = _with_check(finding, view, partition, view.epoch_checks.get(partition))
    state = view.round.states.get(partition)
    if state is None or state.topic_id != finding.place.topic_id:
        return told
    seen = replace(told, last_seen_at_ms=state.observed_at_ms)
    is_settled = seen.evidence["is_cut"] is not None or _is_overdue(seen, state)
    if len(state.in_sync_replicas) < len(state.replicas) or not is_settled:
        return seen
    return replace(seen, closed_reason=f"every replica follows; {_outcome(seen)}")


def _may_be(view: View, partition: TopicPartition, election: Election) -> bool:
    allowed = is_unclean_election_enabled(view.round.topic_settings.get(partition.topic))
    return allowed is not False or is_last_known(election.before, election.after.leader)


def _is_overdue(finding: Finding, state: PartitionState) -> bool:
    return state.observed_at_ms - finding.happened_at_ms > CHECK_WITHIN_MS


def _outcome(finding: Finding) -> str:
    match finding.evidence["is_cut"]:
        case True:
            return "what was cut stays lost"
        case False:
            return "nothing that was seen is missing"
        case _:
            return "whether records were lost is not known"


def _with_check(finding: Finding, view: View, partition: TopicPartition, check: EpochCheck | None) -> Finding:
    if check is None or check.end.current_leader_epoch != finding.evidence["leader_epoch"]:
        return finding
    if check.cut is None:
        text = (
            f"The new leader's log holds all that was seen of epoch {check.newest.leader_epoch}, up to "
            f"{check.newest.last_high_watermark:,} (asked twice, {utc(check.end.observed_at_ms)})."
        )
        statements = (finding.statements[0], Statement(Grade.PROVEN, text))
        return replace(finding, statements=statements, evidence={**finding.evidence, "is_cut": False})
    first, last = check.cut.first_lost, check.cut.last_high_watermark
    beyond = beyond_end(view.readers({partition})[partition], first)
    text = f"The new leader's log lacks the visible offsets from {first:,}, at least up to {last - 1:,}."
    if beyond.commits:
        text += f" Committed beyond {first:,}: {beyond.named}."
    headline = _graver(finding.statements[0], finding.evidence["eligible_leader_replicas_before"])
    evidence = {
        **finding.evidence,
        "is_cut": True,
        "first_lost_offset": first,
        **beyond.evidence,
    }
    told = (headline, Statement(Grade.PROVEN, text), *beyond.not_observed)
    return replace(finding, severity=4, statements=told, evidence=evidence)


def _finding(view: View, partition: TopicPartition, election: Election) -> Finding:
    before, after = election.before, election.after
    where = f"{partition.topic}-{partition.partition}"
    return Finding(
        kind=Kind.UNCLEAN_ELECTION,
        place=partition_place(view.cluster_id, partition, after.topic_id),
        anchor=f"leader epoch {after.leader_epoch}",
        severity=2,
        title=f"Broker {after.leader} became leader of {where}, not in sync when last seen",
        statements=(
            _headline(where, election),
            Statement(Grade.NOT_OBSERVABLE, "Whether records were lost, until the ends of the old epochs are known."),
        ),
        bounds=None,
        evidence={
            "leader_before": before.leader,
            "leader": after.leader,
            "leader_epoch_before": before.leader_epoch,
            "leader_epoch": after.leader_epoch,
            "in_sync_replicas_before": list(before.in_sync_replicas),
            "eligible_leader_replicas_before": _listed(before.eligible_leader_replicas),
            "last_known_eligible_leader_replicas_before": _listed(before.last_known_eligible_leader_replicas),
            "in_sync_replicas": list(after.in_sync_replicas),
            "unclean_leader_election_enable": is_unclean_election_enabled(
                view.round.topic_settings.get(partition.topic)
            ),
            "observed_before_at_ms": before.observed_at_ms,
            "observed_at_ms": after.observed_at_ms,
            "is_cut": None,
        },
        happened_at_ms=after.observed_at_ms,
        last_seen_at_ms=after.observed_at_ms,
    )


def _headline(where: str, election: Election) -> Statement:
    before, after = election.before, election.after
    seen = (
        f"Broker {after.leader} leads {where} in epoch {after.leader_epoch} ({utc(after.observed_at_ms)}); in epoch "
        f"{before.leader_epoch} ({utc(before.observed_at_ms)}) the in-sync replicas were "
        f"{list(before.in_sync_replicas)} and {_eligible(before)}"
    )
    if is_last_known(before, after.leader):
        text = f"{seen}: it was elected as the last known leader, which may have lost what it had not written to disk."
        return Statement(Grade.POSSIBLE, text)
    if before.leader is not None:
        return Statement(Grade.POSSIBLE, f"{seen}: an unclean election{_UNLESS}.")
    return Statement(Grade.PROBABLE, f"{seen}: an unclean election.", _assumption(before.eligible_leader_replicas))


def _graver(headline: Statement, eligible_before: object) -> Statement:
    """A replica that had caught up would lack nothing."""
    if _UNLESS not in headline.text:
        return headline
    return Statement(Grade.PROBABLE, headline.text.replace(_UNLESS, ""), _assumption(eligible_before))


def _assumption(eligible_before: object) -> str:
    unknown = ", and no other replica was eligible" if eligible_before is None else ""
    return f"the in-sync replicas did not change between that sample and the election{unknown}"


def _eligible(before: PartitionState) -> str:
    eligible = _listed(before.eligible_leader_replicas)
    return "which were eligible is not known" if eligible is None else f"the eligible ones {eligible}"


def _listed(brokers: tuple[int, ...] | None) -> list[int] | None:
    return None if brokers is None else list(brokers)
