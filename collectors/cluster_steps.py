"""The questions of a round about the cluster itself and its share groups: no difference rests on when they are asked.

They come last, and those a broker passes on before it answers over connections of their own: see Watched.relayed.
"""

from dataclasses import dataclass

from collectors import features, log_dirs, quorum, seldom, share_offsets
from collectors.group_list import GroupList
from collectors.signals import Signals
from collectors.watched import Remembered, Watched
from guarantees.observations import Signal
from guarantees.unknown import Unknown
from kafka_reader.features import Described
from kafka_reader.metadata import Topology
from kafka_reader.quorum import Quorum


@dataclass(frozen=True, slots=True)
class ClusterAnswers:
    """`described` None: nobody was ever asked with success. `log_dirs` is empty in rounds that do not ask."""

    described: Described | None
    share_offsets: share_offsets.Answers
    log_dirs: log_dirs.Answers
    quorum: Quorum | Unknown


def ask_about_cluster(
    watched: Watched, signals: Signals, topology: Topology, remembered: Remembered, groups: GroupList
) -> ClusterAnswers:
    return ClusterAnswers(
        described=_described(watched, signals, topology, remembered),
        share_offsets=_share_offsets(watched, signals, groups),
        log_dirs=_log_dirs(watched, signals, topology, remembered),
        quorum=_quorum(watched, signals, topology),
    )


def _described(watched: Watched, signals: Signals, topology: Topology, remembered: Remembered) -> Described | None:
    known, brokers = remembered.described, topology.brokers
    if not features.is_due(remembered.rounds_done, known, brokers):
        return known
    return signals.run(
        Signal.FEATURES,
        lambda: features.collect(watched.connections, brokers),
        otherwise=None,
        values=lambda found: () if found is None else features.values(found),
    )


def _share_offsets(watched: Watched, signals: Signals, groups: GroupList) -> share_offsets.Answers:
    nothing: share_offsets.Answers = {}
    return signals.run(
        Signal.SHARE_OFFSETS,
        lambda: share_offsets.with_unavailable(share_offsets.collect(watched.relayed, groups), groups),
        otherwise=nothing,
        values=share_offsets.values,
    )


def _log_dirs(watched: Watched, signals: Signals, topology: Topology, remembered: Remembered) -> log_dirs.Answers:
    nothing: log_dirs.Answers = {}
    if not seldom.is_due(remembered.rounds_done):
        return nothing
    return signals.run(
        Signal.LOG_DIRS,
        lambda: log_dirs.collect(watched.relayed, topology.brokers),
        otherwise=nothing,
        values=log_dirs.values,
    )


def _quorum(watched: Watched, signals: Signals, topology: Topology) -> Quorum | Unknown:
    """Of the broker that gave the round's metadata."""
    nothing: Quorum | Unknown = Unknown("the quorum could not be asked for")
    broker = watched.connections.last_answered
    return signals.run(
        Signal.QUORUM,
        lambda: quorum.collect(watched.relayed, topology.brokers[0] if broker is None else broker),
        otherwise=nothing,
        values=lambda found: [found],
    )
