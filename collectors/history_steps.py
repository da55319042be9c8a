"""The questions of a round about Kafka's own topics.

They come after the samples of the same facts: what a sample shows has been written by then.
"""

from dataclasses import dataclass

from collectors import internal_tail
from collectors.histories import TABLES, Histories
from collectors.internal_tail import LogReading, Tail
from collectors.signals import Signals
from collectors.watched import Watched
from guarantees.internal_records import CONSUMER_OFFSETS, TRANSACTION_STATE
from guarantees.observations import Signal
from kafka_reader.metadata import Topology


@dataclass(frozen=True, slots=True)
class HistoryAnswers:
    """What was read of either topic; nothing where the settings say so."""

    group_log: LogReading
    transaction_log: LogReading


def ask_for_histories(watched: Watched, signals: Signals, topology: Topology, known: Histories) -> HistoryAnswers:
    """Either topic from where it was read to."""
    return HistoryAnswers(
        group_log=_read(watched, signals, topology, Signal.GROUP_LOG, CONSUMER_OFFSETS, known.group_tail),
        transaction_log=_read(
            watched, signals, topology, Signal.TRANSACTION_LOG, TRANSACTION_STATE, known.transaction_tail
        ),
    )


def _read(watched: Watched, signals: Signals, topology: Topology, signal: Signal, topic: str, tail: Tail) -> LogReading:
    nothing = LogReading(topic)
    if not watched.settings.history_bytes_per_s:
        return nothing
    return signals.run(
        signal,
        lambda: _collected(watched, topology, topic, tail),
        otherwise=nothing,
        values=lambda found: found.fetched.values(),
    )


def _collected(watched: Watched, topology: Topology, topic: str, tail: Tail) -> LogReading:
    """The topics share what may be read."""
    if topic not in topology.topic_ids:
        return internal_tail.absent(watched.connections, topic)
    settings = watched.settings
    a_round = round(settings.history_bytes_per_s * settings.interval_s / len(TABLES))
    return internal_tail.collect(watched.connections, topology, topic, tail, a_round, settings.request_timeout_s)
