"""Which broker coordinates a group or a transactional id: it leads the partition of the topic where its state lies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from guarantees.unknown import Unknown
from kafka_reader.internal_records import partition_of
from kafka_reader.metadata import Topology

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"


@dataclass(frozen=True, slots=True)
class Coordinators:
    """`leaders` of the partitions of `topic` in their order, None where there is none.

    They are empty where the topic may not be described: then any of `brokers` may be a coordinator.
    """

    topic: str
    leaders: tuple[int | None, ...]
    brokers: tuple[int, ...]

    def of(self, name: str) -> int | Unknown | None:
        """The coordinator of a name; None where it cannot be told which broker that is, Unknown where there is none."""
        if not self.leaders:
            return None
        partition = partition_of(name, len(self.leaders))
        leader = self.leaders[partition]
        return unavailable(f"{self.topic}-{partition} has no leader") if leader is None else leader


def coordinators(topic: str, topology: Topology) -> Coordinators:
    """Looked up once for a round."""
    leaders = {place.partition: state.leader for place, state in topology.states.items() if place.topic == topic}
    return Coordinators(topic, tuple(leaders[partition] for partition in sorted(leaders)), topology.brokers)


def why_silent(name: str, last: int, answers: Mapping[int, object], coordinators: Coordinators) -> Unknown | None:
    """Why the coordinator of a name did not answer; None where it did.

    `answers` are by broker. Where it cannot be told who the coordinator is, it is taken to be `last`, the last one.
    """
    coordinator = coordinators.of(name)
    if isinstance(coordinator, Unknown):
        return coordinator
    asked = last if coordinator is None else coordinator
    answer = answers.get(asked, Unknown(f"broker {asked} is not in the cluster"))
    return unavailable(answer.reason) if isinstance(answer, Unknown) else None


def by_broker(names: Iterable[str], answers: Mapping[int, object], coordinators: Coordinators) -> dict[int, list[str]]:
    """Whom to ask for each name: its coordinator, or every broker that answers where it cannot be told who that is."""
    answering = [broker for broker, answer in answers.items() if not isinstance(answer, Unknown)]
    asked: dict[int, list[str]] = {}
    for name in names:
        coordinator = coordinators.of(name)
        for broker in [coordinator] if isinstance(coordinator, int) else answering:
            asked.setdefault(broker, []).append(name)
    return asked


def unavailable(reason: str) -> Unknown:
    """Nobody speaks for the name now; what was known of it has not ended."""
    return Unknown(f"coordinator unavailable: {reason}")
