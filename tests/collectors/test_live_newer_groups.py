"""Share groups (KIP-932), Streams groups (KIP-1071) and the epochs of the consumer protocol, on a real cluster."""

import time
import uuid

import pytest
from confluent_kafka import AcknowledgeType, ShareConsumer
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

from guarantees.observations import GroupState, Task
from guarantees.places import GroupPartition, TopicPartition
from lab.clients import admin_client
from tests.collectors.streams_member import SUBTOPOLOGY, StreamsMember
from tests.collectors.test_live_groups import joined as joined_group
from tests.collectors.test_live_groups import poll_until_assigned

pytestmark = pytest.mark.integration

WITHIN_S = 40


def group_setting(cluster, group_id: str, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.GROUP, group_id, incremental_configs=[entry])
    admin = admin_client(cluster.bootstrap)
    admin.incremental_alter_configs([resource])[resource].result(15)


def polled(consumer: ShareConsumer, count: int) -> list:
    """That many records, not acknowledged yet."""
    found, deadline_s = [], time.monotonic() + WITHIN_S
    while len(found) < count:
        assert time.monotonic() < deadline_s, f"{len(found)} of {count} records were delivered"
        found += consumer.poll(0.5)
    return found


def joined(cluster, group_id: str, topic: str) -> ShareConsumer:
    """Leave it by its `with` block: what was not acknowledged is released then."""
    consumer = ShareConsumer(
        {"bootstrap.servers": cluster.bootstrap, "group.id": group_id, "log_level": 0}
        | {"share.acknowledgement.mode": "explicit"}
    )
    consumer.subscribe([topic])
    return consumer


def acknowledge(consumer: ShareConsumer, records: list, kind: AcknowledgeType) -> None:
    for record in records:
        consumer.acknowledge(record, kind)
    consumer.commit_sync()


def delete_group(cluster, group_id: str) -> None:
    """A share group left behind would be asked about by every other test."""
    admin = admin_client(cluster.bootstrap)
    admin.delete_consumer_groups([group_id])[group_id].result(15)


def coordinator_of(cluster, group_id: str) -> int:
    """Describing a group by any client finds its coordinator, be there such a group or not."""
    admin = admin_client(cluster.bootstrap)
    return admin.describe_consumer_groups([group_id])[group_id].result(15).coordinator.id


NOWHERE = (None, None, "nothing is known of the partition")


def standing(seen, group_id: str) -> dict[int, tuple[int | None, int | None, str | None]]:
    """Start offset, lag and why they are unknown, by partition."""
    return {
        row["partition"]: (row["start_offset"], row["lag"], row["lag_unknown"])
        for row in seen.rows["share_offsets"]
        if row["group_id"] == group_id
    }


def test_a_share_group_is_seen_with_its_members_and_where_it_stands_but_not_what_became_of_records(
    cluster, watch, new_topic, produce
):
    topic, group_id = new_topic("shared", [[1, 2, 3]]), f"shared-{uuid.uuid4().hex[:8]}"
    group_setting(cluster, group_id, "share.auto.offset.reset", "earliest")
    produce(topic, 0, 20)
    rounds = watch(topic)
    with joined(cluster, group_id, topic) as consumer:
        records = polled(consumer, 20)
        reading = rounds.until(lambda seen: 0 in standing(seen, group_id))
        acknowledge(consumer, records[:5], AcknowledgeType.ACCEPT)
    accepted = rounds.until(lambda seen: standing(seen, group_id).get(0, NOWHERE)[0] == 5)
    with joined(cluster, group_id, topic) as consumer:
        acknowledge(consumer, polled(consumer, 15)[:4], AcknowledgeType.REJECT)
    rejected = rounds.until(lambda seen: standing(seen, group_id).get(0, NOWHERE)[0] == 9)
    produce(topic, 0, 5)
    behind = rounds.until(lambda seen: standing(seen, group_id).get(0, NOWHERE)[1] == 16)
    empty = rounds.until(lambda seen: not seen.round.groups[group_id].members)

    start, lag, reason = standing(reading, group_id)[0]
    assert (start, lag) == (None, None), "before the first acknowledgement: neither zero nor −1"
    assert reason.startswith("not started")
    state = reading.round.groups[group_id]
    assert (state.group_type, state.state) == ("share", "Stable")
    (member,) = state.members
    assert (member.assignment, member.target_assignment) == (frozenset({TopicPartition(topic, 0)}), None)
    assert member.host.startswith("/")
    assert member.member_epoch == state.group_epoch == state.assignment_epoch
    assert standing(accepted, group_id)[0] == (5, 15, None)
    assert standing(rejected, group_id)[0] == (9, 11, None), "a rejected record looks like an accepted one"
    assert standing(behind, group_id)[0] == (9, 16, None), "to the high watermark"
    assert empty.round.groups[group_id].state == "Empty"
    assert GroupPartition(group_id, topic, 0) not in empty.round.commits
    delete_group(cluster, group_id)
    gone = rounds.until_ended("group_state", lambda row: row["group_id"] == group_id)
    assert gone["ended_reason"] == "the coordinator no longer lists the group"
    told = [row for seen in (reading, empty) for row in seen.rows["rebalances"] if row["group_id"] == group_id]
    assert all(row["moved"] == "[]" for row in told)


def test_a_silent_partition_leader_keeps_share_groups_unknown_and_delays_nothing_else(
    cluster, watch, new_topic, produce
):
    group_id = f"stuck-{uuid.uuid4().hex[:8]}"
    group_setting(cluster, group_id, "share.auto.offset.reset", "earliest")
    coordinator = coordinator_of(cluster, group_id)
    silent, other = (broker for broker in cluster.broker_ids if broker != coordinator)
    topic = new_topic("stuck", [[silent, coordinator, other]])
    beside = new_topic("beside", [[coordinator, silent, other]])
    produce(topic, 0, 20)
    produce(beside, 0, 5)
    with joined(cluster, group_id, topic) as consumer:
        acknowledge(consumer, polled(consumer, 20)[:5], AcknowledgeType.ACCEPT)
    rounds = watch(topic, beside)
    rounds.until(lambda seen: standing(seen, group_id).get(0) == (5, 15, None))

    cluster.pause(silent)
    try:
        stuck = [rounds.next() for _ in range(3)]
    finally:
        cluster.resume(silent)

    for seen in stuck:
        (place,) = standing(seen, group_id).items()
        reason = f"broker {coordinator} did not answer in time"
        assert place == (None, (None, None, reason)), "its coordinator waits for the leader"
        assert seen.round.partitions[TopicPartition(beside, 0)].high_watermark == 5
        assert isinstance(seen.round.groups[group_id], GroupState), "the coordinator answers all else as ever"
        assert seen.round.ended_at_ms - seen.round.started_at_ms < 3_000
    rounds.until(lambda seen: standing(seen, group_id).get(0) == (5, 15, None), within_s=60)
    delete_group(cluster, group_id)
    rounds.until(lambda seen: all(coverage.error is None for coverage in seen.round.coverage), within_s=60)
    rounds.until(lambda seen: all(len(state.in_sync_replicas) == 3 for state in seen.round.states.values()), 60)


def beat_until(members: list[StreamsMember], holds) -> None:
    deadline_s = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < deadline_s, "the coordinator did not assign what was expected"
        for member in members:
            member.beat()
        time.sleep(0.3)


def test_a_streams_group_is_seen_with_its_topology_its_processes_and_its_tasks_of_each_kind(
    cluster, watch, new_topic, produce, commit
):
    topic, group_id = new_topic("streamed", [[1, 2, 3], [2, 3, 1]]), f"streams-{uuid.uuid4().hex[:8]}"
    group_setting(cluster, group_id, "streams.num.standby.replicas", "1")
    produce(topic, 0, 8)
    address = cluster.address(coordinator_of(cluster, group_id))
    rounds = watch(topic)

    with (
        StreamsMember(address, group_id, topic, "process-a") as one,
        StreamsMember(address, group_id, topic, "process-b") as other,
    ):
        beat_until([one, other], lambda: all(len(tasks) == 1 for each in (one, other) for tasks in each.owned))
        seen = rounds.until(lambda seen: seen.round.groups[group_id].state == "Stable")

    state = seen.round.groups[group_id]
    assert (state.group_type, state.topology_epoch) == ("streams", 0)
    assert state.group_epoch == state.assignment_epoch
    by_process = {member.process_id: member for member in state.members}
    assert by_process.keys() == {"process-a", "process-b"}
    both = frozenset({Task(SUBTOPOLOGY, 0), Task(SUBTOPOLOGY, 1)})
    for member in state.members:
        assert (len(member.tasks.active), len(member.tasks.standby), member.tasks.warm_up) == (1, 1, frozenset())
        assert member.tasks.active | member.tasks.standby == both
        assert member.assignment == {TopicPartition(topic, task.partition) for task in member.tasks.active}
        assert (member.tasks, member.member_epoch) == (member.target_tasks, state.group_epoch)
    (row,) = (row for row in seen.rows["group_state"] if row["group_id"] == group_id)
    assert (row["group_type"], row["topology_epoch"], row["members"]) == ("streams", 0, 2)

    left = rounds.until(lambda seen: not seen.round.groups[group_id].members)
    assert left.round.groups[group_id].state == "Empty"
    commit(group_id, topic, 0, 5)
    assert rounds.next().round.commits[GroupPartition(group_id, topic, 0)].committed_offset == 5


def test_epochs_and_the_target_of_a_consumer_group_show_who_has_not_followed_yet(cluster, watch, new_topic):
    topic, group_id = new_topic("epochs", [[1, 2, 3], [2, 3, 1]]), f"epochs-{uuid.uuid4().hex[:8]}"
    both = frozenset({TopicPartition(topic, 0), TopicPartition(topic, 1)})
    rounds = watch(topic)
    first = joined_group(cluster, group_id, topic, "consumer")
    poll_until_assigned([first], 2)
    second = joined_group(cluster, group_id, topic, "consumer")
    try:  # the first is not polled: it cannot give up what the second is to get
        moving = rounds.until(lambda seen: len(members_of(seen, group_id)) == 2)
    finally:
        first.close()
        second.close()

    state = moving.round.groups[group_id]
    old, new = sorted(state.members, key=lambda member: -len(member.assignment))
    assert (state.state, old.assignment, new.assignment) == ("Reconciling", both, frozenset())
    assert (len(old.target_assignment), len(new.target_assignment)) == (1, 1)
    assert old.member_epoch < new.member_epoch == state.group_epoch == state.assignment_epoch
    rows = {row["member_id"]: row for row in moving.rows["group_members"] if row["group_id"] == group_id}
    assert rows[old.member_id]["member_epoch"] == old.member_epoch


def members_of(seen, group_id: str) -> tuple:
    state = seen.round.groups.get(group_id)
    return state.members if isinstance(state, GroupState) else ()
