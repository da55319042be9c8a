"""Connections to the brokers of one cluster: ask, wait a bounded time, come back by themselves.

The only user of kafka-python's connection manager. Its network loop runs on one background thread per Connections.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from kafka.errors import AuthorizationError, KafkaError, NodeNotReadyError, SaslAuthenticationFailedError
from kafka.future import Future
from kafka.net.connection import KafkaConnection
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from kafka_reader.addresses import addresses, metadata_of
from kafka_reader.allowed import READ_ONLY, refuse_writes
from kafka_reader.answer import Answer, now_ms
from kafka_reader.errors import BrokerUnavailableError, CollectionError, RequestRefusedError, translated
from kafka_reader.failed_connections import close_failed_connections
from kafka_reader.large_reads import read_in_large_pieces
from kafka_reader.last_answer import keep_last_answers
from kafka_reader.security import kafka_python_options
from kafka_reader.undecoded import PreparedRequests
from settings import Security, SettingsError

CLIENT_ID = "tidemark"

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 1.0

# Of kafka-python's defaults two are traps: beyond 5 requests in flight a send fails, and so does an answer over 1 MB.
MAX_IN_FLIGHT = 100
RECEIVE_MAX_BYTES = 100_000_000

read_in_large_pieces()
keep_last_answers()
close_failed_connections()
_AUTHENTICATION = (SaslAuthenticationFailedError, AuthorizationError)

# A broker's node id; until the brokers are known, a bootstrap address goes by kafka-python's name for it.
NodeId = int | str


class Connections:
    """The brokers of one cluster, each reached over one connection.

    A broker that does not answer in time is left alone: until it has come back, asking it fails at once, so it costs
    one timeout in all and not one per request, and never delays the others. Coming back is tried in the background, at
    most once per LONGEST_PAUSE_S. Arguments are plain values: a Spark executor makes its own Connections from them.
    Safe to use from several threads.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        security: Security,
        *,
        request_timeout_s: float = 1.0,
        receive_max_bytes: int = RECEIVE_MAX_BYTES,
    ) -> None:
        self._timeout_s = request_timeout_s
        self._security = security
        self.prepared = PreparedRequests()
        # Decoding a large answer takes longer than the loop's default threshold for a warning: it is no fault.
        self._net = NetworkSelector(client_id=CLIENT_ID, slow_task_threshold_secs=0)
        self._manager = KafkaConnectionManager(
            self._net,
            bootstrap_servers=bootstrap_servers,
            client_id=CLIENT_ID,
            client_software_name=CLIENT_ID,
            receive_message_max_bytes=receive_max_bytes,
            max_in_flight_requests_per_connection=MAX_IN_FLIGHT,
            request_timeout_ms=request_timeout_s * 1000,
            socket_connection_setup_timeout_ms=request_timeout_s * 1000,
            socket_connection_setup_timeout_max_ms=request_timeout_s * 1000,
            reconnect_backoff_max_ms=LONGEST_PAUSE_S * 1000,
            **kafka_python_options(security),
        )
        self._is_login_refused = False
        self._absent: dict[NodeId, CollectionError] = {}
        self._last_answered: NodeId | None = None
        self._net.start()

    def __enter__(self) -> "Connections":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection and end the background thread; what is still in flight fails."""
        self._net.run(self._manager.close)
        self._net.close()

    @property
    def brokers(self) -> tuple[int, ...]:
        """Node ids as of the last metadata, sorted; empty before the first."""
        return tuple(sorted(broker.node_id for broker in self._manager.cluster.brokers()))

    @property
    def last_answered(self) -> int | None:
        """The broker that answered the last question put to any; None before the first that is known by its node id."""
        return self._last_answered if isinstance(self._last_answered, int) else None

    @property
    def kafka_version(self) -> str | None:
        """As far as the requests the brokers understand tell; None before the first answer."""
        known = self._manager.broker_version_data
        return None if known is None else str(known.broker_version_str)

    @property
    def not_understood(self) -> tuple[str, ...]:
        """Requests Tidemark sends that these brokers do not know; empty before the first answer."""
        known = self._manager.broker_version_data
        return () if known is None else tuple(name for key, name in READ_ONLY.items() if key not in known.api_versions)

    def metadata(self, topics: Iterable[str] | None = None) -> Answer:
        """A MetadataResponse (v10 or later: topic ids) of these topics, None: of all. Learns the brokers' addresses.

        Raises BrokerUnavailableError when no broker answers.
        """
        answer = self.send_any(metadata_of(topics))
        self.learn_brokers(answer.response.brokers, answer.response.cluster_id)
        return answer

    def learn_brokers(self, brokers: Iterable[Any], cluster_id: str) -> None:
        """Take over the addresses that a Metadata answer names, each with node_id, host, port and rack."""
        self._net.run(self._learn_brokers, tuple(brokers), cluster_id)

    def send(self, node_id: int, request: Any, timeout_s: float | None = None) -> Any:
        """The broker's response, decoded by kafka-python. Raises CollectionError; see `send_all` for many brokers."""
        answer = self.send_all({node_id: request}, timeout_s)[node_id]
        if isinstance(answer, CollectionError):
            raise answer
        return answer.response

    def send_all(
        self, requests: Mapping[int, Any], timeout_s: float | None = None
    ) -> dict[int, Answer | CollectionError]:
        """Ask several brokers side by side. Takes as long as the slowest answer, at most the timeout."""
        for request in requests.values():
            refuse_writes(request)
        if requests and not self.brokers:
            self.metadata(topics=())
        answers: dict[int, Answer | CollectionError] = self._net.run(self._ask_all, requests, timeout_s)
        return answers

    def send_any(self, request: Any, timeout_s: float | None = None) -> Answer:
        """The first answer of any broker, asked one after another, the one that answered last first."""
        refuse_writes(request)
        failures: list[str] = []
        for node_id in self._candidates():
            answer = self._net.run(self._ask_all, {node_id: request}, timeout_s)[node_id]
            if isinstance(answer, Answer):
                self._last_answered = node_id
                return answer
            if isinstance(answer, RequestRefusedError):
                raise answer
            failures.append(str(answer))
        raise BrokerUnavailableError("no broker answers: " + "; ".join(failures))

    def _candidates(self) -> list[NodeId]:
        known = sorted(self.brokers, key=lambda node_id: node_id != self._last_answered)
        return [*known, *(broker.node_id for broker in self._manager.cluster.bootstrap_brokers())]

    # What follows runs on the background thread.

    async def _ask_all(
        self, requests: Mapping[NodeId, Any], timeout_s: float | None
    ) -> dict[NodeId, Answer | CollectionError]:
        timeout_ms = 1000 * (self._timeout_s if timeout_s is None else timeout_s)
        asked: dict[NodeId, Future] = {
            node_id: self._manager.call_soon(self._ask, node_id, request, timeout_ms)
            for node_id, request in requests.items()
        }
        return {node_id: await future for node_id, future in asked.items()}

    async def _ask(self, node_id: NodeId, request: Any, timeout_ms: float) -> Answer | CollectionError:
        if node_id in self._absent:
            return self._absent[node_id]
        requested_at_ms = now_ms()
        connection: KafkaConnection | None = None
        try:
            connection = self._connection(node_id)
            sent = connection.send_request(request, request_timeout_ms=timeout_ms)
            response = await self._manager.wait_for(sent, timeout_ms)
        except (KafkaError, OSError) as exc:
            self._is_login_refused |= isinstance(exc, _AUTHENTICATION)
            failure = translated(exc, node_id)
            if connection is not None and not isinstance(exc, NodeNotReadyError):
                self._give_up(node_id, connection, exc, failure)
            return failure
        return Answer(response, requested_at_ms, now_ms())

    def _connection(self, node_id: NodeId) -> KafkaConnection:
        # kafka-python keeps a failed login for ever, and the secret it knows; one that was mended must work.
        self._manager._auth_failures.pop(node_id, None)
        if self._is_login_refused:
            with suppress(SettingsError):
                self._manager.config.update(kafka_python_options(self._security))
            self._is_login_refused = False
        # Without refresh_metadata_on_err the library would start a metadata loop of its own.
        return self._manager.get_connection(node_id, refresh_metadata_on_err=False)

    def _give_up(self, node_id: NodeId, connection: KafkaConnection, exc: Exception, failure: CollectionError) -> None:
        """Close what did not answer and try in the background until it is back."""
        if isinstance(failure, RequestRefusedError) and not isinstance(exc, _AUTHENTICATION):
            return
        if not connection.closed:
            connection.close(exc)
        if node_id not in self._absent:
            self._absent[node_id] = failure
            self._manager.call_soon(self._come_back, node_id)

    async def _come_back(self, node_id: NodeId) -> None:
        pause_s = FIRST_PAUSE_S
        while node_id in self.brokers and not self._manager.closed:
            await self._net.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            self._manager.reset_backoff(node_id)
            try:
                await self._connection(node_id)
            except (KafkaError, OSError) as exc:
                self._is_login_refused |= isinstance(exc, _AUTHENTICATION)
                self._absent[node_id] = translated(exc, node_id)
            else:
                break
        self._absent.pop(node_id, None)

    def _learn_brokers(self, brokers: Iterable[Any], cluster_id: str) -> None:
        """The addresses alone: partitions and leaders are Tidemark's own business."""
        self._manager.cluster.update_metadata(addresses(brokers, cluster_id))
        for broker in self._manager.cluster.bootstrap_brokers():
            self._manager.close(broker.node_id)
