"""Log directories, the controllers' quorum, brokers, versions and features, as brokers tell them."""

import pytest
from kafka.protocol.admin import DescribeClusterResponse, DescribeLogDirsResponse, DescribeQuorumResponse
from kafka.protocol.metadata import ApiVersionsResponse

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.errors import BrokerUnavailableError
from kafka_reader.features import NO_FEATURES, Broker, Described, parse_brokers, parse_understood
from kafka_reader.log_dirs import NO_VOLUME, NOT_THERE, OFFLINE, LogDir, StoredReplica, parse_log_dirs
from kafka_reader.quorum import QuorumReplica, parse_quorum
from tests.kafka_reader.answers import ANSWERED_MS, ASKED_MS, answer

P0 = TopicPartition("orders", 0)
SILENT = BrokerUnavailableError("broker 1 did not answer in time")
REFUSED = Unknown("not permitted: CLUSTER_AUTHORIZATION_FAILED")
UNKNOWN_OFFSET = Unknown("the leading controller does not know it")


def log_dir(*partitions: dict[str, object], **changed: object):
    result = DescribeLogDirsResponse.DescribeLogDirsResult
    topic = result.DescribeLogDirsTopic
    parts = [
        topic.DescribeLogDirsPartition(
            **{"partition_index": 0, "partition_size": 10, "offset_lag": 0, "is_future_key": False} | values
        )
        for values in partitions
    ]
    values = {"error_code": 0, "log_dir": "/a", "topics": [topic(name="orders", partitions=parts)]}
    return result(**values | {"total_bytes": 100, "usable_bytes": 40} | changed)


def log_dirs(*results: object, error_code: int = 0):
    return answer(DescribeLogDirsResponse(version=4, error_code=error_code, results=list(results)))


def test_a_replica_and_the_copy_it_moves_to_are_two_with_size_and_lag_each():
    moving = {"partition_size": 4, "offset_lag": 7, "is_future_key": True}

    found = parse_log_dirs(log_dirs(log_dir({}), log_dir(moving, log_dir="/b")))

    assert (found.requested_at_ms, found.observed_at_ms) == (ASKED_MS, ANSWERED_MS)
    assert found.directories == (
        LogDir("/a", 100, 40, (StoredReplica(P0, 10, 0, is_future=False),)),
        LogDir("/b", 100, 40, (StoredReplica(P0, 4, 7, is_future=True),)),
    )


def test_a_lag_and_a_volume_below_zero_are_unknown():
    found = parse_log_dirs(log_dirs(log_dir({"offset_lag": -1}, total_bytes=-1, usable_bytes=-1)))

    assert found.directories == (LogDir("/a", NO_VOLUME, NO_VOLUME, (StoredReplica(P0, 10, NOT_THERE, False),)),)


def test_an_offline_directory_is_said_and_is_not_empty():
    found = parse_log_dirs(log_dirs(log_dir({}), log_dir(log_dir="/b", error_code=56, topics=[])))

    assert found.directories[1] == LogDir("/b", OFFLINE, OFFLINE, OFFLINE)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (log_dirs(error_code=31), REFUSED),
        (log_dirs(), Unknown("not permitted: the broker names no log directory")),
        (SILENT, Unknown("broker 1 did not answer in time")),
    ],
)
def test_a_broker_that_names_no_directory_says_why(given, reason):
    assert parse_log_dirs(given).directories == reason


def quorum(**changed: object):
    topic = DescribeQuorumResponse.TopicData
    replica = topic.PartitionData.ReplicaState
    voter = replica(replica_id=100, log_end_offset=50, last_fetch_timestamp=9, last_caught_up_timestamp=8)
    observer = replica(replica_id=1, log_end_offset=-1, last_fetch_timestamp=-1, last_caught_up_timestamp=-1)
    values = {"partition_index": 0, "error_code": 0, "leader_id": 100, "leader_epoch": 3, "high_watermark": 49}
    values |= {"current_voters": [voter], "observers": [observer]} | changed
    described = topic(topic_name="__cluster_metadata", partitions=[topic.PartitionData(**values)])
    return answer(DescribeQuorumResponse(version=2, error_code=0, topics=[described], nodes=[]))


def test_the_quorum_is_its_leader_its_voters_and_observers_and_how_far_each_has_read():
    read = parse_quorum(quorum())

    assert (read.leader, read.leader_epoch, read.high_watermark) == (100, 3, 49)
    assert read.replicas == (
        QuorumReplica(100, True, 50, 9, 8),
        QuorumReplica(1, False, UNKNOWN_OFFSET, None, None),
    )


def test_a_quorum_in_an_election_has_no_leader_and_no_high_watermark():
    read = parse_quorum(quorum(leader_id=-1, high_watermark=-1))

    assert (read.leader, read.high_watermark) == (None, UNKNOWN_OFFSET)


def test_a_quorum_that_is_refused_is_not_permitted():
    refused = answer(DescribeQuorumResponse(version=2, error_code=31, topics=[], nodes=[]))

    assert parse_quorum(refused) == REFUSED
    assert parse_quorum(SILENT) == Unknown("broker 1 did not answer in time")
    assert parse_quorum(quorum(error_code=3)) == Unknown("UNKNOWN_TOPIC_OR_PARTITION")


def described_brokers(version: int):
    each = DescribeClusterResponse.DescribeClusterBroker
    brokers = [
        each(broker_id=2, host="b", port=9092, rack=None, is_fenced=True),
        each(broker_id=1, host="a", port=9092, rack="east", is_fenced=False),
    ]
    return answer(DescribeClusterResponse(version=version, error_code=0, cluster_id="c", brokers=brokers))


@pytest.mark.parametrize(("version", "fenced"), [(2, (False, True)), (1, (None, None))])
def test_whether_a_broker_is_out_of_service_is_known_where_the_version_tells(version, fenced):
    assert parse_brokers(described_brokers(version)) == (
        Broker(1, "a", 9092, "east", fenced[0]),
        Broker(2, "b", 9092, None, fenced[1]),
    )


def versions(epoch: int, **features: int):
    key, feature = ApiVersionsResponse.ApiVersion, ApiVersionsResponse.FinalizedFeatureKey
    finalized = [feature(name=n, min_version_level=level, max_version_level=level) for n, level in features.items()]
    keys = [key(api_key=1, min_version=4, max_version=18)]
    return answer(
        ApiVersionsResponse(
            version=4, error_code=0, api_keys=keys, finalized_features_epoch=epoch, finalized_features=finalized
        )
    )


def test_features_in_force_are_those_of_the_broker_that_knows_the_newest():
    old, new = parse_understood(versions(7, level=1)), parse_understood(versions(9, level=2))
    silent = parse_understood(SILENT)

    assert old.api_versions == {1: (4, 18)}
    assert Described((), {1: old, 2: new, 3: silent}, 0).features == {"level": 2}
    assert Described((), {3: silent}, 0).features == Unknown("broker 1 did not answer in time")


def test_features_without_an_epoch_are_unknown_and_not_none():
    assert parse_understood(versions(-1)).features == NO_FEATURES
    assert Described((), {}, 0).features == NO_FEATURES
