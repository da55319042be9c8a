"""Where a partition begins and ends, as its leader says."""

from dataclasses import dataclass

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import OffsetSpec

from lab.clients import admin_client


@dataclass(frozen=True, slots=True)
class End:
    """A partition's end as its leader says: high watermark, and the leader's epoch."""

    offset: int
    leader_epoch: int


def listed_end(
    bootstrap: str,
    topic: str,
    partition: int,
    spec: OffsetSpec,
    isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> End:
    """The earliest or latest offset; a KafkaException while nobody leads."""
    asked = TopicPartition(topic, partition)
    # A client of its own: one that has known another leader asks that one for a long time.
    admin = admin_client(bootstrap)
    answers = admin.list_offsets({asked: spec}, isolation_level=isolation_level, request_timeout=10)
    answer = answers[asked].result(timeout=15)
    return End(int(answer.offset), -1 if answer.leader_epoch is None else int(answer.leader_epoch))
