"""Rights in sentences: which are there on what is visible, which are missing, and which nobody needs."""

from collections.abc import Iterable, Iterator, Mapping

from collectors.watched import Watched
from guarantees.needs import hidden_without
from guarantees.observations import Round, Signal
from guarantees.unknown import Unknown
from kafka_reader.metadata import Topology
from kafka_reader.rights import (
    CHANGES,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    READ,
    Operations,
    fetch_cluster_operations,
    fetch_topic_operations,
)

# Rights on topics beside DESCRIBE: what is hidden without them.
_BESIDE_DESCRIBE: Mapping[int, tuple[str, str]] = {
    READ: (
        "READ",
        f"{hidden_without(Signal.PRODUCERS)}, and batch headers, duplicates and losses in the records",
    ),
    DESCRIBE_CONFIGS: ("DESCRIBE_CONFIGS", hidden_without(Signal.CONFIGS)),
}
SHOWN = 5


def sentences(watched: Watched, topology: Topology, observed: Round) -> list[str]:
    """Asked of the broker by name, for what it showed."""
    topics = sorted({partition.topic for partition in observed.partitions})
    of_topics = fetch_topic_operations(watched.connections, topics) if topics else {}
    of_cluster = fetch_cluster_operations(watched.connections)
    return [*topic_sentences(of_topics), *cluster_sentences(of_cluster), *needless_sentences(of_topics, of_cluster)]


def topic_sentences(of_topics: Mapping[str, Operations | Unknown]) -> Iterator[str]:
    """READ and DESCRIBE_CONFIGS of every topic that may be described."""
    known = {topic: may for topic, may in of_topics.items() if not isinstance(may, Unknown)}
    for operation, (word, hidden) in _BESIDE_DESCRIBE.items():
        without = sorted(topic for topic, may in known.items() if operation not in may)
        if without:
            yield f"{word} is missing on {_counted(without, of_topics)}: unknown there: {hidden}"
        elif known:
            yield f"{word}: on all {len(known)} visible topics"
    unknown = {topic: may for topic, may in of_topics.items() if isinstance(may, Unknown)}
    for topic, why in sorted(unknown.items())[:SHOWN]:
        yield f"the rights on topic {topic} are unknown: {why.reason}"


def cluster_sentences(of_cluster: Operations | Unknown) -> Iterator[str]:
    """DESCRIBE on the cluster is optional: every group is listed, and log directories and the quorum are seen."""
    if isinstance(of_cluster, Unknown):
        yield f"the rights on the cluster are unknown: {of_cluster.reason}"
    elif DESCRIBE in of_cluster:
        yield "DESCRIBE on the cluster is there"
    else:
        hidden = f"{hidden_without(Signal.LOG_DIRS)}; {hidden_without(Signal.QUORUM)}"
        yield f"DESCRIBE on the cluster is missing, which is optional; unknown: {hidden}"


def needless_sentences(
    of_topics: Mapping[str, Operations | Unknown], of_cluster: Operations | Unknown
) -> Iterator[str]:
    """Rights to change something: Tidemark only reads, so a principal of its own should not have them."""
    words = {
        word
        for may in (*of_topics.values(), of_cluster)
        if not isinstance(may, Unknown)
        for operation, word in CHANGES.items()
        if operation in may
    }
    if words:
        yield f"the principal may also {', '.join(sorted(words))}: Tidemark needs none of these, take them away"


def _counted(topics: Iterable[str], of_all: Mapping[str, object]) -> str:
    named = list(topics)
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    return f"{len(named)} of {len(of_all)} topics ({', '.join(named[:SHOWN])}{more})"
