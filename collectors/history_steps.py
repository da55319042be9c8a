"""The questions of a round about Kafka's own topics.

They come after the samples of the same facts: what a sample shows has been written by then.
"""

from dataclasses import dataclass

from collectors import internal_tail, open_transactions
from collectors.histories import TABLES, Histories
from collectors.internal_tail import LogReading, Tail
from collectors.signals import Signals
from collectors.steps import Answers
from collectors.watched import Watched
from guarantees.internal_records import CONSUMER_OFFSETS, TRANSACTION_STATE
from guarantees.observations import Signal
from kafka_reader.metadata import Topology


@dataclass(frozen=True, slots=True)
class HistoryAnswers:
    """What was read of either topic; nothing where the settings say so."""

    group_log: LogReading
    transaction_log: LogReading


def ask_for_histories(
    watched: Watched, signals: Signals, topology: Topology, known: Histories, answers: Answers
) -> HistoryAnswers:
    """`answers` tell whether a topic that the brokers do not name must be there."""
    steps = _Steps(watched, signals, topology)
    has_transactions = bool(open_transactions.observations(answers.transactions))
    return HistoryAnswers(
        group_log=steps.read(Signal.GROUP_LOG, CONSUMER_OFFSETS, known.group_tail, is_used=bool(answers.groups.listed)),
        transaction_log=steps.read(
            Signal.TRANSACTION_LOG, TRANSACTION_STATE, known.transaction_tail, is_used=has_transactions
        ),
    )


class _Steps:
    def __init__(self, watched: Watched, signals: Signals, topology: Topology) -> None:
        self._watched = watched
        self._run = signals.run
        self._topology = topology

    def read(self, signal: Signal, topic: str, tail: Tail, *, is_used: bool) -> LogReading:
        nothing = LogReading(topic)
        if not self._watched.settings.history_bytes_per_s:
            return nothing
        return self._run(
            signal,
            lambda: self._collected(topic, tail, is_used=is_used),
            otherwise=nothing,
            values=lambda found: found.fetched.values(),
        )

    def _collected(self, topic: str, tail: Tail, *, is_used: bool) -> LogReading:
        """The topics share what may be read."""
        if topic not in self._topology.topic_ids:
            return internal_tail.absent(topic, is_used=is_used)
        settings = self._watched.settings
        a_round = round(settings.history_bytes_per_s * settings.interval_s / len(TABLES))
        connections, timeout_s = self._watched.connections, settings.request_timeout_s
        return internal_tail.collect(connections, self._topology, topic, tail, a_round, timeout_s)
