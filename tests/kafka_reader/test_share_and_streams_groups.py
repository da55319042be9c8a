"""Groups that share partitions and groups of Streams applications, as their coordinators describe them."""

import uuid

import pytest

from guarantees.lag import NOT_STARTED
from guarantees.observations import Task, Tasks
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader import share_groups, streams_groups
from kafka_reader.errors import BrokerUnavailableError
from kafka_reader.share_groups import (
    NO_LAG,
    DescribeShareGroupOffsetsResponse,
    ShareGroupDescribeResponse,
    ShareOffset,
)
from kafka_reader.streams_groups import StreamsGroupDescribeResponse
from tests.kafka_reader.answers import ANSWERED_MS, ASKED_MS, answer

ORDERS = uuid.UUID("00000000-0000-4000-8000-000000000001")
P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
SILENT = BrokerUnavailableError("broker 1 did not answer in time")
ASSIGNMENT = StreamsGroupDescribeResponse.DescribedGroup.Member.Assignment
MODULES = [share_groups, streams_groups]


def share_offsets(*partitions: dict[str, int], **group: object):
    each = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup
    topic = each.DescribeShareGroupOffsetsResponseTopic
    parts = [
        topic.DescribeShareGroupOffsetsResponsePartition(
            **{"partition_index": index, "leader_epoch": 0, "lag": 0, "error_code": 0} | values
        )
        for index, values in enumerate(partitions)
    ]
    topics = [topic(topic_name="orders", topic_id=ORDERS, partitions=parts)] if parts else []
    values = {"group_id": "g", "topics": topics, "error_code": 0} | group
    return answer(DescribeShareGroupOffsetsResponse(version=1, groups=[each(**values)]))


def read_offsets(given) -> share_groups.ShareOffsets:
    return share_groups.parse_offsets(share_groups.offsets_request(["g"]), given, 1)["g"]


def test_a_share_group_stands_where_the_coordinator_says_with_the_lag_the_broker_counted():
    read = read_offsets(share_offsets({"start_offset": 9, "lag": 11}, {"start_offset": 0, "lag": 0}))

    assert read.partitions == {P0: ShareOffset(str(ORDERS), 9, 11), P1: ShareOffset(str(ORDERS), 0, 0)}
    assert (read.broker, read.requested_at_ms, read.observed_at_ms) == (1, ASKED_MS, ANSWERED_MS)


def test_a_partition_without_an_acknowledged_record_is_not_started_and_its_lag_neither_zero_nor_less():
    read = read_offsets(share_offsets({"start_offset": -1, "lag": -1}))

    assert read.partitions == {P0: ShareOffset(str(ORDERS), NOT_STARTED, NOT_STARTED)}


def test_a_broker_that_counts_no_lag_leaves_it_unknown_and_the_start_known():
    read = read_offsets(share_offsets({"start_offset": 9, "lag": -1}))

    assert read.partitions == {P0: ShareOffset(str(ORDERS), 9, NO_LAG)}


def test_a_partition_that_may_not_be_described_is_not_permitted_and_not_unstarted():
    refused = Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED")

    read = read_offsets(share_offsets({"start_offset": -1, "lag": -1, "error_code": 29}))

    assert read.partitions == {P0: ShareOffset(str(ORDERS), refused, refused)}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (share_offsets(error_code=30), "not permitted: GROUP_AUTHORIZATION_FAILED"),
        (share_offsets(group_id="other"), "the coordinator's answer does not name the group"),
        (SILENT, "broker 1 did not answer in time"),
    ],
)
def test_offsets_of_a_share_group_that_cannot_be_read_are_unknown_as_a_whole(given, reason):
    assert read_offsets(given).partitions == Unknown(reason)


def described_share_group(**changed: object):
    group = ShareGroupDescribeResponse.DescribedGroup
    assignment = group.Member.Assignment
    owned = assignment.TopicPartitions(topic_id=ORDERS, topic_name="orders", partitions=[0, 1])
    members = [
        group.Member(
            member_id=name,
            rack_id="east",
            member_epoch=4,
            client_id="worker",
            client_host="/10.0.0.1",
            subscribed_topic_names=["orders"],
            assignment=assignment(topic_partitions=[owned]),
        )
        for name in ("m2", "m1")
    ]
    values = {"group_id": "g", "error_code": 0, "error_message": None, "group_state": "Stable", "group_epoch": 5}
    values |= {"assignment_epoch": 4, "assignor_name": "simple", "members": members}
    return answer(ShareGroupDescribeResponse(version=1, groups=[group(**values | changed)]))


def test_members_of_a_share_group_hold_the_same_partitions_and_have_no_target():
    request = share_groups.describe_request(["g"])

    state = share_groups.parse_descriptions(request, described_share_group(), 2)["g"]

    assert (state.group_type, state.state, state.coordinator) == ("share", "Stable", 2)
    assert (state.group_epoch, state.assignment_epoch, state.observed_at_ms) == (5, 4, ANSWERED_MS)
    assert [(m.member_id, m.host, m.rack, m.member_epoch) for m in state.members] == [
        ("m1", "/10.0.0.1", "east", 4),
        ("m2", "/10.0.0.1", "east", 4),
    ]
    assert [(m.assignment, m.target_assignment) for m in state.members] == [({P0, P1}, None)] * 2


def tasks(**given: list[tuple[str, list[int]]]):
    listed = {
        name: [
            ASSIGNMENT.TaskIds(subtopology_id=subtopology, partitions=partitions)
            for subtopology, partitions in given.get(name, [])
        ]
        for name in ("active_tasks", "standby_tasks", "warmup_tasks")
    }
    return ASSIGNMENT(**listed)


def described_streams_group(**changed: object):
    group = StreamsGroupDescribeResponse.DescribedGroup
    sub = group.Topology.Subtopology
    subtopology = sub(
        subtopology_id="0",
        source_topics=["orders"],
        repartition_sink_topics=[],
        state_changelog_topics=[],
        repartition_source_topics=[
            sub.TopicInfo(name="by-customer", partitions=2, replication_factor=3, topic_configs=[])
        ],
    )
    member = group.Member(
        member_id="m1",
        member_epoch=7,
        instance_id="static-1",
        rack_id=None,
        client_id="app",
        client_host="/10.0.0.1",
        topology_epoch=2,
        process_id="process-a",
        user_endpoint=None,
        client_tags=[],
        task_offsets=[],
        task_end_offsets=[],
        assignment=tasks(active_tasks=[("0", [0])], standby_tasks=[("0", [1])]),
        target_assignment=tasks(active_tasks=[("0", [0, 1])], warmup_tasks=[("1", [3])]),
        is_classic=False,
    )
    values = {"group_id": "g", "error_code": 0, "error_message": None, "group_state": "Reconciling", "group_epoch": 8}
    values |= {"assignment_epoch": 8, "topology": group.Topology(epoch=2, subtopologies=[subtopology])}
    values |= {"members": [member]}
    return answer(StreamsGroupDescribeResponse(version=0, groups=[group(**values | changed)]))


def read_streams_group(**changed: object):
    request = streams_groups.describe_request(["g"])
    return streams_groups.parse_descriptions(request, described_streams_group(**changed), 2)["g"]


def test_a_streams_member_reads_what_its_active_tasks_read_and_keeps_standby_and_warm_up_tasks_apart():
    state = read_streams_group()

    assert (state.group_type, state.state, state.topology_epoch) == ("streams", "Reconciling", 2)
    (member,) = state.members
    assert (member.group_instance_id, member.process_id, member.topology_epoch) == ("static-1", "process-a", 2)
    assert member.assignment == {P0, TopicPartition("by-customer", 0)}
    assert member.tasks == Tasks(frozenset({Task("0", 0)}), frozenset({Task("0", 1)}), frozenset())
    assert member.target_assignment == member.assignment | {P1, TopicPartition("by-customer", 1)}
    assert member.target_tasks == Tasks(frozenset({Task("0", 0), Task("0", 1)}), frozenset(), frozenset({Task("1", 3)}))


def test_a_streams_group_whose_source_topics_are_missing_has_tasks_and_no_partitions():
    topology = StreamsGroupDescribeResponse.DescribedGroup.Topology(epoch=3, subtopologies=None)

    state = read_streams_group(topology=topology, group_state="NotReady")

    assert (state.state, state.topology_epoch, state.members[0].assignment) == ("NotReady", 3, frozenset())
    assert read_streams_group(topology=None).topology_epoch is None


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (30, "not permitted: GROUP_AUTHORIZATION_FAILED"),
        (29, "not permitted: TOPIC_AUTHORIZATION_FAILED"),
        (69, "GROUP_ID_NOT_FOUND"),
        (16, "NOT_COORDINATOR"),
    ],
)
def test_a_group_that_is_refused_or_not_found_is_said_to_be_so(module, code, reason):
    built = {share_groups: described_share_group, streams_groups: described_streams_group}[module]
    request = module.describe_request(["g", "left out"])

    states = module.parse_descriptions(request, built(error_code=code, members=[]), 1)

    assert states == {
        "g": Unknown(reason),
        "left out": Unknown("the coordinator's answer does not name the group"),
    }


@pytest.mark.parametrize("module", MODULES)
def test_every_group_of_a_silent_coordinator_is_unknown(module):
    states = module.parse_descriptions(module.describe_request(["a", "b"]), SILENT, 1)

    assert states == dict.fromkeys(["a", "b"], Unknown("broker 1 did not answer in time"))
