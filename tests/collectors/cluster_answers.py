"""What the cluster in memory answers about itself and its share groups, in kafka-python's own classes."""

from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import (
    DescribeClusterResponse,
    DescribeConfigsResponse,
    DescribeLogDirsResponse,
    DescribeQuorumResponse,
)
from kafka.protocol.metadata import ApiVersionsResponse

from kafka_reader.share_groups import DescribeShareGroupOffsetsResponse, ShareGroupDescribeResponse

if TYPE_CHECKING:
    from tests.collectors.fake_cluster import FakeCluster


def versions(cluster: "FakeCluster", broker: int, request: Any) -> tuple[str, Any]:
    key, feature = ApiVersionsResponse.ApiVersion, ApiVersionsResponse.FinalizedFeatureKey
    return "versions", ApiVersionsResponse(
        version=4,
        error_code=0,
        api_keys=[key(api_key=1, min_version=4, max_version=18)],
        supported_features=[],
        finalized_features_epoch=7,
        finalized_features=[
            feature(name=name, min_version_level=level, max_version_level=level)
            for name, level in cluster.features.items()
        ],
    )


def brokers(cluster: "FakeCluster", broker: int, request: Any) -> tuple[str, Any]:
    each = DescribeClusterResponse.DescribeClusterBroker
    brokers = [each(broker_id=n, host="fake", port=9092, rack="a", is_fenced=False) for n in (1, 2)]
    return "brokers", DescribeClusterResponse(
        version=2, error_code=0, cluster_id=cluster.cluster_id, controller_id=1, brokers=brokers
    )


def configurations(cluster: "FakeCluster", broker: int, request: Any) -> tuple[str, Any]:
    result = DescribeConfigsResponse.DescribeConfigsResult
    entries = [result.DescribeConfigsResourceResult(name=name, value=value) for name, value in cluster.settings.items()]
    results = [result(error_code=0, resource_name=each.resource_name, configs=entries) for each in request.resources]
    return "configs", DescribeConfigsResponse(version=4, results=results)


def log_dirs(cluster: "FakeCluster", broker: int, request: Any) -> tuple[str, Any]:
    result = DescribeLogDirsResponse.DescribeLogDirsResult
    topic = result.DescribeLogDirsTopic
    parts = [
        topic.DescribeLogDirsPartition(partition_index=index, partition_size=1000, offset_lag=0, is_future_key=False)
        for index in cluster.log
    ]
    directory = result(
        error_code=0,
        log_dir="/data",
        topics=[topic(name="orders", partitions=parts)],
        total_bytes=5000,
        usable_bytes=4000,
    )
    return "log dirs", DescribeLogDirsResponse(version=4, error_code=0, results=[directory])


def quorum(cluster: "FakeCluster", broker: int, request: Any) -> tuple[str, Any]:
    topic = DescribeQuorumResponse.TopicData
    replica = topic.PartitionData.ReplicaState
    voter = replica(replica_id=100, log_end_offset=50, last_fetch_timestamp=9, last_caught_up_timestamp=9)
    partition = topic.PartitionData(
        partition_index=0,
        error_code=0,
        leader_id=cluster.controller,
        leader_epoch=3,
        high_watermark=50,
        current_voters=[voter],
        observers=[],
    )
    topics = [topic(topic_name="__cluster_metadata", partitions=[partition])]
    return "quorum", DescribeQuorumResponse(version=2, error_code=0, topics=topics, nodes=[])


def share_descriptions(cluster: "FakeCluster", broker: int, request: Any) -> tuple[str, Any]:
    group = ShareGroupDescribeResponse.DescribedGroup
    described = [
        group(
            error_code=0,
            group_id=name,
            group_state="Empty",
            group_epoch=4,
            assignment_epoch=4,
            assignor_name="simple",
            members=[],
        )
        for name in request.group_ids
    ]
    return "describe share groups", ShareGroupDescribeResponse(version=1, groups=described)


def share_offsets(cluster: "FakeCluster", broker: int, request: Any) -> tuple[str, Any]:
    group = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup
    topic = group.DescribeShareGroupOffsetsResponseTopic
    answers = []
    for asked in request.groups:
        parts = [
            topic.DescribeShareGroupOffsetsResponsePartition(
                partition_index=index, start_offset=start, leader_epoch=0, lag=lag, error_code=0
            )
            for index, (start, lag) in cluster.shares[asked.group_id].items()
        ]
        topics = [topic(topic_name="orders", topic_id=cluster.topic_id, partitions=parts)]
        answers.append(group(group_id=asked.group_id, topics=topics, error_code=0))
    return "share offsets", DescribeShareGroupOffsetsResponse(version=1, groups=answers)
