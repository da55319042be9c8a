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
    histories,
    internal_tail,
    log_start,
    open_producers,
    open_transactions,
    partition_state,
    replica_offsets,
)
from collectors.group_list import GroupList
from collectors.internal_tail import LogReading, Tail
from collectors.signals import Signals
from collectors.watched import Remembered, Watched
from guarantees.internal_records import CONSUMER_OFFSETS, TRANSACTION_STATE
from guarantees.observations import GroupState, PartitionOffsets, PartitionState, Signal
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import now_ms
from kafka_reader.list_offsets import ListedOffset
from kafka_reader.metadata import Topology
from kafka_reader.offset_fetch import FetchedCommits
from kafka_reader.topic_partitions import EligibleLeaders
from settings import ClusterSettings


@dataclass(frozen=True, slots=True)
class Answers:
    """What a round was told, step by step."""

    watched: frozenset[TopicPartition]
    groups: GroupList
    commits: Mapping[str, FetchedCommits]
    ends: end_offsets.EndOffsets
    partitions: Mapping[TopicPartition, PartitionOffsets]
    replicas: replica_offsets.Listed
    epoch_ends: epoch_ends.Found
    states: Mapping[TopicPartition, PartitionState]
    group_states: Mapping[str, GroupState | Unknown]
    producers: open_producers.Producers
    transactions: open_transactions.Answers
    topic_settings: configurations.Settings
    group_log: LogReading
    transaction_log: LogReading


def ask_everything(step: "Steps") -> Answers:
    """The order is the proof: log starts before commits, commits before end offsets, producers before coordinators."""
    groups_listed = step.listed_groups()
    log_starts = step.log_starts()
    commits = step.commits(groups_listed)
    ends = step.end_offsets()
    partitions = end_offsets.partition_offsets(step.topology, log_starts, ends)
    replicas, epochs_ended = step.replica_offsets(), step.epoch_ends(partitions, commits)
    producers, transactions = step.open_producers(partitions), step.open_transactions()
    return Answers(
        watched=frozenset(step.partitions),
        groups=groups_listed,
        commits=commits,
        ends=ends,
        partitions=partitions,
        replicas=replicas,
        epoch_ends=epochs_ended,
        producers=producers,
        transactions=transactions,
        states=step.partition_states(),
        group_states=step.group_states(groups_listed),
        topic_settings=step.topic_settings(),
        # After the samples of the same facts: what a sample shows has been written by then.
        group_log=step.group_log(is_used=bool(groups_listed.listed)),
        transaction_log=step.transaction_log(is_used=bool(open_transactions.observations(transactions))),
    )


class Steps:
    """The questions of one round; each takes what earlier ones answered."""

    def __init__(self, watched: Watched, signals: Signals, topology: Topology, remembered: Remembered) -> None:
        self._watched = watched
        self._connections = watched.connections
        self._run = signals.run
        self.topology = topology
        self._remembered = remembered
        self.partitions = watched_partitions(watched.settings, topology)

    def topic_settings(self) -> configurations.Settings:
        known, topics = self._remembered.topic_settings, self.topology.topics
        if not configurations.is_due(self._remembered.rounds_done, known, topics):
            return known
        nothing: configurations.Settings = {}
        read = self._run(
            Signal.CONFIGS,
            lambda: configurations.collect(
                self._watched.configurations, topics, self._watched.settings.request_timeout_s
            ),
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
        found = group_list.group_list(answers, self._remembered.groups, self.topology)
        return group_list.of_interest(found, self._watched.settings.watches_group)

    def log_starts(self) -> Mapping[TopicPartition, ListedOffset]:
        return self._run(
            Signal.LOG_START,
            lambda: log_start.collect(self._connections, self.topology, self.partitions),
            otherwise={},
            values=lambda found: (listed.offset for listed in found.values()),
        )

    def commits(self, listed: GroupList) -> Mapping[str, FetchedCommits]:
        return self._run(
            Signal.COMMITTED_OFFSETS,
            lambda: committed_offsets.with_unavailable(
                committed_offsets.collect(self._connections, listed), listed, now_ms()
            ),
            otherwise={},
            values=committed_offsets.values,
        )

    def end_offsets(self) -> end_offsets.EndOffsets:
        return self._run(
            Signal.END_OFFSETS,
            lambda: end_offsets.collect(self._connections, self.topology, self.partitions),
            otherwise=end_offsets.NOTHING,
            values=lambda found: found.values,
        )

    def replica_offsets(self) -> replica_offsets.Listed:
        return self._run(
            Signal.REPLICA_OFFSETS,
            lambda: replica_offsets.collect(self._connections, self.topology, self.partitions),
            otherwise={},
            values=replica_offsets.values,
        )

    def epoch_ends(
        self, partitions: Mapping[TopicPartition, PartitionOffsets], commits: Mapping[str, FetchedCommits]
    ) -> epoch_ends.Found:
        """Of the leaders that have just answered in their epoch: one that has not may still be recovering."""
        questions = epoch_ends.questions(self._remembered.epochs, partitions, commits)
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

    def open_transactions(self) -> open_transactions.Answers:
        return self._run(
            Signal.TRANSACTIONS,
            lambda: open_transactions.collect(self._connections, self.topology),
            otherwise=dict.fromkeys(self.topology.brokers, Unknown("the transactions could not be listed")),
            values=open_transactions.values,
        )

    def group_log(self, *, is_used: bool) -> LogReading:
        tail = self._remembered.histories.group_tail
        return self._internal_log(Signal.GROUP_LOG, CONSUMER_OFFSETS, tail, is_used=is_used)

    def transaction_log(self, *, is_used: bool) -> LogReading:
        tail = self._remembered.histories.transaction_tail
        return self._internal_log(Signal.TRANSACTION_LOG, TRANSACTION_STATE, tail, is_used=is_used)

    def _internal_log(self, signal: Signal, topic: str, tail: Tail, *, is_used: bool) -> LogReading:
        settings = self._watched.settings
        if not settings.history_bytes_per_s:
            return LogReading(topic)
        a_round = round(settings.history_bytes_per_s * settings.interval_s / len(histories.TABLES))

        def collect() -> LogReading:
            if topic not in self.topology.topic_ids:
                return internal_tail.absent(topic, is_used=is_used)
            timeout_s = settings.request_timeout_s
            return internal_tail.collect(self._connections, self.topology, topic, tail, a_round, timeout_s)

        nothing = LogReading(topic)
        return self._run(signal, collect, otherwise=nothing, values=lambda found: found.fetched.values())


def watched_partitions(settings: ClusterSettings, topology: Topology) -> list[TopicPartition]:
    """Kafka's own topics are left out: what their readers do is no pipeline."""
    return sorted(
        partition
        for partition in topology.states
        if partition.topic not in topology.internal_topics and settings.watches_topic(partition.topic)
    )
