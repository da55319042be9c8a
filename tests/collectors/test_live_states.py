"""The states of a partition that other tools report wrongly, each on a real cluster, and what Tidemark says of it.

A state is named by commit; high watermark / last stable offset / log start.
"""

import uuid
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient

from guarantees.findings import Kind
from guarantees.lag import MARKER_SLACK, Lag, consumer_lag
from guarantees.memory import Memory
from guarantees.observations import Round
from guarantees.places import GroupPartition, TopicPartition
from guarantees.thresholds import Thresholds
from guarantees.unknown import Unknown
from guarantees.watch import observe
from tests.collectors.conftest import Rounds

pytestmark = pytest.mark.integration

# Who leads the one partition, unless a test says otherwise.
EVERYWHERE = [[1, 2, 3]]


@pytest.fixture
def topic(new_topic) -> str:
    return new_topic("state", EVERYWHERE)


@pytest.fixture
def group_id() -> str:
    return f"state-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def begun(cluster) -> Iterator[Callable[..., Producer]]:
    """A transaction with so many records in partition 0, on the brokers and not ended."""
    producers = []

    def begin(topic: str, count: int) -> Producer:
        producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": uuid.uuid4().hex})
        producers.append(producer)
        producer.init_transactions(30)
        producer.begin_transaction()
        for number in range(count):
            producer.produce(topic, str(number), partition=0)
        assert producer.flush(30) == 0
        return producer

    yield begin
    for producer in producers:
        producer.purge()


@pytest.fixture
def delete_below(cluster) -> Callable[[str, int], None]:
    """Delete the records of partition 0 below an offset."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})

    def delete(topic: str, offset: int) -> None:
        (deleted,) = admin.delete_records([Position(topic, 0, offset)]).values()
        assert deleted.result(30).low_watermark == offset

    return delete


def lag_of(seen: Round, group_id: str, topic: str, partition: int = 0) -> Lag:
    key = GroupPartition(group_id, topic, partition)
    return consumer_lag(seen.commits[key], seen.partitions[key.topic_partition])


def ends(seen: Round, topic: str) -> tuple[object, object, object]:
    """High watermark, last stable offset and log start of partition 0."""
    offsets = seen.partitions[TopicPartition(topic, 0)]
    return offsets.high_watermark, offsets.last_stable_offset, offsets.log_start_offset


def kinds_found(rounds: Rounds, group_id: str) -> set[Kind]:
    """What the rules find about the group in two rounds."""
    memory, found = Memory.empty(), []
    for _ in range(2):
        memory, found = observe(memory, rounds.next().round, Thresholds())
    return {finding.kind for finding in found if finding.place.group_id == group_id}


def test_an_open_transaction_holds_records_back_and_leaves_a_committed_reader_none(
    watch, topic, group_id, produce, commit, begun
):
    produce(topic, 0, 10)
    producer = begun(topic, 5)
    commit(group_id, topic, 0, 10)

    seen = watch(topic).next().round

    assert ends(seen, topic) == (15, 10, 0)
    assert lag_of(seen, group_id, topic) == Lag(purged=0, lag_hw=5, lag_lso=0, blocked=5, ahead=0)
    producer.abort_transaction(30)


def test_an_aborted_transaction_leaves_offsets_of_which_none_is_claimed_to_be_a_record(
    watch, topic, group_id, produce, commit, begun
):
    produce(topic, 0, 10)
    begun(topic, 5).abort_transaction(30)
    commit(group_id, topic, 0, 10)

    seen = watch(topic).until(lambda seen: ends(seen.round, topic) == (16, 16, 0)).round

    assert lag_of(seen, group_id, topic) == Lag(purged=0, lag_hw=6, lag_lso=6, blocked=0, ahead=0)
    assert seen.producers == {}


def test_the_marker_behind_a_committed_transaction_is_no_work_left(watch, topic, group_id, commit, begun):
    begun(topic, 10).commit_transaction(30)
    commit(group_id, topic, 0, 10)
    rounds = watch(topic)

    seen = rounds.until(lambda seen: ends(seen.round, topic) == (11, 11, 0)).round

    assert lag_of(seen, group_id, topic).lag_lso == 1 <= MARKER_SLACK
    assert kinds_found(rounds, group_id) == set()


def test_a_commit_beyond_the_end_is_an_alarm_and_no_number(watch, topic, group_id, produce, commit):
    produce(topic, 0, 10)
    commit(group_id, topic, 0, 50)
    rounds = watch(topic)

    seen = rounds.next().round

    assert ends(seen, topic) == (10, 10, 0)
    lag = lag_of(seen, group_id, topic)
    assert (lag.lag_hw, lag.lag_lso) == (Unknown("committed beyond the end of the log"),) * 2
    assert lag.ahead == 40
    assert kinds_found(rounds, group_id) == {Kind.COMMITTED_AHEAD}


def test_records_deleted_up_to_the_end_are_gone_and_not_lag(watch, topic, group_id, produce, commit, delete_below):
    produce(topic, 0, 10)
    commit(group_id, topic, 0, 3)
    delete_below(topic, 10)

    seen = watch(topic).until(lambda seen: ends(seen.round, topic) == (10, 10, 10)).round

    assert lag_of(seen, group_id, topic) == Lag(purged=7, lag_hw=0, lag_lso=0, blocked=0, ahead=0)


def test_below_the_log_start_only_what_is_left_is_lag(watch, topic, group_id, produce, commit, delete_below):
    produce(topic, 0, 10)
    commit(group_id, topic, 0, 2)
    delete_below(topic, 8)

    seen = watch(topic).until(lambda seen: ends(seen.round, topic) == (10, 10, 8)).round

    assert lag_of(seen, group_id, topic) == Lag(purged=6, lag_hw=2, lag_lso=2, blocked=0, ahead=0)


def test_where_a_group_never_committed_it_has_no_commit_and_no_lag(watch, new_topic, group_id, produce, commit):
    topic = new_topic("three", EVERYWHERE * 3)
    produce(topic, 1, 4)
    commit(group_id, topic, 1, 1)

    seen = watch(topic).next().round

    lags = [lag_of(seen, group_id, topic, partition).lag_hw for partition in range(3)]
    assert lags == [Unknown("no commit"), 3, Unknown("no commit")]


def test_with_its_topic_the_commits_of_a_group_are_gone(cluster, watch, topic, group_id, produce, commit):
    produce(topic, 0, 10)
    commit(group_id, topic, 0, 4)
    rounds = watch(topic)
    assert lag_of(rounds.next().round, group_id, topic).lag_hw == 6

    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.delete_topics([topic])[topic].result(30)

    gone = rounds.until(lambda seen: TopicPartition(topic, 0) not in seen.round.partitions).round
    assert not [key for key in gone.commits if key.topic == topic]


def test_without_its_leader_a_partition_is_unknown_with_the_reason_and_the_others_are_not(
    cluster, watch, new_topic, group_id, produce, commit
):
    topic = new_topic("alone", [[2], [1]], min_insync_replicas="1")
    for partition in range(2):
        produce(topic, partition, 10)
        commit(group_id, topic, partition, 4)
    rounds = watch(topic)
    assert lag_of(rounds.next().round, group_id, topic, 0).lag_hw == 6

    cluster.pause(2)
    try:
        silent = rounds.next().round.partitions[TopicPartition(topic, 0)]
        led_by_nobody = Unknown("the partition has no leader")
        # A coordinator that has moved may not list the group in its first round, and loads its commits in the next.
        alone = rounds.until(
            lambda seen: (
                GroupPartition(group_id, topic, 0) in seen.round.commits
                and lag_of(seen.round, group_id, topic, 0).lag_hw == led_by_nobody
            )
        ).round
    finally:
        cluster.resume(2)

    assert silent.high_watermark == Unknown("broker 2 did not answer in time")
    assert alone.partitions[TopicPartition(topic, 0)].high_watermark == led_by_nobody
    assert alone.partitions[TopicPartition(topic, 1)].high_watermark == 10
    rounds.until(lambda seen: lag_of(seen.round, group_id, topic, 0).lag_hw == 6, 60)


def test_without_its_coordinator_a_group_is_remembered_and_its_commits_are_unknown(
    cluster, watch, topic, group_id, produce, commit
):
    produce(topic, 0, 10)
    commit(group_id, topic, 0, 4)
    rounds = watch(topic)
    known = rounds.next()
    coordinator = known.remembered.groups[group_id].coordinator

    cluster.pause(coordinator)
    try:
        silent = rounds.next().round
    finally:
        cluster.resume(coordinator)

    reason = silent.groups[group_id]
    assert isinstance(reason, Unknown)
    assert reason.reason.startswith("coordinator unavailable")
    assert silent.commits[GroupPartition(group_id, topic, 0)].committed_offset == reason
    rounds.until(lambda seen: seen.round.commits[GroupPartition(group_id, topic, 0)].committed_offset == 4, 60)


def test_a_group_of_the_new_protocol_has_lag_and_members_as_any_other(cluster, watch, topic, group_id, produce):
    produce(topic, 0, 10)
    member = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": group_id,
            "group.protocol": "consumer",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    member.subscribe([topic])
    rounds = watch(topic)

    def is_member(seen) -> bool:
        member.poll(0.1)
        state = seen.round.groups.get(group_id)
        return not isinstance(state, Unknown | None) and state.state == "Stable" and len(state.members) == 1

    rounds.until(is_member)
    member.commit(offsets=[Position(topic, 0, 7)], asynchronous=False)
    seen = rounds.next().round
    member.close()

    assert seen.groups[group_id].group_type == "consumer"
    assert seen.groups[group_id].members[0].assignment == {TopicPartition(topic, 0)}
    assert lag_of(seen, group_id, topic) == Lag(purged=0, lag_hw=3, lag_lso=3, blocked=0, ahead=0)
