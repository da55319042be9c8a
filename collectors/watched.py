"""A watched cluster: its connections, and what one round must remember of the ones before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType

from collectors.commit_places import Places, Reads
from collectors.configurations import Settings as TopicSettings
from collectors.epoch_ends import EpochsKnown
from collectors.histories import Histories
from collectors.intervals import Running
from collectors.rights import Rights
from collectors.scope import Scope
from guarantees.observations import GroupState
from kafka_reader.connection import Connections
from kafka_reader.features import Described
from kafka_reader.groups import ListedGroup
from kafka_reader.listed_offsets import ListedOffsets
from kafka_reader.metadata import Topology
from settings import ClusterSettings, PipelineSettings

# Rounds further apart than this leave a gap in what was observed.
GAP_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a round takes from the one before; a plain value, so a restart can put it together from the store.

    `is_calm`: nothing failed or moved in it. `scope` and `places` are what its metadata and its commits were about;
    `intervals` are the running ones by table; `settled` the newest sample of each group outside a rebalance.
    """

    groups: Mapping[str, ListedGroup] = field(default_factory=dict)
    reads: Reads = field(default_factory=dict)
    places: Places | None = None
    scope: Scope | None = None
    topology: Topology | None = None
    log_starts: ListedOffsets | None = None
    is_calm: bool = False
    settled: Mapping[str, GroupState] = field(default_factory=dict)
    topic_settings: TopicSettings = field(default_factory=dict)
    epochs: EpochsKnown = field(default_factory=EpochsKnown)
    rights: Rights = field(default_factory=Rights)
    intervals: Mapping[str, Running] = field(default_factory=dict)
    histories: Histories = field(default_factory=Histories)
    described: Described | None = None
    rounds_done: int = 0


@dataclass(frozen=True, slots=True)
class Watched:
    """A cluster and the clients that read it; they are closed with it.

    A broker works through a connection's requests one by one, so questions that make it wait have connections of their
    own: they would hold up everything else that is asked of a healthy broker, and it would be taken for silent.
    `relayed` are for what it passes on to another one, or to its disks; with a silent controller or partition leader
    behind it that takes half a minute. `of_commits` are for stable commits: a coordinator answers once what it wrote is
    replicated, so of a follower that died it waits until that one is out of sync (GroupCoordinatorService.fetchOffsets:
    with require_stable up to offsets.commit.timeout.ms, 5 s).
    """

    settings: ClusterSettings
    connections: Connections
    relayed: Connections
    of_commits: Connections
    pipelines: tuple[PipelineSettings, ...] = ()

    def __enter__(self) -> "Watched":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every connection."""
        for each in (self.connections, self.relayed, self.of_commits):
            each.close()

    def learn_brokers(self, topology: Topology) -> None:
        """Take over where brokers are; the connections that metadata came over know."""
        if topology.answer is not None:
            for each in (self.relayed, self.of_commits):
                each.learn_brokers(topology.answer.brokers, topology.cluster_id)

    @property
    def gap_ms(self) -> int:
        """Longer than this between two samples, and what happened between them is not known."""
        return round(GAP_ROUNDS * self.settings.interval_s * 1000)


def open_cluster(settings: ClusterSettings, pipelines: Iterable[PipelineSettings] = ()) -> Watched:
    """The clients of a cluster. Nobody is asked anything yet; raises SettingsError where a secret is missing."""
    connections = partial(
        Connections, settings.bootstrap_servers, settings.security, request_timeout_s=settings.request_timeout_s
    )
    return Watched(
        settings=settings,
        connections=connections(),
        relayed=connections(),
        of_commits=connections(),
        pipelines=tuple(pipeline for pipeline in pipelines if pipeline.cluster == settings.name),
    )
