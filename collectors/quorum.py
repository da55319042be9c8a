"""The controllers' quorum: how far each replica has read the metadata, and who leads, kept as an interval."""

from collections.abc import Mapping

from collectors.intervals import Key, Seen
from collectors.rows import Row, known_or_reason
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.quorum import Quorum, fetch_quorum

SAMPLE_TABLE = "controller_quorum"
TABLE = "controllers"
DETAILS = ()


def collect(relayed: Connections, broker: int) -> Quorum | Unknown:
    """The broker passes it on to the leading controller: it waits for as long as that one does."""
    return fetch_quorum(relayed, broker)


def rows(cluster_id: str, tick: int, quorum: Quorum | Unknown) -> list[Row]:
    if isinstance(quorum, Unknown):
        return []
    return [
        {
            "cluster_id": cluster_id,
            "tick": tick,
            "replica": each.replica,
            "is_voter": each.is_voter,
            "controller": quorum.leader,
            "controller_epoch": quorum.leader_epoch,
            **known_or_reason("high_watermark", quorum.high_watermark),
            **known_or_reason("log_end_offset", each.log_end_offset),
            "last_fetch_at": each.last_fetch_at_ms,
            "last_caught_up_at": each.last_caught_up_at_ms,
            "requested_at": quorum.requested_at_ms,
            "observed_at": quorum.observed_at_ms,
        }
        for each in quorum.replicas
    ]


def seen(quorum: Quorum | Unknown) -> Mapping[Key, Seen]:
    if isinstance(quorum, Unknown):
        return {}
    value = {"controller": quorum.leader, "controller_epoch": quorum.leader_epoch}
    return {(): Seen(value=value, at_ms=quorum.observed_at_ms)}
