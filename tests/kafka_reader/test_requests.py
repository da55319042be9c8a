"""What Tidemark sends and how it reads the answers, one request after another."""

import uuid

import pytest
from kafka.protocol.consumer import ConsumerProtocolAssignment, ListOffsetsRequest

from guarantees.observations import Member, OpenProducer, Transaction
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader import (
    configurations,
    consumer_groups,
    epoch_ends,
    features,
    groups,
    list_offsets,
    log_dirs,
    offset_fetch,
    producers,
    quorum,
    rights,
    share_groups,
    streams_groups,
    topic_partitions,
    transactions,
)
from kafka_reader.allowed import READ_ONLY
from kafka_reader.epoch_ends import EpochQuestion
from kafka_reader.errors import BrokerLateError, BrokerUnavailableError
from kafka_reader.listed_offsets import ListedOffset
from kafka_reader.metadata import topology
from kafka_reader.metadata_answer import decode
from kafka_reader.offset_fetch import FetchedCommit
from tests.kafka_reader.answers import (
    ANSWERED_MS,
    ASKED_MS,
    answer,
    as_bytes,
    described_group,
    described_partitions,
    described_producers,
    described_transaction,
    fetched_offsets,
    listed_groups,
    listed_offsets,
    listed_transactions,
    metadata,
)

ORDERS = uuid.UUID("00000000-0000-4000-8000-000000000001")
P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
SILENT = BrokerLateError("broker 1 did not answer in time")


def partition(index: int, **changed: object) -> dict[str, object]:
    values = {"error_code": 0, "partition_index": index, "leader_id": 1, "leader_epoch": 4, "replica_nodes": [1, 2]}
    return values | {"isr_nodes": [1, 2], "offline_replicas": []} | changed


def topic(name: str, *partitions: dict[str, object], **changed: object) -> dict[str, object]:
    return {
        "error_code": 0,
        "name": name,
        "topic_id": ORDERS,
        "is_internal": False,
        "partitions": list(partitions),
    } | changed


def test_metadata_keeps_partitions_without_a_leader_and_names_failed_topics():
    given = metadata(
        topic("orders", partition(0), partition(1, error_code=5, leader_id=-1, isr_nodes=[])),
        topic("secret", error_code=29),
    )

    seen = topology(decode(as_bytes(given).data, 12, None), ASKED_MS, ANSWERED_MS)

    assert seen.leader(P0) == 1
    assert seen.states[P1].leader is None
    assert seen.leader(P1) == Unknown("the partition has no leader")
    assert seen.states[P0].topic_id == str(ORDERS)
    assert seen.failed == {"secret": Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED")}
    assert isinstance(seen.leader(TopicPartition("secret", 0)), Unknown)


def test_metadata_that_stays_the_same_keeps_the_very_same_keys():
    given = as_bytes(metadata(topic("orders", partition(0), partition(1)))).data
    found = decode(given, 12, None)

    first, second = topology(found, 1, 2), topology(decode(given, 12, found), 3, 4)

    assert list(first.states) == list(second.states) == [P0, P1]
    assert all(one is other for one, other in zip(first.states, second.states, strict=True))
    assert first.states[P0].replicas is second.states[P1].replicas
    assert second.states[P0].observed_at_ms == 4


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (list_offsets.log_start_request, (-1, 0, -2)),
        (list_offsets.high_watermark_request, (-1, 0, -1)),
        (list_offsets.last_stable_offset_request, (-1, 1, -1)),
        (list_offsets.log_end_request, (-2, 0, -1)),
    ],
)
def test_the_four_questions_about_offsets_differ_in_replica_isolation_and_timestamp(build, expected):
    request = ListOffsetsRequest.decode(build([P1, P0]).body(list_offsets.VERSION), version=list_offsets.VERSION)

    asked = request.topics[0].partitions
    assert (request.replica_id, request.isolation_level, asked[0].timestamp) == expected
    assert [part.partition_index for part in asked] == [0, 1]


@pytest.mark.parametrize(
    ("values", "offset"),
    [
        ({"error_code": 0, "offset": 5, "leader_epoch": 3}, 5),
        ({"error_code": 0, "offset": 0, "leader_epoch": 3}, 0),
        ({"error_code": 0, "offset": -1, "leader_epoch": -1}, Unknown("no such offset")),
        ({"error_code": 78, "offset": -1, "leader_epoch": -1}, Unknown("OFFSET_NOT_AVAILABLE")),
        ({"error_code": 6, "offset": -1, "leader_epoch": -1}, Unknown("NOT_LEADER_OR_FOLLOWER")),
        ({"error_code": 29, "offset": -1, "leader_epoch": -1}, Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED")),
    ],
)
def test_an_offset_is_a_number_only_where_the_broker_gave_one(values, offset):
    request = list_offsets.high_watermark_request([P0])

    listed = list_offsets.parse_offsets(request, listed_offsets(("orders", 0, values)), 1, at_ms=2_000)[P0]

    assert listed.offset == offset
    assert listed.leader_epoch == (3 if isinstance(offset, int) else offset)
    assert (listed.broker, listed.requested_at_ms, listed.observed_at_ms) == (1, ASKED_MS, ANSWERED_MS)


def test_one_failing_partition_hides_no_other():
    request = list_offsets.high_watermark_request([P0, P1])
    given = listed_offsets(
        ("orders", 0, {"error_code": 6}), ("orders", 1, {"error_code": 0, "offset": 9, "leader_epoch": 0})
    )

    listed = list_offsets.parse_offsets(request, given, 1, at_ms=2_000)

    assert isinstance(listed[P0].offset, Unknown)
    assert listed[P1].offset == 9


def test_offsets_of_a_silent_broker_are_unknown_from_when_the_wait_ended():
    listed = list_offsets.parse_offsets(list_offsets.log_start_request([P0, P1]), SILENT, 1, at_ms=2_000)

    unknown = Unknown("broker 1 did not answer in time")
    assert listed == dict.fromkeys((P0, P1), ListedOffset(unknown, unknown, None, None, 2_000))


def test_a_partition_the_broker_forgot_is_unknown():
    request = list_offsets.log_start_request([P0, P1])

    listed = list_offsets.parse_offsets(
        request, listed_offsets(("orders", 0, {"error_code": 0, "offset": 1})), 1, 2_000
    )

    assert isinstance(listed[P1].offset, Unknown)


@pytest.mark.parametrize(
    ("values", "commit"),
    [
        ({"committed_offset": 7, "committed_leader_epoch": 2, "error_code": 0}, FetchedCommit(7, 2, False)),
        ({"committed_offset": 7, "committed_leader_epoch": -1, "error_code": 0}, FetchedCommit(7, None, False)),
        ({"committed_offset": 0, "committed_leader_epoch": 0, "error_code": 0}, FetchedCommit(0, 0, False)),
        ({"committed_offset": -1, "committed_leader_epoch": -1, "error_code": 0}, FetchedCommit(None, None, False)),
        ({"committed_offset": -1, "error_code": 88}, FetchedCommit(offset_fetch.PENDING, None, True)),
        ({"committed_offset": -1, "error_code": 3}, FetchedCommit(Unknown("UNKNOWN_TOPIC_OR_PARTITION"), None, False)),
    ],
)
def test_a_commit_is_an_offset_or_none_or_pending_or_unknown(values, commit):
    request = offset_fetch.commits_request(["g"])

    fetched = offset_fetch.parse_commits(request, fetched_offsets("g", ("orders", 0, values)), 1, at_ms=2_000)["g"]

    assert fetched.partitions == {P0: commit}


def test_commits_are_asked_for_stable_and_for_all_topics():
    request = offset_fetch.commits_request(["b", "a"])

    assert request.require_stable
    assert [(group.group_id, group.topics) for group in request.groups] == [("a", None), ("b", None)]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (SILENT, "broker 1 did not answer in time: it may wait until what it wrote is replicated"),
        (BrokerUnavailableError("broker 1 cannot be reached"), "broker 1 cannot be reached"),
        (fetched_offsets("g", error_code=14), "COORDINATOR_LOAD_IN_PROGRESS"),
        (fetched_offsets("g", error_code=30), "not permitted: GROUP_AUTHORIZATION_FAILED"),
        (fetched_offsets("another"), "the coordinator's answer does not name the group"),
    ],
)
def test_a_group_that_failed_has_unknown_commits_and_not_none(given, reason):
    fetched = offset_fetch.parse_commits(offset_fetch.commits_request(["g"]), given, 1, at_ms=2_000)

    assert fetched["g"].partitions == Unknown(reason)


def test_groups_are_listed_with_type_and_coordinator():
    given = listed_groups(
        {"group_id": "g", "protocol_type": "consumer", "group_state": "Stable", "group_type": "Consumer"}
    )

    assert groups.parse_groups(given, 3) == [groups.ListedGroup("g", "consumer", "consumer", "Stable", 3)]


@pytest.mark.parametrize(
    ("given", "reason"),
    [(SILENT, "broker 1 did not answer in time"), (listed_groups(error_code=15), "COORDINATOR_NOT_AVAILABLE")],
)
def test_a_broker_that_lists_nothing_is_not_a_broker_without_groups(given, reason):
    assert groups.parse_groups(given, 1) == Unknown(reason)


def assignment_bytes() -> bytes:
    assigned = ConsumerProtocolAssignment.TopicPartition(topic="orders", partitions=[0, 1])
    return bytes(
        ConsumerProtocolAssignment(assigned_partitions=[assigned], user_data=None).encode(version=0, header=True)
    )


def classic_member(assignment: bytes) -> dict[str, object]:
    return {
        "member_id": "m",
        "group_instance_id": "i",
        "client_id": "c",
        "client_host": "/h",
        "member_assignment": assignment,
    }


def described(assignment: bytes, protocol_type: str = "consumer", error_code: int = 0):
    given = described_group(
        group_id="g", error_code=error_code, group_state="Stable", protocol_type=protocol_type, protocol_data="range",
        members=[classic_member(assignment)],
    )  # fmt: skip
    return groups.parse_descriptions(groups.describe_request(["g"]), given, 2)["g"]


def test_members_of_a_classic_group_are_shown_with_what_they_own():
    state = described(assignment_bytes())

    assert (state.group_type, state.state, state.coordinator, state.group_epoch) == ("classic", "Stable", 2, None)
    assert state.members == (Member("m", "i", "c", "/h", frozenset({P0, P1})),)


def test_a_member_of_another_protocol_owns_no_partitions():
    assert described(b"connect's own bytes", protocol_type="connect").members[0].assignment == frozenset()


def test_an_assignment_that_cannot_be_decoded_is_unknown_and_not_empty():
    assert described(b"\x00\x00\x00\x00\x00\x09") == Unknown("a member's assignment cannot be decoded")


def test_a_description_that_was_refused_says_so():
    assert described(b"", error_code=30) == Unknown("not permitted: GROUP_AUTHORIZATION_FAILED")


def consumer_description(error_code: int = 0):
    response = consumer_groups.ConsumerGroupDescribeResponse
    member_class = response.DescribedGroup.Member

    owned = member_class.Assignment

    def assignment(partitions: list[int]) -> object:
        return owned(
            topic_partitions=[owned.TopicPartitions(topic_id=ORDERS, topic_name="orders", partitions=partitions)]
        )

    member = member_class(
        member_id="m",
        instance_id=None,
        member_epoch=4,
        client_id="c",
        client_host="/h",
        subscribed_topic_names=["orders"],
        assignment=assignment([0]),
        target_assignment=assignment([0, 1]),
    )
    group = response.DescribedGroup(
        group_id="g", error_code=error_code, group_state="Reconciling", group_epoch=5, assignment_epoch=5,
        assignor_name="uniform", members=[member],
    )  # fmt: skip
    return answer(response(version=1, groups=[group]))


def test_a_group_of_the_consumer_protocol_is_shown_with_its_epochs_and_both_assignments():
    request = consumer_groups.describe_request(["g"])

    state = consumer_groups.parse_descriptions(request, consumer_description(), 3)["g"]

    assert (state.group_type, state.state, state.group_epoch, state.assignment_epoch) == (
        "consumer",
        "Reconciling",
        5,
        5,
    )
    (member,) = state.members
    assert (member.member_epoch, member.assignment, member.target_assignment) == (4, {P0}, {P0, P1})


def test_a_member_topic_that_may_not_be_described_hides_the_whole_group():
    request = consumer_groups.describe_request(["g"])

    state = consumer_groups.parse_descriptions(request, consumer_description(error_code=29), 3)["g"]

    assert state == Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED")


def test_the_schema_of_the_consumer_protocol_survives_the_wire():
    response = consumer_description().response

    read_back = type(response).decode(response.encode(), version=1)

    assert read_back.to_dict() == response.to_dict()


def test_eligible_leaders_are_none_where_the_feature_is_off_and_empty_where_there_are_none():
    found = topic_partitions.parse_eligible_leaders(
        described_partitions(
            topic(
                "orders",
                partition(0, eligible_leader_replicas=[], last_known_elr=[2]),
                partition(1, eligible_leader_replicas=None, last_known_elr=None),
            ),
            topic("secret", partition(0), error_code=29),
        )
    )

    assert found == {
        P0: topic_partitions.EligibleLeaders((), (2,)),
        P1: topic_partitions.EligibleLeaders(None, None),
    }


def producer_state(producer_id: int, start: int) -> dict[str, int]:
    state = {"producer_id": producer_id, "producer_epoch": 1, "last_sequence": 9, "last_timestamp": 500}
    return state | {"coordinator_epoch": -1, "current_txn_start_offset": start}


def test_only_producers_with_an_open_transaction_are_kept():
    given = described_producers("orders", 0, producer_state(7, 12), producer_state(8, -1))

    found = producers.parse_open_producers(producers.producers_request([P0]), given)

    assert found == {P0: (OpenProducer(7, 1, 9, 500, -1, 12, ANSWERED_MS),)}


def test_producers_that_may_not_be_seen_are_unknown_and_not_none():
    given = described_producers("orders", 0, error_code=29)

    found = producers.parse_open_producers(producers.producers_request([P0]), given)

    assert found == {P0: Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED")}


def test_a_coordinator_lists_its_open_transactions_or_says_nothing():
    assert transactions.parse_list(listed_transactions("tx")) == ["tx"]
    assert transactions.parse_list(listed_transactions(error_code=14)) == Unknown("COORDINATOR_LOAD_IN_PROGRESS")
    assert transactions.parse_list(SILENT) == Unknown("broker 1 did not answer in time")


def transaction(**changed: object):
    state = {
        "error_code": 0,
        "transactional_id": "tx",
        "transaction_state": "Ongoing",
        "transaction_timeout_ms": 60_000,
    }
    state |= {"transaction_start_time_ms": 400, "producer_id": 7, "producer_epoch": 1, "topics": [("orders", [0, 1])]}
    return transactions.parse_descriptions(described_transaction(**(state | changed)), 2)


def test_an_open_transaction_is_described_with_its_partitions():
    expected = Transaction("tx", 7, 1, "Ongoing", 60_000, 400, frozenset({P0, P1}), 2, ANSWERED_MS)
    assert transaction() == (expected,)


def test_a_transaction_that_ended_in_between_is_left_out_and_a_refused_one_is_unknown():
    assert transaction(error_code=105) == ()
    assert transaction(error_code=53) == (Unknown("not permitted: TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),)


NO_SUCH_ID, NOT_COORDINATOR, LOADING = 105, 16, 14


def looked_up(**changed: object):
    state = {"error_code": 0, "transactional_id": "tx", "transaction_state": "Ongoing", "transaction_timeout_ms": 1}
    state |= {"transaction_start_time_ms": 400, "producer_id": 7, "producer_epoch": 1}
    request = transactions.describe_request(["tx"])
    return transactions.parse_looked_up(request, described_transaction(**(state | changed)), 2)["tx"]


@pytest.mark.parametrize("state", ["Ongoing", "PrepareCommit", "PrepareAbort"])
def test_a_transaction_looked_up_is_open_while_it_holds_back_readers(state):
    assert looked_up(transaction_state=state).state == state


@pytest.mark.parametrize(
    "ended", [{"error_code": NO_SUCH_ID}, {"transaction_state": "CompleteCommit"}, {"transaction_state": "Empty"}]
)
def test_a_transaction_looked_up_in_vain_or_complete_has_ended(ended):
    assert looked_up(**ended) is None


def test_a_broker_that_is_not_or_not_yet_the_coordinator_says_nothing_of_a_transaction():
    assert looked_up(error_code=NOT_COORDINATOR) == Unknown("NOT_COORDINATOR")
    assert looked_up(error_code=LOADING) == Unknown("COORDINATOR_LOAD_IN_PROGRESS")
    assert looked_up(transactional_id="another") == transactions.NOT_TOLD
    assert transactions.parse_looked_up(transactions.describe_request(["tx"]), SILENT, 2) == {
        "tx": Unknown("broker 1 did not answer in time")
    }


@pytest.mark.parametrize(
    ("described", "exists"),
    [
        ({"error_code": 0, "group_state": "Stable"}, True),
        ({"error_code": 0, "group_state": "Empty"}, True),
        ({"error_code": 0, "group_state": "Dead"}, False),
        ({"error_code": 69, "group_state": "Dead"}, False),
        ({"error_code": NOT_COORDINATOR}, Unknown("NOT_COORDINATOR")),
        ({"error_code": LOADING}, Unknown("COORDINATOR_LOAD_IN_PROGRESS")),
        ({"error_code": 15}, Unknown("COORDINATOR_NOT_AVAILABLE")),
        ({"error_code": 30}, Unknown("not permitted: GROUP_AUTHORIZATION_FAILED")),
    ],
)
def test_whether_a_group_exists_only_its_coordinator_says(described, exists):
    assert groups.parse_existing(["g"], described_group(group_id="g", **described)) == {"g": exists}


def test_of_a_group_that_no_answer_names_it_is_not_known_whether_it_exists():
    absent = groups.parse_existing(["g"], described_group(error_code=0, group_id="another"))

    assert absent == {"g": Unknown("the coordinator's answer does not name the group")}
    assert groups.parse_existing(["g"], SILENT) == {"g": Unknown("broker 1 did not answer in time")}


class Answering:
    """Brokers, each with its one answer."""

    def __init__(self, answers):
        self.answers = answers

    def send_all(self, requests):
        return {broker: self.answers[broker] for broker in sorted(requests)}


@pytest.mark.parametrize("first", [1, 2])
def test_of_all_brokers_asked_the_one_that_is_the_coordinator_counts(first):
    elsewhere = described_group(error_code=NOT_COORDINATOR, group_id="g")
    here = described_group(error_code=69, group_id="g")

    assert groups.fetch_existing(Answering({first: elsewhere, 3 - first: here}), {1: ["g"], 2: ["g"]}) == {"g": False}


@pytest.mark.parametrize("first", [1, 2])
def test_of_all_brokers_asked_the_one_that_coordinates_the_transaction_counts(first):
    elsewhere = described_transaction(error_code=NOT_COORDINATOR, transactional_id="tx")
    here = described_transaction(error_code=NO_SUCH_ID, transactional_id="tx")

    assert transactions.fetch_looked_up(Answering({first: elsewhere, 3 - first: here}), {1: ["tx"], 2: ["tx"]}) == {
        "tx": None
    }


def test_a_transaction_without_a_start_time_has_none():
    (described_one,) = transaction(transaction_start_time_ms=-1)
    assert described_one.started_at_ms is None


def test_every_request_that_is_built_may_be_sent():
    built = [
        list_offsets.log_start_request([P0]),
        offset_fetch.commits_request(["g"]),
        groups.list_request(),
        groups.describe_request(["g"]),
        consumer_groups.describe_request(["g"]),
        topic_partitions.eligible_leaders_request(["orders"]),
        producers.producers_request([P0]),
        transactions.list_request(),
        transactions.describe_request(["tx"]),
        epoch_ends.epoch_ends_request([EpochQuestion(P0, 3, 4)]),
        share_groups.describe_request(["g"]),
        share_groups.offsets_request(["g"]),
        streams_groups.describe_request(["g"]),
        log_dirs.log_dirs_request(),
        quorum.quorum_request(),
        features.brokers_request(),
        features.versions_request(),
        rights.cluster_request(),
        configurations.configurations_request(["orders"]),
    ]
    assert {request.API_KEY for request in built} == READ_ONLY.keys() - {1, 3}
