"""Members of groups of every protocol: what they hold, and what a restart knows of them."""

from dataclasses import replace

from collectors import from_rows, groups
from collectors.intervals import advance, interval, rows
from guarantees.observations import GroupState, Member, Task, Tasks
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.metadata import Topology

P0, P1, P2 = (TopicPartition("orders", number) for number in range(3))
HIDDEN = TopicPartition("hidden", 7)
TOPOLOGY = Topology(
    cluster_id="c",
    brokers=(1,),
    topic_ids={"orders": "id"},
    internal_topics=frozenset(),
    states=dict.fromkeys((P0, P1)),
    failed={},
    requested_at_ms=0,
    observed_at_ms=0,
)
MEMBER = Member(
    member_id="m",
    group_instance_id="static",
    client_id="app",
    host="/10.0.0.1",
    assignment=frozenset({P0, P2}),
    member_epoch=4,
    target_assignment=frozenset({P1, P2, HIDDEN}),
    rack="east",
    process_id="process-a",
    topology_epoch=2,
    tasks=Tasks(frozenset({Task("0", 0), Task("0", 2)}), frozenset({Task("1", 1)}), frozenset()),
    target_tasks=Tasks(frozenset({Task("0", 1)}), frozenset(), frozenset({Task("1", 3)})),
)
STATE = GroupState("streams", "Stable", 1, (MEMBER,), 5, 5, 1_000, topology_epoch=2)


def test_a_streams_member_holds_no_partition_that_its_topic_does_not_have():
    unknown = Unknown("not permitted")

    found = groups.with_real_partitions(
        {"g": STATE, "other": replace(STATE, group_type="consumer"), "u": unknown}, TOPOLOGY
    )

    (member,) = found["g"].members
    assert (member.assignment, member.target_assignment) == ({P0}, {P1, HIDDEN}), "a hidden topic may have it"
    assert found["other"].members == (MEMBER,)
    assert found["u"] is unknown


def test_after_a_restart_a_group_is_known_with_its_topology_and_its_members_with_their_tasks():
    def restated(table, seen, details):
        written = advance({}, seen, gap_ms=1, now_ms=1).written
        return [interval(table, row, details) for row in rows(table, "c", written)]

    held = {
        groups.STATE_TABLE: restated(groups.STATE_TABLE, groups.states_seen({"g": STATE}), groups.STATE_DETAILS),
        groups.MEMBER_TABLE: restated(groups.MEMBER_TABLE, groups.members_seen({"g": STATE}), groups.MEMBER_DETAILS),
        "unknown groups": [],
    }

    assert from_rows.group_states(held, 2_000) == {"g": replace(STATE, unchanged_since_ms=1_000)}
