"""One round of one cluster, in the order that makes differences prove something.

Log start, then commits, then end offsets, then the rest: a commit below a log start read before it was overtaken by
retention, and a commit above a high watermark read after it is ahead of the log.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from collectors import (
    committed_offsets,
    configurations,
    end_offsets,
    epoch_ends,
    groups,
    histories,
    kept_intervals,
    log_dirs,
    partition_state,
    quorum,
    rebalances,
    replica_offsets,
    rounds,
    share_offsets,
)
from collectors.cadence import is_calm, remembered_topology
from collectors.cluster_steps import ClusterAnswers, ask_about_cluster
from collectors.histories import Context, Sampled, Told
from collectors.history_steps import HistoryAnswers, ask_for_histories
from collectors.intervals import Running
from collectors.kept_intervals import Facts
from collectors.rows import Makers, Rows, RowsOnDemand
from collectors.signals import Signals
from collectors.steps import Answers, Steps, ask_everything
from collectors.watched import Remembered, Watched
from guarantees.observations import Coverage, GroupState, Round, Signal
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import now_ms
from kafka_reader.metadata import Topology, fetch_topology


@dataclass(frozen=True, slots=True)
class Collected:
    """What a round saw, its rows by table, and what the next round has to know."""

    round: Round
    rows: Mapping[str, Rows]
    remembered: Remembered


def fetch_cluster(watched: Watched, signals: Signals, remembered: Remembered) -> Topology | None:
    """The first question of a round; without its answer, now or a round ago, there is nobody to ask anything."""
    before = remembered_topology(remembered)
    if before is not None:
        return before
    topology = signals.run(
        Signal.PARTITION_STATES,
        lambda: fetch_topology(watched.connections),
        otherwise=None,
        values=lambda found: [] if found is None else partition_state.values(found),
    )
    if topology is None:
        signals.skip_the_rest(signals.coverage[0].error or "")
    elif remembered.topology is None or topology.answer is not remembered.topology.answer:
        watched.learn_brokers(topology)
    return topology


def unreachable_round(
    watched: Watched, signals: Signals, remembered: Remembered, cluster_id: str, tick: int
) -> Collected:
    """A round nobody answered: nothing but its coverage."""
    started_at_ms = signals.coverage[0].started_at_ms
    observed = Round(
        cluster_id=cluster_id,
        tick=tick,
        started_at_ms=started_at_ms,
        ended_at_ms=now_ms(),
        groups={group_id: Unknown("the cluster is out of reach") for group_id in remembered.groups},
        coverage=signals.coverage,
    )
    settings = watched.settings
    return Collected(observed, {rounds.TABLE: rounds.rows(settings.name, settings.interval_s, observed)}, remembered)


def collect_round(
    watched: Watched, signals: Signals, topology: Topology, remembered: Remembered, tick: int
) -> Collected:
    """Everything after the metadata, each signal by itself: what fails is Unknown, the others go on."""
    steps = Steps(watched, signals, topology, remembered)
    topology, answers = steps.topology, ask_everything(steps)
    about = ask_about_cluster(watched, signals, topology, remembered, answers.groups)
    read = ask_for_histories(watched, signals, topology, remembered.histories)
    running = remembered.intervals.get(groups.STATE_TABLE, {})
    described = groups.with_real_partitions(answers.group_states, topology)
    states = groups.with_since(described, running, watched.gap_ms)
    observed = as_round(answers, states, topology, remembered, tick, signals.coverage)
    facts = Facts(
        topology,
        observed,
        answers.groups,
        answers.transactions,
        about.described,
        about.quorum,
        are_states_new=topology is not remembered.topology,
    )
    intervals, interval_rows = kept_intervals.advance_all(remembered.intervals, facts, watched.gap_ms)
    told = _told(watched, topology, remembered, read, observed)
    return Collected(
        round=observed,
        rows=RowsOnDemand(
            {
                **_made(interval_rows),
                **_rows(watched, topology, answers, observed),
                **_cluster_rows(watched, topology, about, observed),
                # The ledger of Kafka's own topics after what was read of them: without an entry it is read again.
                **_made(told.rows),
            }
        ),
        remembered=replace(
            _remembered(remembered, topology, answers, about, observed, intervals), histories=told.histories
        ),
    )


def as_round(
    answers: Answers,
    group_states: Mapping[str, GroupState | Unknown],
    topology: Topology,
    remembered: Remembered,
    tick: int,
    coverage: tuple[Coverage, ...],
) -> Round:
    """The answers as the rules know them, over the time of its signals: what the store keeps of a round's time."""
    return Round(
        cluster_id=topology.cluster_id,
        tick=tick,
        started_at_ms=min(each.started_at_ms for each in coverage),
        ended_at_ms=max(each.ended_at_ms for each in coverage),
        partitions=answers.partitions,
        replicas=replica_offsets.observations(topology, answers.replicas),
        commits=committed_offsets.observations(answers.commits, topology),
        states=answers.states,
        groups=group_states,
        transactions=answers.transactions.transactions,
        producers=answers.producers,
        epoch_ends=epoch_ends.observations(topology, answers.epoch_ends),
        topic_settings=configurations.known(answers.topic_settings),
        coverage=coverage,
    )


def _told(watched: Watched, topology: Topology, remembered: Remembered, read: HistoryAnswers, observed: Round) -> Told:
    """The histories of the round; a rebalance that no record tells is told by the samples."""
    states = groups.known(observed.groups)
    sampled = Sampled(states, rebalances.rebalances(remembered.settled, states))
    topic_names = {topic_id: name for name, topic_id in topology.topic_ids.items()}
    context = Context(watched.settings, observed.cluster_id, observed.tick, topic_names, now_ms())
    return histories.told(remembered.histories, read.group_log, read.transaction_log, sampled, context)


def _made(rows: Mapping[str, Rows]) -> Makers:
    return {table: partial(rows.__getitem__, table) for table in rows}


def _rows(watched: Watched, topology: Topology, answers: Answers, observed: Round) -> Makers:
    cluster_id, tick = observed.cluster_id, observed.tick
    return {
        rounds.TABLE: partial(rounds.rows, watched.settings.name, watched.settings.interval_s, observed),
        end_offsets.TABLE: partial(end_offsets.rows, cluster_id, tick, topology, answers.offsets),
        replica_offsets.TABLE: partial(replica_offsets.rows, cluster_id, tick, topology, answers.replicas),
        epoch_ends.TABLE: partial(epoch_ends.rows, cluster_id, tick, topology, answers.epoch_ends),
        committed_offsets.TABLE: partial(committed_offsets.rows, cluster_id, tick, answers.commits, topology),
    }


def _cluster_rows(watched: Watched, topology: Topology, about: ClusterAnswers, observed: Round) -> Makers:
    cluster_id, tick, ended_at_ms = observed.cluster_id, observed.tick, observed.ended_at_ms
    return {
        share_offsets.TABLE: partial(share_offsets.rows, cluster_id, tick, about.share_offsets, ended_at_ms),
        log_dirs.DIRECTORY_TABLE: partial(log_dirs.directory_rows, cluster_id, tick, about.log_dirs, ended_at_ms),
        log_dirs.REPLICA_TABLE: partial(
            log_dirs.replica_rows, cluster_id, tick, topology, about.log_dirs, watched.settings.watches_topic
        ),
        quorum.SAMPLE_TABLE: partial(quorum.rows, cluster_id, tick, about.quorum),
    }


def _remembered(
    before: Remembered,
    topology: Topology,
    answers: Answers,
    about: ClusterAnswers,
    observed: Round,
    intervals: Mapping[str, Running],
) -> Remembered:
    states = groups.known(observed.groups)
    return Remembered(
        groups=answers.groups.known,
        reads=committed_offsets.partitions_read(
            before.reads, answers.commits, before.places, _assigned(states), answers.scope.partitions
        ),
        places=answers.commits.places,
        scope=answers.scope,
        topology=topology,
        log_starts=answers.log_starts,
        is_calm=is_calm(observed.coverage, observed.states, observed.partitions),
        settled=rebalances.settled_states(before.settled, states),
        topic_settings=answers.topic_settings,
        epochs=epoch_ends.known_after(before.epochs, observed),
        described=about.described,
        rights=answers.rights,
        intervals=intervals,
        rounds_done=before.rounds_done + 1,
    )


def _assigned(states: Mapping[str, GroupState]) -> dict[str, frozenset[TopicPartition]]:
    return {
        group_id: frozenset(partition for member in state.members for partition in member.assignment)
        for group_id, state in states.items()
    }
