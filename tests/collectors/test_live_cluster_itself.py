"""What a real cluster tells about itself: brokers, versions, features in force, controllers, log directories."""

import json

import pytest

from guarantees.observations import Signal
from guarantees.places import TopicPartition
from lab.node import CONTROLLER_ID

pytestmark = pytest.mark.integration


def test_brokers_versions_features_and_the_controller_are_those_of_the_cluster(cluster, watch, new_topic):
    seen = watch(new_topic("itself", [[1, 2, 3]])).next()

    hosts = {row["broker"]: (f"{row['host']}:{row['port']}", row["is_fenced"]) for row in seen.rows["brokers"]}
    assert hosts == {broker: (cluster.address(broker), False) for broker in cluster.broker_ids}
    (versions,) = {row["api_versions"] for row in seen.rows["broker_versions"]}
    understood = json.loads(versions)
    assert (understood["77"], understood["90"][1], understood["89"]) == ([1, 1], 1, [0, 0])
    levels = {row["feature"]: row["level"] for row in seen.rows["cluster_features"]}
    assert (levels["transaction.version"], levels["group.version"], levels["share.version"]) == (2, 1, 1)
    assert (levels["eligible.leader.replicas.version"], levels["streams.version"]) == (1, 1)
    assert levels["metadata.version"] >= 29
    (controller,) = seen.rows["controllers"]
    assert controller["controller"] == CONTROLLER_ID
    quorum = {row["replica"]: row for row in seen.rows["controller_quorum"]}
    assert {replica for replica, row in quorum.items() if row["is_voter"]} == {CONTROLLER_ID}
    assert quorum.keys() == {CONTROLLER_ID, *cluster.broker_ids}
    assert all(row["high_watermark"] - 50 <= row["log_end_offset"] for row in quorum.values())


def test_a_silent_controller_leaves_the_quorum_unknown_and_everything_else_as_it_was(
    cluster, watch, new_topic, produce
):
    topic = new_topic("headless", [[1, 2, 3]])
    produce(topic, 0, 3)
    rounds = watch(topic)
    rounds.next()

    cluster.pause(CONTROLLER_ID)
    try:
        headless = [rounds.next() for _ in range(2)]
    finally:
        cluster.resume(CONTROLLER_ID)

    for seen in headless:
        failed = {each.signal for each in seen.round.coverage if not each.is_complete}
        assert failed == {Signal.QUORUM}
        assert seen.rows["controller_quorum"] == seen.rows["controllers"] == []
        assert seen.round.partitions[TopicPartition(topic, 0)].high_watermark == 3
    back = rounds.until(lambda seen: bool(seen.rows["controllers"]))
    assert back.rows["controllers"][-1]["controller"] == CONTROLLER_ID


def test_sizes_and_directories_of_replicas_are_those_on_the_brokers_disks(cluster, watch, new_topic, produce):
    topic = new_topic("sizes", [[1, 2, 3]])
    produce(topic, 0, 100)
    rounds = watch(topic)
    seen = rounds.next()

    mine = {row["replica"]: row for row in seen.rows["replica_sizes"] if row["topic"] == topic}
    assert {replica: (row["offset_lag"], row["is_future"]) for replica, row in mine.items()} == dict.fromkeys(
        (1, 2, 3), (0, False)
    )
    (size,) = {row["size_bytes"] for row in mine.values()}
    assert size > 100 * 8, "every replica holds the same bytes"
    directories = {row["broker"]: row for row in seen.rows["log_dirs"]}
    assert directories.keys() == {1, 2, 3}
    for broker, row in directories.items():
        assert row["log_dir"] == str(cluster.broker_log(broker).parent / "data") == mine[broker]["log_dir"]
        assert row["unreadable"] is None
        assert 0 < row["usable_bytes"] < row["total_bytes"]
