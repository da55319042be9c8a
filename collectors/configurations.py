"""Topic configurations, asked in every Nth round: they change rarely and cost a request per hundred topics."""

from collections.abc import Mapping

from guarantees.unknown import Unknown
from kafka_reader.configurations import MIN_INSYNC_REPLICAS, Configurations
from kafka_reader.errors import is_not_permitted

EVERY_ROUNDS = 12

Settings = Mapping[str, Mapping[str, str] | Unknown]


def is_due(rounds_done: int, known: Settings, topics: tuple[str, ...]) -> bool:
    """Each Nth round, and as soon as a topic is new."""
    return rounds_done % EVERY_ROUNDS == 0 or not known.keys() >= set(topics)


def collect(configurations: Configurations, topics: tuple[str, ...], timeout_s: float) -> Settings:
    return configurations.fetch(topics, timeout_s)


def renewed(before: Settings, now: Settings) -> dict[str, Mapping[str, str] | Unknown]:
    """What was read last, per topic. A read that failed leaves what is known; a refusal is an answer."""
    kept = {topic: before[topic] for topic in now if topic in before}
    return kept | {
        topic: read for topic, read in now.items() if not isinstance(read, Unknown) or is_not_permitted(read)
    }


def min_insync_replicas(settings: Settings) -> dict[str, int]:
    """Of the topics whose setting is known."""
    return {
        topic: int(known[MIN_INSYNC_REPLICAS])
        for topic, known in settings.items()
        if not isinstance(known, Unknown) and MIN_INSYNC_REPLICAS in known
    }
