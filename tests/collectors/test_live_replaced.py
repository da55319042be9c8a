"""Topics, groups and brokers that are made anew or taken away while rounds go on: histories end and begin."""

import shutil
import uuid
from pathlib import Path

import pytest
from confluent_kafka.admin import NewPartitions, NewTopic
from kafka.protocol.api_message import ApiMessage

from collectors.judging import Judged, judge
from guarantees.findings import Kind
from guarantees.lag import consumer_lag
from guarantees.memory import Memory
from guarantees.places import GroupPartition, TopicPartition
from guarantees.thresholds import Thresholds
from lab.clients import admin_client
from lab.node import meta_of_another_node, random_id
from tests.collectors import schemas
from tests.collectors.asked import ask

pytestmark = pytest.mark.integration

# What would be said of lost, cut or re-read data: none of it happens here.
OF_DATA = frozenset(
    {
        *(Kind.LOG_TRUNCATED, Kind.TAIL_TRUNCATED, Kind.UNCLEAN_ELECTION, Kind.COMMIT_IN_TRUNCATED_LOG),
        *(Kind.REWIND, Kind.SKIPPED_FORWARD, Kind.COMMITTED_AHEAD, Kind.EXPIRED_UNREAD),
        *(Kind.GROUP_STOPPED, Kind.GROUP_STALLED, Kind.FALLING_BEHIND),
    }
)


class UnregisterBrokerRequest(ApiMessage, load_json=schemas):
    pass


class UnregisterBrokerResponse(ApiMessage, load_json=schemas):
    pass


def found(rounds) -> set[Kind]:
    """What the rules say of all rounds so far."""
    judged, kinds = Judged(Memory.empty(), {}), set()
    for observed in rounds.observed:
        judged, events = judge(judged, observed, Thresholds(), observed.ended_at_ms)
        kinds |= {event.finding.kind for event in events}
    return kinds


def faults(rounds) -> list[str]:
    errors = (each.error for observed in rounds.observed for each in observed.coverage if each.error)
    return [error for error in errors if "fault of Tidemark" in error]


def lag_of(seen, place: GroupPartition) -> object:
    commit, offsets = seen.round.commits.get(place), seen.round.partitions.get(place.topic_partition)
    return None if commit is None or offsets is None else consumer_lag(commit, offsets).lag_hw


def test_a_topic_that_grows_goes_and_comes_anew_and_a_group_that_goes_are_histories_of_their_own(
    cluster, watch, new_topic, produce, commit
):
    topic, group_id = new_topic("anew", [[1, 2, 3]]), f"anew-{uuid.uuid4().hex[:8]}"
    admin, old, added = admin_client(cluster.bootstrap), TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(topic, 0, 100)
    commit(group_id, topic, 0, 100)
    rounds = watch(topic)
    first = rounds.next()
    assert lag_of(first, GroupPartition(group_id, topic, 0)) == 0

    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(30)
    grown = rounds.until(lambda seen: added in seen.round.partitions)
    assert grown.round.partitions[added].high_watermark == 0
    assert grown.round.commits[GroupPartition(group_id, topic, 1)].committed_offset is None

    admin.delete_topics([topic])[topic].result(30)
    gone = rounds.until_ended("partition_state", lambda row: row["topic"] == topic and row["partition"] == 0)
    assert gone["ended_reason"] == "the topic is no longer listed"
    assert old not in rounds.next().round.partitions

    admin.create_topics([NewTopic(topic, 1, replica_assignment=[[2, 3, 1]])])[topic].result(30)
    produce(topic, 0, 5)
    anew = rounds.until(lambda seen: old in seen.round.partitions and seen.round.partitions[old].high_watermark == 5)
    assert anew.round.partitions[old].topic_id not in (None, first.round.partitions[old].topic_id)
    assert anew.round.states[old].leader == 2
    states = anew.rows["partition_state"].to_pylist()
    (began,) = (row for row in states if row["topic"] == topic and row["ended_before"] is None)
    assert began["topic_id"] == anew.round.partitions[old].topic_id
    commits = anew.round.commits.get(GroupPartition(group_id, topic, 0))
    assert commits is None or commits.committed_offset is None, "Kafka deleted it with the topic"

    commit(group_id, topic, 0, 5)
    admin.delete_consumer_groups([group_id])[group_id].result(30)
    ended = rounds.until_ended("group_state", lambda row: row["group_id"] == group_id)
    assert ended["ended_reason"] == "the coordinator no longer lists the group"
    assert group_id not in rounds.next().round.groups
    assert not faults(rounds)
    assert not found(rounds) & OF_DATA


def on_an_empty_disk(cluster, broker: int) -> None:
    """As a new machine with the old node id: the broker knows its cluster and nothing else."""
    data: Path = cluster.broker_log(broker).parent / "data"
    meta = (data / "meta.properties").read_text()
    shutil.rmtree(data)
    data.mkdir()
    (data / "meta.properties").write_text(meta_of_another_node(meta, broker, random_id()))


def test_a_broker_that_is_removed_and_replaced_on_an_empty_disk_costs_no_record_and_no_wrong_word(
    cluster, watch, new_topic, produce, commit
):
    replaced, leader = 3, 1
    topic, group_id = new_topic("replaced", [[leader, 2, replaced]]), f"replaced-{uuid.uuid4().hex[:8]}"
    partition, place = TopicPartition(topic, 0), GroupPartition(group_id, topic, 0)
    produce(topic, 0, 50)
    commit(group_id, topic, 0, 40)
    rounds = watch(topic)
    rounds.next()

    cluster.kill(replaced)
    try:
        fenced = rounds.until(  # and the group's coordinator, if it moved, has loaded
            lambda seen: brokers(seen).get(replaced) is True and isinstance(lag_of(seen, place), int)
        )
        answer = ask(cluster.address(leader), UnregisterBrokerRequest(broker_id=replaced), UnregisterBrokerResponse)
        assert answer.error_code == 0, answer
        removed = rounds.until_ended("brokers", lambda row: row["broker"] == replaced)
        on_an_empty_disk(cluster, replaced)
    finally:
        cluster.restart(replaced)
    back = rounds.until(lambda seen: brokers(seen).get(replaced) is False, within_s=60)
    whole = rounds.until(lambda seen: all(len(s.in_sync_replicas) == 3 for s in seen.round.states.values()), 60)
    filled = rounds.until(lambda seen: ends(seen, partition).get(replaced) == 50)

    assert removed["ended_reason"] == "no longer registered"
    assert fenced.round.partitions[partition].high_watermark == 50
    assert replaced not in ends(fenced, partition) or not isinstance(ends(fenced, partition)[replaced], int)
    assert (brokers(back).keys(), whole.round.states[partition].leader) == ({1, 2, 3}, leader)
    assert {lag_of(seen, place) for seen in (fenced, back, filled)} == {10}
    assert not faults(rounds)
    assert not found(rounds) & OF_DATA
    rounds.until(lambda seen: all(coverage.error is None for coverage in seen.round.coverage), within_s=60)


def brokers(seen) -> dict[int, bool]:
    """Whether each registered broker is out of service."""
    return {row["broker"]: row["is_fenced"] for row in seen.rows["brokers"] if row["ended_before"] is None}


def ends(seen, partition: TopicPartition) -> dict[int, object]:
    return {replica.broker: replica.log_end_offset for replica in seen.round.replicas.get(partition, ())}
