"""Groups of a real cluster: both protocols, members that come and go, a coordinator that does not answer."""

import json
import time
import uuid

import pytest
from confluent_kafka import Consumer

from guarantees.observations import GroupState
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown

pytestmark = pytest.mark.integration


def joined(cluster, group_id: str, topic: str, protocol: str) -> Consumer:
    consumer = Consumer(
        {"bootstrap.servers": cluster.bootstrap, "group.id": group_id, "group.protocol": protocol}
        | {"auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    return consumer


def poll_until_assigned(consumers: list[Consumer], partitions: int) -> None:
    deadline_s = time.monotonic() + 60
    while sum(len(consumer.assignment()) for consumer in consumers) < partitions or not all(
        consumer.assignment() for consumer in consumers
    ):
        assert time.monotonic() < deadline_s, "no assignment"
        for consumer in consumers:
            consumer.poll(0.2)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_and_what_they_own_are_seen_and_a_join_is_a_rebalance(cluster, watch, new_topic, protocol):
    topic, group_id = new_topic("members", [[1, 2, 3], [2, 3, 1]]), f"members-{uuid.uuid4().hex[:8]}"
    both = {TopicPartition(topic, 0), TopicPartition(topic, 1)}
    first = joined(cluster, group_id, topic, protocol)
    poll_until_assigned([first], 2)
    rounds = watch(topic)

    alone = rounds.next().round.groups[group_id]

    assert isinstance(alone, GroupState)
    assert (alone.group_type, alone.state) == (protocol, "Stable")
    assert [member.assignment for member in alone.members] == [both]
    assert (alone.group_epoch is None) is (protocol == "classic")

    second = joined(cluster, group_id, topic, protocol)
    poll_until_assigned([first, second], 2)
    changes = [
        row
        for row in rounds.until(lambda seen: any(row["group_id"] == group_id for row in seen.rows["rebalances"])).rows[
            "rebalances"
        ]
        if row["group_id"] == group_id
    ]
    for consumer in (first, second):
        consumer.close()

    assert len(json.loads(changes[0]["joined"])) == 1
    assert "joined" in changes[0]["cause"]


def test_groups_of_a_coordinator_that_does_not_answer_are_remembered_and_their_commits_unknown(
    cluster, watch, new_topic, produce, commit
):
    topic, group_id = new_topic("silent", [[1, 2, 3]]), f"silent-{uuid.uuid4().hex[:8]}"
    produce(topic, 0, 10)
    commit(group_id, topic, 0, 4)
    rounds, place = watch(topic), GroupPartition(group_id, topic, 0)
    state = rounds.next().round.groups[group_id]
    assert isinstance(state, GroupState)

    cluster.pause(state.coordinator)
    try:
        silent = rounds.next()
    finally:
        cluster.resume(state.coordinator)

    unknown = silent.round.groups[group_id]
    reason = f"coordinator unavailable: broker {state.coordinator} did not answer in time"
    assert unknown == Unknown(reason)
    assert silent.round.commits[place].committed_offset == Unknown(reason)
    (row,) = (row for row in silent.rows["group_state"] if row["group_id"] == group_id)
    assert (row["state"], row["state_unknown"]) == (None, reason)

    back = rounds.until(lambda seen: isinstance(seen.round.groups[group_id], GroupState))
    assert back.round.commits[place].committed_offset == 4
    rounds.until(lambda seen: all(coverage.error is None for coverage in seen.round.coverage), within_s=60)
