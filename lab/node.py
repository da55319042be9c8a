"""One Kafka node: its role, its files and its command line. Nothing here starts anything."""

import base64
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CONTROLLER_ID = 100

# Quick timings, so that a fault shows within seconds.
BROKER_SETTINGS: Mapping[str, str] = {
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "1000",
    "replica.lag.time.max.ms": "5000",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "share.coordinator.state.topic.num.partitions": "2",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    # Logs are tidied as soon as they may be, so that retention and compaction show within seconds.
    "log.initial.task.delay.ms": "1000",
    "log.retention.check.interval.ms": "1000",
    "log.segment.delete.delay.ms": "1000",
    "log.cleaner.backoff.ms": "500",
    # Small heaps: the cleaner would take 128 MB of each at once.
    "log.cleaner.dedupe.buffer.size": "4194304",
    "num.network.threads": "2",
    "num.io.threads": "4",
}

JVM_FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.awt.headless=true")
_HEAP: Mapping[str, Sequence[str]] = {"controller": ("-Xmx200m", "-Xms64m"), "broker": ("-Xmx400m", "-Xms200m")}


@dataclass(frozen=True, slots=True)
class Listener:
    """A further listener of a broker, and the port under which it is advertised, which may be a proxy's.

    `protocol` is one of Kafka's: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL.
    """

    name: str
    protocol: str
    port: int
    advertised_port: int


@dataclass(frozen=True, slots=True)
class Node:
    """A controller or a broker on the loopback address."""

    node_id: int
    role: str
    port: int
    directory: Path
    listeners: tuple[Listener, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.role}-{self.node_id}"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def data_dir(self) -> Path:
        return self.directory / "data"

    @property
    def properties_file(self) -> Path:
        return self.directory / "server.properties"

    @property
    def output(self) -> Path:
        """What the process writes to its standard output and error."""
        return self.directory / f"{self.name}.out"


def server_properties(
    node: Node, controller: Node, overrides: Mapping[str, str], *, brokers: int = 3
) -> dict[str, str]:
    """The node's configuration; `overrides` win over everything and go to all nodes."""
    return {
        "process.roles": node.role,
        "node.id": str(node.node_id),
        "controller.quorum.voters": f"{controller.node_id}@{controller.address}",
        "controller.listener.names": "CONTROLLER",
        **_listeners(node),
        "log.dirs": str(node.data_dir),
        **_replication(brokers),
        **BROKER_SETTINGS,
        **overrides,
    }


def _listeners(node: Node) -> dict[str, str]:
    first = "CONTROLLER" if node.role == "controller" else "PLAINTEXT"
    more = node.listeners
    return {
        "listeners": ",".join([f"{first}://{node.address}", *(f"{e.name}://127.0.0.1:{e.port}" for e in more)]),
        "advertised.listeners": ",".join(
            [f"{first}://{node.address}", *(f"{e.name}://127.0.0.1:{e.advertised_port}" for e in more)]
        ),
        "listener.security.protocol.map": ",".join(
            ["CONTROLLER:PLAINTEXT", "PLAINTEXT:PLAINTEXT", *(f"{e.name}:{e.protocol}" for e in more)]
        ),
        "inter.broker.listener.name": "PLAINTEXT",
    }


def _replication(brokers: int) -> dict[str, str]:
    """As many replicas as there are brokers, up to three; of three, two must acknowledge."""
    replicas, minimum = str(min(3, brokers)), str(min(2, brokers))
    own = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
    return {
        "default.replication.factor": replicas,
        "min.insync.replicas": minimum,
        **{f"{topic}.replication.factor": replicas for topic in own},
        **{f"{topic}.min.isr": minimum for topic in own[1:]},
    }


def java_command(node: Node, java: Path, classpath: str, logging_file: Path) -> list[str]:
    """The command that runs the node."""
    return [
        *(str(java), *_HEAP[node.role], *JVM_FLAGS),
        f"-Dlog4j2.configurationFile={logging_file}",
        f"-Dlab.log={node.directory}",
        *("-cp", classpath, "kafka.Kafka", str(node.properties_file)),
    ]


def format_command(node: Node, java: Path, classpath: str, cluster_id: str, logging_file: Path) -> list[str]:
    """The command that makes the node's data directory ready for its first start."""
    return [
        *(str(java), "-Xmx150m", *JVM_FLAGS),
        *(f"-Dlog4j2.configurationFile={logging_file}", f"-Dlab.log={node.directory}"),
        *("-cp", classpath, "kafka.tools.StorageTool"),
        *("format", "-t", cluster_id, "-c", str(node.properties_file)),
    ]


def logging_properties(*, log_requests: bool) -> str:
    """log4j2: the server's log into its folder; with `log_requests` every request it serves into a file of its own."""
    lines = [
        "status = error",
        "appender.server.type = File",
        "appender.server.name = server",
        "appender.server.fileName = ${sys:lab.log}/server.log",
        *_layout("server"),
        "rootLogger.level = info",
        "rootLogger.appenderRef.server.ref = server",
    ]
    if log_requests:
        lines += [
            "appender.requests.type = File",
            "appender.requests.name = requests",
            "appender.requests.fileName = ${sys:lab.log}/requests.log",
            *_layout("requests"),
            "logger.requests.name = kafka.request.logger",
            "logger.requests.level = debug",
            "logger.requests.additivity = false",
            "logger.requests.appenderRef.requests.ref = requests",
        ]
    return "\n".join(lines) + "\n"


def as_properties(settings: Mapping[str, str]) -> str:
    """The text of a Java properties file; the lab's values need no escaping."""
    return "".join(f"{key}={value}\n" for key, value in settings.items())


def _layout(appender: str) -> list[str]:
    return [
        f"appender.{appender}.layout.type = PatternLayout",
        f"appender.{appender}.layout.pattern = %d{{ISO8601}} %p %m (%c{{1}})%n%ex",
    ]


def meta_of_another_node(meta: str, node_id: int, directory_id: str) -> str:
    """`meta.properties` of one node, made over to another one of the same cluster."""
    meta = re.sub(r"^node\.id=.*$", f"node.id={node_id}", meta, flags=re.MULTILINE)
    return re.sub(r"^directory\.id=.*$", f"directory.id={directory_id}", meta, flags=re.MULTILINE)


def random_id(draw: Callable[[], uuid.UUID] = uuid.uuid4) -> str:
    """A UUID as Kafka writes it; as its own (Uuid.randomUuid) none that a command would take for an option."""
    text = "-"
    while text.startswith("-"):
        text = base64.urlsafe_b64encode(draw().bytes).decode().rstrip("=")
    return text
