"""A real Kafka cluster on the loopback address: a controller, and brokers that can be killed and paused."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from confluent_kafka import KafkaException

from lab.cache import cache_dir
from lab.child import Child
from lab.clients import admin_client
from lab.errors import LabError
from lab.java import java_home
from lab.kafka_jars import KAFKA_VERSION, Progress, kafka_classpath
from lab.memory import available_memory_bytes, check_memory
from lab.node import (
    CONTROLLER_ID,
    Listener,
    Node,
    as_properties,
    format_command,
    java_command,
    logging_properties,
    meta_of_another_node,
    random_id,
    server_properties,
)
from lab.ports import free_ports, is_listening
from lab.proxy import LostAnswers, Passed, Proxy

OUTSIDE = "OUTSIDE"
_START_WITHIN_S = 180.0
_STOP_WITHIN_S = 8.0


class Cluster:
    """Started and stopped by its handle; its data lives in a temporary directory and goes with it.

    Start it from a thread that outlives it (see `Child`). `overrides` are server properties for all nodes;
    `listeners` are further ones of every broker, by name their security protocol (`address` tells where);
    `log_requests` makes each broker write every request it serves to `requests.log` in its folder. With `is_proxied`
    the brokers have a second address each, behind a proxy that loses answers on demand (`lost_answers`).
    """

    def __init__(
        self,
        *,
        brokers: int = 3,
        overrides: Mapping[str, str] | None = None,
        listeners: Mapping[str, str] | None = None,
        kafka_version: str = KAFKA_VERSION,
        log_requests: bool = False,
        is_proxied: bool = False,
        progress: Progress = print,
    ) -> None:
        self.broker_ids = tuple(range(1, brokers + 1))
        self._overrides = dict(overrides or {})
        self._listeners = dict(listeners or {}) | ({OUTSIDE: "PLAINTEXT"} if is_proxied else {})
        self._kafka_version = kafka_version
        self._log_requests = log_requests
        self._progress = progress
        self.lost_answers = LostAnswers()
        self._proxies: list[Proxy] = []
        self._children: dict[int, Child] = {}
        self._nodes: dict[int, Node] = {}
        self.directory = Path()

    def __enter__(self) -> "Cluster":
        self.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def bootstrap(self) -> str:
        """The brokers' addresses, for `bootstrap.servers`."""
        return ",".join(self._nodes[broker].address for broker in self.broker_ids)

    @property
    def proxied_bootstrap(self) -> str:
        """For clients that shall reach the brokers through the proxies."""
        return ",".join(f"127.0.0.1:{outside.advertised_port}" for outside in self._outside)

    @property
    def passed(self) -> Passed:
        """What went through the proxies so far."""
        return sum((proxy.passed for proxy in self._proxies), Passed())

    @property
    def _outside(self) -> list[Listener]:
        return [each for node in self._nodes.values() for each in node.listeners if each.name == OUTSIDE]

    def address(self, broker: int, listener: str | None = None) -> str:
        """One broker's host and port; of a further listener where one is named."""
        node = self._nodes[broker]
        ports = {each.name: each.advertised_port for each in node.listeners}
        return node.address if listener is None else f"127.0.0.1:{ports[listener]}"

    def pid(self, broker: int) -> int:
        return self._children[broker].pid

    def broker_log(self, broker: int) -> Path:
        """What the broker logged."""
        return self._nodes[broker].directory / "server.log"

    def requests_log(self, broker: int) -> Path:
        """With `log_requests`: every request the broker served."""
        return self._nodes[broker].directory / "requests.log"

    def partition_log(self, broker: int, topic: str, partition: int) -> Path:
        """Where the broker keeps the partition's segments."""
        return self._nodes[broker].data_dir / f"{topic}-{partition}"

    def start(self) -> None:
        """Start all nodes at once and wait until every broker knows every other and coordinators can be had."""
        check_memory(available_memory_bytes())
        cache = cache_dir()
        home = java_home(cache.parent / "java")
        self._java = home / "bin" / "java"
        self._classpath = kafka_classpath(cache, home, self._progress, self._kafka_version)
        self._progress(f"Starting Kafka {self._kafka_version}: one controller and {len(self.broker_ids)} broker(s)")
        started_at = time.monotonic()
        self.directory = Path(tempfile.mkdtemp(prefix="tidemark-kafka-"))
        try:
            self._lay_out()
            self._format()
            for node in self._nodes.values():
                self._spawn(node)
            self._wait_until(self._is_ready, "Kafka did not become ready")
            self._proxies = [Proxy(each.advertised_port, each.port, self.lost_answers) for each in self._outside]
        except BaseException:
            self.stop()
            raise
        self._progress(f"Kafka answers at {self.bootstrap} after {time.monotonic() - started_at:.0f} s")

    def stop(self) -> None:
        """Ask the brokers to end, then the controller; insist after a while; remove the data."""
        for proxy in self._proxies:
            proxy.stop()
        brokers = [child for node_id, child in self._children.items() if node_id != CONTROLLER_ID]
        for child in brokers:
            child.terminate()
        deadline = time.monotonic() + _STOP_WITHIN_S
        for child in brokers:
            if not child.wait(max(0.0, deadline - time.monotonic())):
                child.kill()
        if controller := self._children.get(CONTROLLER_ID):
            controller.stop(_STOP_WITHIN_S)
        self._children.clear()
        if self._nodes:
            shutil.rmtree(self.directory, ignore_errors=True)
            self._nodes = {}

    def kill(self, broker: int) -> None:
        """SIGKILL: the broker vanishes; what it wrote stays in its data directory."""
        self._children[broker].kill()

    def pause(self, broker: int) -> None:
        """SIGSTOP: connections stay open and nothing is answered; out of the cluster after its session of 6 s."""
        self._children[broker].pause()

    def resume(self, broker: int) -> None:
        """SIGCONT after a pause."""
        self._children[broker].resume()

    def restart(self, broker: int) -> None:
        """Start the broker again, stopping it first if it runs, and wait until it is back in the cluster."""
        self._children[broker].stop(_STOP_WITHIN_S)
        self._spawn(self._nodes[broker])
        self._wait_until(lambda: self._knows_all(broker), f"Broker {broker} did not come back")

    def revive(self) -> None:
        """Resume and start again whatever a fault that failed halfway left paused or dead."""
        for broker in self.broker_ids:
            self._children[broker].resume()
            if not self._children[broker].is_running:
                self.restart(broker)

    def _lay_out(self) -> None:
        roles = [(CONTROLLER_ID, "controller"), *((broker, "broker") for broker in self.broker_ids)]
        ports = free_ports(len(roles) * (1 + 2 * len(self._listeners)))
        for node_id, role in roles:
            listeners = self._further_listeners(ports) if role == "broker" else ()
            node = Node(node_id, role, ports.pop(), self.directory / f"{role}-{node_id}", listeners)
            node.directory.mkdir()
            self._nodes[node_id] = node
        for node in self._nodes.values():
            properties = server_properties(
                node, self._nodes[CONTROLLER_ID], self._overrides, brokers=len(self.broker_ids)
            )
            node.properties_file.write_text(as_properties(properties))
        self._logging_file.write_text(logging_properties(log_requests=self._log_requests))

    def _further_listeners(self, ports: list[int]) -> tuple[Listener, ...]:
        """Those behind a proxy are advertised with the proxy's port."""
        found = []
        for name, protocol in self._listeners.items():
            port = ports.pop()
            found.append(Listener(name, protocol, port, ports.pop() if name == OUTSIDE else port))
        return tuple(found)

    @property
    def _logging_file(self) -> Path:
        return self.directory / "log4j2.properties"

    def _format(self) -> None:
        """Format one node and give the others copies under their own ids: saves three starts of a JVM."""
        controller = self._nodes[CONTROLLER_ID]
        command = format_command(controller, self._java, self._classpath, random_id(), self._logging_file)
        formatted = subprocess.run(command, capture_output=True, text=True, check=False)
        if formatted.returncode != 0:
            raise LabError(f"Kafka's storage could not be formatted: {(formatted.stderr or formatted.stdout).strip()}")
        for broker in self.broker_ids:
            node = self._nodes[broker]
            shutil.copytree(controller.data_dir, node.data_dir)
            meta = node.data_dir / "meta.properties"
            meta.write_text(meta_of_another_node(meta.read_text(), node.node_id, random_id()))

    def _spawn(self, node: Node) -> None:
        command = java_command(node, self._java, self._classpath, self._logging_file)
        self._children[node.node_id] = Child(node.name, command, node.output, os.environ)

    def _wait_until(self, holds: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + _START_WITHIN_S
        while not holds():
            for child in self._children.values():
                if not child.is_running:
                    raise LabError(f"{child.name} ended by itself: {child.last_words()}")
            if time.monotonic() > deadline:
                raise LabError(f"{otherwise} within {_START_WITHIN_S:.0f} s: the machine may be too busy; try again.")
            time.sleep(0.2)

    def _is_ready(self) -> bool:
        return all(self._knows_all(broker) for broker in self.broker_ids) and self._finds_coordinators()

    def _knows_all(self, broker: int) -> bool:
        if not is_listening(self._nodes[broker].port):
            return False
        try:
            metadata = admin_client(self._nodes[broker].address).list_topics(timeout=2)
        except KafkaException:
            return False
        return set(metadata.brokers) == set(self.broker_ids)

    def _finds_coordinators(self) -> bool:
        """Asking for a group's coordinator creates `__consumer_offsets`, which needs all brokers."""
        admin = admin_client(self.bootstrap)
        described = admin.describe_consumer_groups(["lab-start"], request_timeout=5)["lab-start"]
        return described.exception(timeout=10) is None
