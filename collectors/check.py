"""What Tidemark can see of a cluster, in sentences: for a first start, and for when something is missing."""

from collections.abc import Iterable, Iterator, Mapping

from collectors import seen_rights
from collectors.round import collect_round, fetch_cluster
from collectors.signals import Signals
from collectors.watched import Remembered, Watched, open_cluster
from guarantees.needs import NEEDS, hidden_without
from guarantees.observations import Coverage, GroupState, Round, Signal
from kafka_reader.errors import NOT_PERMITTED, CollectionError
from kafka_reader.rights import cluster_request
from kafka_reader.security import security_sentence
from settings import ClusterSettings, PipelineSettings, SettingsError


def check(cluster: ClusterSettings, pipelines: Iterable[PipelineSettings] = ()) -> list[str]:
    """Ask everything once; nothing is stored."""
    try:
        with open_cluster(cluster, pipelines) as watched:
            return [security_sentence(cluster.security), *_seen(watched)]
    except SettingsError as exc:
        return [f"{cluster.name}: {exc}"]


def _seen(watched: Watched) -> list[str]:
    signals, name = Signals(), watched.settings.name
    topology = fetch_cluster(watched, signals, Remembered())
    if topology is None:
        return [f"{name}: {signals.coverage[0].error}"]
    observed = collect_round(watched, signals, topology, Remembered(), tick=0).round
    version = watched.connections.kafka_version or "of unknown version"
    return [
        f"{name}: cluster {observed.cluster_id}, Kafka {version}",
        *broker_sentences(reachable(watched)),
        *(absent_sentence(request) for request in watched.connections.not_understood),
        *(coverage_sentence(coverage) for coverage in observed.coverage),
        *seen_rights.sentences(watched, topology, observed),
        *contents(observed),
    ]


def reachable(watched: Watched) -> dict[int, str | None]:
    """Of every broker None, or why it cannot be asked; the question needs no right."""
    brokers = watched.connections.brokers
    answers = watched.connections.send_all({broker: cluster_request() for broker in brokers})
    return {broker: str(answer) if isinstance(answer, CollectionError) else None for broker, answer in answers.items()}


def broker_sentences(brokers: Mapping[int, str | None]) -> Iterator[str]:
    """Which answer, and what is unknown because of the others."""
    answering = [str(broker) for broker, why_not in sorted(brokers.items()) if why_not is None]
    yield f"brokers that answer: {', '.join(answering) or 'none'}"
    for why_not in filter(None, brokers.values()):
        yield f"{why_not}: offsets of the partitions it leads and groups it coordinates will be unknown"


# Of a signal with several requests: what one alone tells.
_TOLD_BY = {
    "ConsumerGroupDescribe": "members of groups of the consumer protocol (KIP-848)",
    "DescribeTopicPartitions": "eligible leader replicas (KIP-966)",
}


def absent_sentence(request: str) -> str:
    """What a version of Kafka without the request cannot say."""
    of_signals = [need.hides for need in NEEDS.values() if request in need.requests.split(", ")]
    hidden = _TOLD_BY.get(request) or "; ".join(of_signals) or "batch headers, duplicates and losses"
    return f"{request} is not understood by these brokers; unknown: {hidden}"


def coverage_sentence(coverage: Coverage) -> str:
    """How much of a signal arrived, why the rest did not, and what is therefore unknown."""
    if coverage.asked == 0:
        return f"{coverage.signal}: nothing to ask for"
    told = f"{coverage.signal}: {coverage.answered} of {coverage.asked} answered"
    refused = f", {coverage.refused} not permitted" if coverage.refused else ""
    failed = f", {coverage.failed} failed" if coverage.failed else ""
    # Counted as "not permitted" before; each reason need not say it again.
    why = f": {coverage.error.replace(f'{NOT_PERMITTED}: ', '')}" if coverage.error else ""
    hidden = "" if coverage.is_complete else f"; unknown there: {hidden_without(coverage.signal)}"
    return f"{told}{refused}{failed}{why}{hidden}"


def contents(observed: Round) -> list[str]:
    """What there is to watch. Kafka leaves out what may not be described, so nothing seen is not nothing there."""
    topics = {partition.topic for partition in observed.partitions}
    groups = observed.groups.values()
    active = sum(isinstance(group, GroupState) and bool(group.members) for group in groups)
    sentences = [
        f"{len(topics)} topics with {len(observed.partitions)} partitions are watched",
        f"{len(groups)} groups are watched, {active} with members",
    ]
    rights = next((each for each in observed.coverage if each.signal == Signal.RIGHTS), None)
    for what, seen in (("topic", topics), ("group", groups)):
        if not seen:
            sentences.append(f"there is no {what} to watch" if _is_all(rights, what) else _NONE_VISIBLE.format(what))
    return sentences


def _is_all(rights: Coverage | None, what: str) -> bool:
    """Nothing of the kind can be left out; where reasons were too many to be told, one of them may say it can."""
    if rights is None or rights.failed:
        return False
    told = rights.error or ""
    return not any(words in told for words in (f"on every {what}", f"on {what} ", "more reasons"))


_NONE_VISIBLE = "no {0} is visible: there is none, or DESCRIBE on {0}s is missing"
