"""What Tidemark can see of a cluster, in sentences: for a first start, and for when something is missing."""

from collectors.round import collect_round, fetch_cluster
from collectors.signals import Signals
from collectors.watched import Remembered, open_cluster
from guarantees.observations import Coverage, GroupState, Round
from settings import ClusterSettings


def check(cluster: ClusterSettings) -> list[str]:
    """Ask everything once; nothing is stored."""
    with open_cluster(cluster) as watched:
        signals = Signals()
        topology = fetch_cluster(watched, signals, Remembered())
        if topology is None:
            return [f"{cluster.name}: {signals.coverage[0].error}"]
        observed = collect_round(watched, signals, topology, Remembered(), tick=0).round
        return [
            _brokers(cluster.name, observed, topology.brokers, watched.connections.kafka_version),
            *(f"{name} is not understood by these brokers" for name in watched.connections.not_understood),
            *(coverage_sentence(coverage) for coverage in observed.coverage),
            *contents(observed),
        ]


def _brokers(name: str, observed: Round, brokers: tuple[int, ...], version: str | None) -> str:
    listed = ", ".join(map(str, brokers))
    return f"{name}: cluster {observed.cluster_id}, Kafka {version or 'of unknown version'}, brokers {listed}"


def coverage_sentence(coverage: Coverage) -> str:
    """How much of a signal arrived, and why the rest did not."""
    if coverage.asked == 0:
        return f"{coverage.signal}: nothing to ask for"
    told = f"{coverage.signal}: {coverage.answered} of {coverage.asked} answered"
    refused = f", {coverage.refused} not permitted" if coverage.refused else ""
    failed = f", {coverage.failed} failed" if coverage.failed else ""
    return f"{told}{refused}{failed}" + (f": {coverage.error}" if coverage.error else "")


def contents(observed: Round) -> list[str]:
    """What there is to watch. Kafka leaves out what may not be described, so nothing seen is not nothing there."""
    topics = {partition.topic for partition in observed.partitions}
    groups = observed.groups.values()
    active = sum(isinstance(group, GroupState) and bool(group.members) for group in groups)
    sentences = [
        f"{len(topics)} topics with {len(observed.partitions)} partitions are watched",
        f"{len(groups)} groups are watched, {active} with members",
    ]
    if not topics:
        sentences.append("no topic is visible: there is none, or DESCRIBE on topics is missing")
    if not groups:
        sentences.append("no group is visible: there is none, or DESCRIBE on groups is missing")
    return sentences
