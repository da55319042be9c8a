"""Faults on a cluster of their own with Tidemark's collectors watching, and the verdict on what those found."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import KafkaException

from lab.beside import CODE as BESIDE
from lab.beside import beside, minima_of
from lab.client_verdict import asked_clients
from lab.cluster import Cluster
from lab.errors import LabError
from lab.faults.catalogue import GroundFault, Piped, mended
from lab.found import Found
from lab.ground import SEEN_AFTER_S, STAYS, Ground
from lab.injected import Injected, append_injected
from lab.judge import Verdict, judge
from lab.kafka_jars import Progress
from lab.partition_log import PartitionLog
from lab.paths import LabPaths
from lab.results import Result, result_of
from lab.topics import Flow, flow_of
from lab.truth import now_ms
from lab.watch import Monitor, data_dir, read_found, watching

# Kafka's own timings, under which a tail lives long enough to be sampled. A single copy is enough for commits: with two
# brokers of three away groups must go on.
CLUSTER_SETTINGS = {
    "broker.session.timeout.ms": "18000",
    "broker.heartbeat.interval.ms": "2000",
    "replica.lag.time.max.ms": "30000",
    "min.insync.replicas": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
# From the evidence: metadata shows within two rounds; a lost id must have been missing for the settle delay.
FOUND_WITHIN_S = 75.0
_LOOK_EVERY_S = 1.0


@dataclass
class Trial:
    """One cluster, watched, and what was injected into it so far."""

    cluster: Cluster
    log: PartitionLog
    monitor: Monitor
    directory: Path
    seed: int
    progress: Progress
    injected: list[Injected] = field(default_factory=list)
    runs: dict[str, tuple[int, float, str | None]] = field(default_factory=dict)
    met: dict[str, tuple[str, ...]] = field(default_factory=dict)
    minima: dict[str, int] = field(default_factory=dict)
    grounds: list[Ground] = field(default_factory=list)
    started_at_ms: int = field(default_factory=now_ms)

    def run(self, faults: Sequence[GroundFault]) -> None:
        """All of them at once: only faults that do not disturb one another. Then listen for what is claimed wrongly."""
        if len(faults) == 1:
            # On this thread: a broker that is started again would end with any shorter one.
            self._run_one(faults[0])
        else:
            with ThreadPoolExecutor(len(faults), thread_name_prefix="fault") as threads:
                list(threads.map(self._run_one, faults))
        time.sleep(SEEN_AFTER_S)

    def clear(self) -> None:
        """Remove the topics, so that what later faults do to the brokers is not theirs too."""
        topics = {topic for ground in self.grounds for topic in ground.topics}
        admin = self.ground("judge").admin
        for deleted in admin.delete_topics(list(topics), operation_timeout=30).values():
            with suppress(KafkaException):  # of a fault that failed before it had them
                deleted.result(timeout=60)
        self.grounds.clear()

    def results(self) -> list[Result]:
        """The verdict on everything injected so far, fault by fault; what belongs to none stands beside."""
        verdict = self.verdict()
        false: dict[str, list[str]] = {}
        for finding in verdict.false_findings:
            owner = owner_of(finding, self.runs)
            false.setdefault(owner, []).append(f"{finding.kind} on {finding.place}: {finding.title}")
        found = [
            result_of(code, self.seed, at_ms, took_s, verdict, false.get(code, ()), self.met[code])
            if error is None
            else Result(code, self.seed, at_ms, took_s, error=error)
            for code, (at_ms, took_s, error) in self.runs.items()
        ]
        return [*found, result_of(BESIDE, self.seed, self.started_at_ms, 0.0, verdict, false.get(BESIDE, ()))]

    def verdict(self) -> Verdict:
        """As the store and the ground truth stand now."""
        changes = self.log.changes()
        admin = self.ground("judge").admin
        self.minima |= minima_of(admin, admin.list_topics(timeout=10).topics)
        also = beside(changes, self.minima, self.injected, now_ms())
        return judge([*self.injected, *also], self._found())

    def ground(self, code: str) -> Ground:
        return Ground(self.cluster, self.log, LabPaths(self.directory), code, self.seed, self.monitor)

    def _run_one(self, fault: GroundFault) -> None:
        started_s, at_ms = time.monotonic(), now_ms()
        ground = self.ground(fault.CODE)
        self.grounds.append(ground)
        self.progress(f"{time.strftime('%H:%M:%S')} {fault.CODE}: {fault.TITLE}")
        error = None
        try:
            injected = fault.inject(ground)
            self._await_found(injected)
            injected = mended(fault, ground, injected)
            self._await_found(injected)
            left = Injected(
                fault=fault.CODE, injected_at_ms=at_ms, evidence_at_ms=at_ms, expected=tuple(ground.departures)
            )
            self.met[fault.CODE] = asked_clients(ground, fault, [left, injected])
            self.injected += [left, injected]
            append_injected(LabPaths(self.directory).injected, injected)
        except (LabError, KafkaException) as exc:
            error = str(exc)
            self.cluster.revive()
        took_s = round(time.monotonic() - started_s, 1)
        self.runs[fault.CODE] = (at_ms, took_s, error)
        self.progress(f"{time.strftime('%H:%M:%S')} {fault.CODE}: {'over' if error is None else error}")

    def _await_found(self, injected: Injected) -> None:
        """Until everything it demands is found, or should have been."""
        while now_ms() < injected.evidence_at_ms + FOUND_WITHIN_S * 1000:
            verdict = judge([injected], self._found())
            if all(row.partitions_found >= row.demanded for row in verdict.rows):
                return
            time.sleep(_LOOK_EVERY_S)

    def _found(self) -> list[Found]:
        return read_found(data_dir(self.directory))


@contextmanager
def trial(directory: Path, seed: int, faults: Sequence[GroundFault], progress: Progress) -> Iterator[Trial]:
    """Start the cluster and Tidemark, and wait until it watches what these faults need."""
    LabPaths(directory).create()
    with (
        Cluster(overrides=CLUSTER_SETTINGS, is_proxied=True, progress=progress) as cluster,
        PartitionLog(cluster.address(STAYS)) as log,
        watching(directory, cluster.bootstrap, flows_of(faults, seed)) as monitor,
    ):
        yield Trial(cluster, log, monitor, directory, seed, progress)


def flows_of(faults: Sequence[GroundFault], seed: int) -> list[Flow]:
    """The pipelines that are to be declared."""
    return [flow_of(fault.CODE, fault.FLOW, seed) for fault in faults if isinstance(fault, Piped)]


def owner_of(finding: Found, codes: Sequence[str] | dict[str, object]) -> str:
    """Faults name their topics and groups after themselves."""
    names = (finding.topic, finding.group_id or "")
    return next((code for code in codes if any(name.startswith(f"{code.lower()}-") for name in names)), BESIDE)
