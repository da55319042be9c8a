"""A cluster in memory that answers what a round asks, in kafka-python's own classes, and notes the order of it."""

import uuid
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kafka.protocol.admin import (
    DescribeGroupsResponse,
    DescribeProducersResponse,
    DescribeTransactionsResponse,
    ListGroupsResponse,
    ListTransactionsResponse,
)
from kafka.protocol.consumer import (
    ConsumerProtocolAssignment,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetFetchResponse,
    OffsetForLeaderEpochResponse,
)
from kafka.protocol.metadata import MetadataResponse

from collectors.watched import Watched
from kafka_reader.answer import Answer, now_ms
from kafka_reader.batch_headers import batch_headers
from kafka_reader.errors import BrokerUnavailableError, CollectionError
from kafka_reader.undecoded import Prepared, PreparedRequests
from settings import ClusterSettings
from tests.collectors import cluster_answers
from tests.collectors.fake_rights import FakeRights
from tests.kafka_reader.answers import as_bytes

TOPIC_ID = uuid.UUID("00000000-0000-4000-8000-000000000001")


@dataclass
class FakeGroup:
    """A classic group; `commits` and `owned` are by partition of the one topic."""

    commits: dict[int, int] = field(default_factory=dict)
    owned: dict[str, list[int]] = field(default_factory=dict)
    coordinator: int = 2
    error_code: int = 0


@dataclass
class FakeCluster:
    """One topic, "orders". `log` holds per partition log start, last stable offset and high watermark.

    `epochs` are the leader epochs of the partitions, `epoch_ends` the answers by (partition, asked epoch).
    `batches` are what Fetch gives, by partition; `refused` the partitions whose Fetch is refused; `fetched_from` every
    partition and offset that was asked for, `fetched_most` how many bytes at most.
    `shares` are share groups of broker 1: start offset and lag by partition. `controller`: who leads the quorum.
    `loading` are groups and transactional ids that their coordinator has not loaded yet.
    """

    log: dict[int, tuple[int, int, int]] = field(default_factory=lambda: {0: (0, 100, 100), 1: (0, 50, 50)})
    leaders: dict[int, int] = field(default_factory=lambda: {0: 1, 1: 2})
    epochs: dict[int, int] = field(default_factory=dict)
    epoch_ends: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    groups: dict[str, FakeGroup] = field(default_factory=dict)
    open_since: dict[int, int] = field(default_factory=dict)
    batches: dict[int, list[bytes]] = field(default_factory=dict)
    topic_id: uuid.UUID = TOPIC_ID
    header_topics: tuple[str, ...] = ()
    refused: set[int] = field(default_factory=set)
    fetched_from: list[tuple[int, int]] = field(default_factory=list)
    max_bytes_per_s: int = 20_000_000
    fetched_most: list[int] = field(default_factory=list)
    silent: set[int] = field(default_factory=set)
    loading: set[str] = field(default_factory=set)
    is_reachable: bool = True
    rights: FakeRights = field(default_factory=FakeRights)
    cluster_id: str = "fake-id"
    asked: list[str] = field(default_factory=list)
    shares: dict[str, dict[int, tuple[int, int]]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=lambda: {"min.insync.replicas": "2", "cleanup.policy": "delete"})
    features: dict[str, int] = field(default_factory=lambda: {"transaction.version": 2})
    controller: int = 100
    prepared: PreparedRequests = field(default_factory=PreparedRequests)

    @property
    def watched(self) -> Watched:
        settings = ClusterSettings(
            name="fake",
            bootstrap_servers="fake:9092",
            interval_s=5.0,
            header_topics=self.header_topics,
            max_bytes_per_s=self.max_bytes_per_s,
            history_bytes_per_s=0,  # it has no topics of Kafka's own
        )
        return Watched(settings=settings, connections=self, relayed=self, of_commits=self)  # type: ignore[arg-type]

    # What a round calls of kafka_reader.connection.Connections.

    @property
    def brokers(self) -> tuple[int, ...]:
        return (1, 2)

    @property
    def last_answered(self) -> int:
        return next(broker for broker in self.brokers if broker not in self.silent)

    def metadata(self, topics: Any = None) -> Answer:
        if not self.is_reachable:
            raise BrokerUnavailableError("no broker answers")
        return self._answer("addresses", self._metadata())

    def learn_brokers(self, brokers: Any, cluster_id: str) -> None:
        """Their addresses are no matter; each of a round's connections is told them."""
        self.asked.append("learn brokers")

    def send_all(self, requests: dict[int, Any], timeout_s: float | None = None) -> dict[int, Answer | CollectionError]:
        return {broker: self._ask(broker, request) for broker, request in requests.items()}

    def send_any(self, request: Any, timeout_s: float | None = None) -> Answer:
        if not self.is_reachable:
            raise BrokerUnavailableError("no broker answers")
        if isinstance(request, Prepared):
            return self._answer("metadata", as_bytes(self._metadata()))
        if self.rights.is_asked(request):
            return self._answer(*self.rights.answer(request))
        return next(answer for broker in self.brokers if isinstance(answer := self._ask(broker, request), Answer))

    def close(self) -> None:
        """Nothing is open."""

    def _ask(self, broker: int, request: Any) -> Answer | CollectionError:
        if broker in self.silent:
            return BrokerUnavailableError(f"broker {broker} did not answer in time")
        answers = {
            1: self._fetched,
            2: self._offsets,
            9: self._commits,
            15: self._descriptions,
            16: self._listed_groups,
            18: partial(cluster_answers.versions, self),
            23: self._epoch_ends,
            32: partial(cluster_answers.configurations, self),
            35: partial(cluster_answers.log_dirs, self),
            55: partial(cluster_answers.quorum, self),
            60: partial(cluster_answers.brokers, self),
            61: self._producers,
            65: self._transactions,
            66: self._listed_transactions,
            77: partial(cluster_answers.share_descriptions, self),
            90: partial(cluster_answers.share_offsets, self),
        }
        name, response = answers[request.API_KEY](broker, request)
        return self._answer(name, as_bytes(response) if isinstance(request, Prepared) else response)

    def _answer(self, name: str, response: Any) -> Answer:
        self.asked.append(name)
        return Answer(response, now_ms(), now_ms())

    def _metadata(self) -> MetadataResponse:
        topic = MetadataResponse.MetadataResponseTopic
        partitions = [
            topic.MetadataResponsePartition(
                error_code=0 if leader else 5,
                partition_index=index,
                leader_id=leader or -1,
                leader_epoch=self.epochs.get(index, 0),
                replica_nodes=[1, 2],
                isr_nodes=[1, 2],
                offline_replicas=[],
            )
            for index, leader in self.leaders.items()
        ]
        orders = topic(error_code=0, name="orders", topic_id=self.topic_id, is_internal=False, partitions=partitions)
        brokers = [
            MetadataResponse.MetadataResponseBroker(node_id=n, host="fake", port=9092, rack=None) for n in (1, 2)
        ]
        return MetadataResponse(
            version=12,
            cluster_id=self.cluster_id,
            controller_id=1,
            brokers=brokers,
            topics=[orders] if self.rights.may_describe("orders") else [],
        )

    def _fetched(self, broker: int, request: Any) -> tuple[str, Any]:
        self.fetched_most.append(request.max_bytes)
        topic = FetchResponse.FetchableTopicResponse
        parts = []
        for asked in request.topics[0].partitions:
            self.fetched_from.append((asked.partition, asked.fetch_offset))
            start, stable, high = self.log[asked.partition]
            is_inside = start <= asked.fetch_offset <= high
            error = 29 if asked.partition in self.refused else 0 if is_inside else 1
            following = [one for one in self.batches.get(asked.partition, []) if _end(one) > asked.fetch_offset]
            parts.append(
                topic.PartitionData(
                    partition_index=asked.partition,
                    error_code=error,
                    high_watermark=high,
                    last_stable_offset=stable,
                    log_start_offset=start,
                    aborted_transactions=[],
                    records=b"".join(following) if error == 0 else b"",
                )
            )
        answer = topic(topic="orders", topic_id=self.topic_id, partitions=parts)
        return "fetch", FetchResponse(version=13, throttle_time_ms=0, error_code=0, session_id=0, responses=[answer])

    def _offsets(self, broker: int, request: Any) -> tuple[str, Any]:
        asked = ListOffsetsRequest.decode(request.body(7), version=7).topics[0].partitions
        column = {-2: 0}.get(asked[0].timestamp, 1 if request.isolation_level else 2)
        name = ["log start", "last stable offset", "high watermark"][column]
        topic = ListOffsetsResponse.ListOffsetsTopicResponse
        parts = [
            topic.ListOffsetsPartitionResponse(
                partition_index=part.partition_index,
                error_code=0,
                offset=self.log[part.partition_index][column],
                leader_epoch=self.epochs.get(part.partition_index, 0),
            )
            for part in asked
        ]
        response = ListOffsetsResponse(version=7, topics=[topic(name="orders", partitions=parts)])
        return ("log end" if request.replica_id == -2 else name), response

    def _epoch_ends(self, broker: int, request: Any) -> tuple[str, Any]:
        topic = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult
        parts = []
        for asked in request.topics[0].partitions:
            epoch, end = self.epoch_ends.get((asked.partition, asked.leader_epoch), (-1, -1))
            parts.append(
                topic.EpochEndOffset(partition=asked.partition, error_code=0, leader_epoch=epoch, end_offset=end)
            )
        return "epoch ends", OffsetForLeaderEpochResponse(version=4, topics=[topic(topic="orders", partitions=parts)])

    def _commits(self, broker: int, request: Any) -> tuple[str, Any]:
        group = OffsetFetchResponse.OffsetFetchResponseGroup
        topic = group.OffsetFetchResponseTopics
        answers = []
        for asked in request.groups:
            fake = self.groups[asked.group_id]
            parts = [
                topic.OffsetFetchResponsePartitions(
                    partition_index=index, committed_offset=offset, committed_leader_epoch=0, metadata="", error_code=0
                )
                for index, offset in fake.commits.items()
            ]
            topics = [topic(name="orders", partitions=parts)] if parts else []
            answers.append(group(group_id=asked.group_id, topics=topics, error_code=fake.error_code))
        return "commits", OffsetFetchResponse(version=8, groups=answers)

    def _listed_groups(self, broker: int, request: Any) -> tuple[str, Any]:
        listed = [
            ListGroupsResponse.ListedGroup(
                group_id=name, protocol_type="consumer", group_state="Stable", group_type="Classic"
            )
            for name, group in self.groups.items()
            if group.coordinator == broker and name not in self.loading and self.rights.may_describe(name)
        ]
        if broker == 1:
            listed += [
                ListGroupsResponse.ListedGroup(
                    group_id=name, protocol_type="share", group_state="Empty", group_type="Share"
                )
                for name in self.shares
            ]
        return "list groups", ListGroupsResponse(version=5, error_code=0, groups=listed)

    def _descriptions(self, broker: int, request: Any) -> tuple[str, Any]:
        described = DescribeGroupsResponse.DescribedGroup
        errors = {name: self._group_error(broker, name) for name in request.groups}
        answers = [described(error_code=error, group_id=name) for name, error in errors.items() if error != 0]
        answers += [
            described(
                error_code=0,
                group_id=name,
                group_state="Stable" if self.groups[name].owned else "Empty",
                protocol_type="consumer",
                protocol_data="range",
                members=[
                    described.DescribedGroupMember(
                        member_id=member,
                        group_instance_id=None,
                        client_id="client",
                        client_host="/host",
                        member_metadata=b"",
                        member_assignment=_assignment(partitions),
                    )
                    for member, partitions in self.groups[name].owned.items()
                ],
            )
            for name, error in errors.items()
            if error == 0
        ]
        return "describe groups", DescribeGroupsResponse(version=5, groups=answers)

    def _group_error(self, broker: int, name: str) -> int:
        if not self.rights.may_describe(name):
            return 30
        if name in self.loading:
            return 14
        if name not in self.groups:
            return 69 if name not in self.shares or broker == 1 else 16
        return 0 if self.groups[name].coordinator == broker else 16

    def _producers(self, broker: int, request: Any) -> tuple[str, Any]:
        topic = DescribeProducersResponse.TopicResponse
        part = topic.PartitionResponse
        parts = [
            part(
                partition_index=index,
                error_code=0,
                error_message=None,
                active_producers=[
                    part.ProducerState(
                        producer_id=7,
                        producer_epoch=0,
                        last_sequence=0,
                        last_timestamp=5,
                        coordinator_epoch=-1,
                        current_txn_start_offset=self.open_since.get(index, -1),
                    )
                ],
            )
            for index in request.topics[0].partition_indexes
        ]
        return "producers", DescribeProducersResponse(version=0, topics=[topic(name="orders", partitions=parts)])

    def _listed_transactions(self, broker: int, request: Any) -> tuple[str, Any]:
        state = ListTransactionsResponse.TransactionState
        is_open = self.open_since and broker == 1 and "tx" not in self.loading and self.rights.may_describe("tx")
        states = [state(transactional_id="tx", producer_id=7, transaction_state="Ongoing")] if is_open else []
        return "list transactions", ListTransactionsResponse(version=1, error_code=0, transaction_states=states)

    def _transactions(self, broker: int, request: Any) -> tuple[str, Any]:
        state = DescribeTransactionsResponse.TransactionState
        described = state(
            error_code=self._transaction_error(broker),
            transactional_id="tx",
            transaction_state="Ongoing",
            transaction_timeout_ms=60_000,
            transaction_start_time_ms=900,
            producer_id=7,
            producer_epoch=0,
            topics=[state.TopicData(topic="orders", partitions=list(self.open_since))],
        )
        return "describe transactions", DescribeTransactionsResponse(version=0, transaction_states=[described])

    def _transaction_error(self, broker: int) -> int:
        if not self.rights.may_describe("tx"):
            return 53
        if broker != 1:
            return 16
        if "tx" in self.loading:
            return 14
        return 0 if self.open_since else 105


def _end(batch: bytes) -> int:
    (header,) = batch_headers(batch)
    return header.next_offset


def _assignment(partitions: list[int]) -> bytes:
    owned = ConsumerProtocolAssignment.TopicPartition(topic="orders", partitions=partitions)
    return bytes(ConsumerProtocolAssignment(assigned_partitions=[owned], user_data=None).encode(version=0, header=True))
