"""The questions of one round, each a signal of its own; each takes what earlier ones answered."""

from collections.abc import Mapping
from dataclasses import dataclass

from collectors import (
    committed_offsets,
    configurations,
    end_offsets,
    epoch_ends,
    group_list,
    groups,
    log_start,
    offset_columns,
    open_producers,
    open_transactions,
    partition_state,
    replica_offsets,
    rights,
    seldom,
    vanished,
)
from collectors.cadence import remembered_log_starts
from collectors.commit_places import places
from collectors.commit_table import Commits, commits, named_epochs
from collectors.coordinators import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, coordinators
from collectors.group_list import GroupList
from collectors.scope import Scope, scope
from collectors.signals import Signals
from collectors.watched import Remembered, Watched
from guarantees.observations import GroupState, PartitionOffsets, PartitionState, Signal
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import now_ms
from kafka_reader.listed_offsets import ListedOffsets, joined
from kafka_reader.metadata import Topology
from kafka_reader.offset_fetch import FetchedCommits
from kafka_reader.topic_partitions import EligibleLeaders


@dataclass(frozen=True, slots=True)
class Answers:
    """What a round was told, step by step."""

    scope: Scope
    groups: GroupList
    log_starts: ListedOffsets
    commits: Commits
    offsets: end_offsets.OffsetTable
    partitions: Mapping[TopicPartition, PartitionOffsets]
    replicas: replica_offsets.Listed
    epoch_ends: epoch_ends.Found
    states: Mapping[TopicPartition, PartitionState]
    group_states: Mapping[str, GroupState | Unknown]
    producers: open_producers.Producers
    transactions: open_transactions.Answers
    topic_settings: configurations.Settings
    rights: rights.Rights


def ask_everything(step: "Steps") -> Answers:
    """The order is the proof: log starts before commits, commits before end offsets, producers before coordinators."""
    groups_listed = step.listed_groups()
    log_starts = step.log_starts()
    committed = step.commits(groups_listed)
    offsets = end_offsets.table(log_starts, step.end_offsets())
    partitions = end_offsets.partition_offsets(step.topology, offsets)
    group_states = step.group_states(groups_listed)
    permitted = step.permitted(group_states)
    return Answers(
        scope=step.scope,
        groups=groups_listed,
        log_starts=log_starts,
        commits=committed,
        offsets=offsets,
        partitions=partitions,
        replicas=step.replica_offsets(),
        epoch_ends=step.epoch_ends(partitions, committed),
        producers=step.open_producers(partitions),
        transactions=step.open_transactions(permitted),
        states=step.partition_states(),
        group_states=group_states,
        topic_settings=step.topic_settings(),
        rights=permitted,
    )


class Steps:
    """The questions of one round; each takes what earlier ones answered."""

    def __init__(self, watched: Watched, signals: Signals, topology: Topology, remembered: Remembered) -> None:
        self._watched = watched
        self._connections = watched.connections
        self._signals, self._run = signals, signals.run
        self._remembered = remembered
        running = remembered.intervals.get(partition_state.TABLE, {})
        self.topology = vanished.with_refused_topics(signals, watched.connections, topology, running)
        self.scope = scope(watched.settings, self.topology, remembered.scope)

    def permitted(self, states: Mapping[str, GroupState | Unknown]) -> rights.Rights:
        if not seldom.is_due(self._remembered.rounds_done):
            return self._remembered.rights
        settings = self._watched.settings
        topics, groups_named = rights.named(settings, self._watched.pipelines)
        hidden = filter(settings.watches_topic, rights.hidden_reads(states.values(), self.topology))
        topics = (*topics, *(topic for topic in hidden if topic not in topics))
        return self._run(
            Signal.RIGHTS,
            lambda: rights.collect(self._connections, topics, groups_named),
            otherwise=rights.unknown(topics, groups_named),
            values=rights.values,
        )

    def topic_settings(self) -> configurations.Settings:
        known, topics = self._remembered.topic_settings, self.topology.topics
        if not configurations.is_due(self._remembered.rounds_done, known, topics):
            return known
        nothing: configurations.Settings = {}
        read = self._run(
            Signal.CONFIGS,
            lambda: configurations.collect(self._connections, topics),
            otherwise=nothing,
            values=lambda found: found.values(),
        )
        return configurations.renewed(known, read)

    def listed_groups(self) -> GroupList:
        none: group_list.Answers = dict.fromkeys(self.topology.brokers, Unknown("the groups could not be listed"))
        answers = self._run(
            Signal.GROUPS,
            lambda: group_list.collect(self._connections, self.topology.brokers),
            otherwise=none,
            values=lambda found: found.values(),
        )
        found = vanished.groups_left(
            self._signals,
            self._connections,
            answers,
            self._remembered.groups,
            coordinators(OFFSETS_TOPIC, self.topology),
        )
        return group_list.of_interest(found, self._watched.settings.watches_group)

    def log_starts(self) -> ListedOffsets:
        before = remembered_log_starts(self._remembered, self.scope)
        if before is not None:
            return before
        return self._run(
            Signal.LOG_START,
            lambda: log_start.collect(self._connections, self.scope.led, self.topology.observed_at_ms),
            otherwise=joined([]),
            values=offset_columns.values,
        )

    def commits(self, listed: GroupList) -> Commits:
        nothing: dict[str, FetchedCommits] = {}
        fetched = self._run(
            Signal.COMMITTED_OFFSETS,
            lambda: committed_offsets.with_unavailable(
                committed_offsets.collect(self._watched.of_commits, listed), listed, now_ms()
            ),
            otherwise=nothing,
            values=committed_offsets.values,
        )
        return commits(places(fetched, self._remembered.reads, self.scope.partitions, self._remembered.places), fetched)

    def end_offsets(self) -> end_offsets.EndOffsets:
        return self._run(
            Signal.END_OFFSETS,
            lambda: end_offsets.collect(self._connections, self.scope.led, self.topology.observed_at_ms),
            otherwise=end_offsets.NOTHING,
            values=end_offsets.values,
        )

    def replica_offsets(self) -> replica_offsets.Listed:
        nothing: replica_offsets.Listed = {}
        return self._run(
            Signal.REPLICA_OFFSETS,
            lambda: replica_offsets.collect(self._connections, self.scope.held),
            otherwise=nothing,
            values=replica_offsets.values,
        )

    def epoch_ends(self, partitions: Mapping[TopicPartition, PartitionOffsets], found: Commits) -> epoch_ends.Found:
        """Of the leaders that have just answered in their epoch: one that has not may still be recovering."""
        questions = epoch_ends.questions(self._remembered.epochs, partitions, named_epochs(found))
        nothing: epoch_ends.Found = {}
        return self._run(
            Signal.EPOCH_ENDS,
            lambda: epoch_ends.collect(self._connections, questions),
            otherwise=nothing,
            values=lambda found: (end.end_offset for end in found.values()),
        )

    def partition_states(self) -> Mapping[TopicPartition, PartitionState]:
        states = partition_state.of_interest(self.topology, self._watched.settings.watches_topic)
        out_of_sync = partition_state.topics_out_of_sync(states)
        if not out_of_sync:
            return states
        nothing: dict[TopicPartition, EligibleLeaders] = {}
        eligible = self._run(
            Signal.PARTITION_STATES,
            lambda: partition_state.collect(self._connections, out_of_sync),
            otherwise=nothing,
            values=lambda found: found.values(),
        )
        return partition_state.with_eligible_leaders(states, eligible)

    def group_states(self, listed: GroupList) -> Mapping[str, GroupState | Unknown]:
        none: dict[str, GroupState | Unknown] = dict.fromkeys(
            listed.listed, Unknown("the groups could not be described")
        )
        described = self._run(
            Signal.GROUPS,
            lambda: groups.collect(self._connections, listed.listed.values()),
            otherwise=none,
            values=lambda found: found.values(),
        )
        return {**described, **listed.unavailable}

    def open_producers(self, partitions: Mapping[TopicPartition, PartitionOffsets]) -> open_producers.Producers:
        held_back = open_producers.held_back(partitions)
        return self._run(
            Signal.PRODUCERS,
            lambda: open_producers.collect(self._connections, self.topology, held_back),
            otherwise=dict.fromkeys(held_back, Unknown("the producers could not be asked for")),
            values=lambda found: found.values(),
        )

    def open_transactions(self, permitted: rights.Rights) -> open_transactions.Answers:
        hidden = rights.hidden_transactions(permitted)
        running = self._remembered.intervals.get(open_transactions.TABLE, {})
        of = coordinators(TRANSACTIONS_TOPIC, self.topology)
        return self._run(
            Signal.TRANSACTIONS,
            lambda: open_transactions.collect(self._connections, running, of).with_hidden(hidden),
            otherwise=open_transactions.unasked(running, of),
            values=lambda found: found.values,
        )
