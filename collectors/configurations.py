"""Topic configurations, asked in every Nth round: they change rarely and cost a request per hundred topics."""

import json
from collections.abc import Mapping

from collectors import seldom
from collectors.intervals import Interval, Key, Seen
from guarantees.topic_settings import TopicSettings
from guarantees.unknown import Unknown
from kafka_reader.configurations import fetch_configurations
from kafka_reader.connection import Connections
from kafka_reader.errors import is_not_permitted
from kafka_reader.metadata import Topology

TABLE = "topic_configuration"
DETAILS = ()

Settings = Mapping[str, Mapping[str, str] | Unknown]


def is_due(rounds_done: int, known: Settings, topics: tuple[str, ...]) -> bool:
    """Each Nth round, and as soon as a topic is new."""
    return seldom.is_due(rounds_done) or not known.keys() >= set(topics)


def collect(connections: Connections, topics: tuple[str, ...]) -> Settings:
    return fetch_configurations(connections, topics)


def renewed(before: Settings, now: Settings) -> dict[str, Mapping[str, str] | Unknown]:
    """What was read last, per topic. A read that failed leaves what is known; a refusal is an answer."""
    kept = {topic: before[topic] for topic in now if topic in before}
    return kept | {
        topic: read for topic, read in now.items() if not isinstance(read, Unknown) or is_not_permitted(read)
    }


def known(settings: Settings) -> dict[str, TopicSettings]:
    """Of the topics whose settings could be read."""
    return {topic: its for topic, its in settings.items() if not isinstance(its, Unknown)}


def seen(topology: Topology, settings: Mapping[str, TopicSettings], at_ms: int) -> dict[Key, Seen]:
    """Settings hold until they are read again."""
    return {
        (topology.topic_ids[topic],): Seen(
            value={"topic": topic, "configuration": json.dumps(its, sort_keys=True)}, at_ms=at_ms
        )
        for topic, its in settings.items()
        if topic in topology.topic_ids
    }


def gone(topology: Topology, interval: Interval) -> str | None:
    """The topic ended where the cluster's list of topics says so; a topic with an error says nothing."""
    topic = str(interval.value["topic"])
    if topic in topology.failed or topology.topic_ids.get(topic) == interval.key[0]:
        return None
    return "the topic was made anew" if topic in topology.topic_ids else "the topic is no longer listed"


def stored(interval: Interval) -> tuple[str, TopicSettings]:
    """The inverse of `seen`."""
    return str(interval.value["topic"]), json.loads(str(interval.value["configuration"]))
