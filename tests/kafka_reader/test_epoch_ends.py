import pytest

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.epoch_ends import EpochQuestion, FoundEnd, epoch_ends_request, parse_epoch_ends
from kafka_reader.errors import BrokerUnavailableError
from tests.kafka_reader.answers import ANSWERED_MS, ASKED_MS, epoch_ends

ASKED = EpochQuestion(TopicPartition("orders", 0), asked_epoch=3, current_leader_epoch=5)
OTHER = EpochQuestion(TopicPartition("orders", 1), asked_epoch=4, current_leader_epoch=5)


def test_the_question_names_the_current_leader_epoch_so_that_a_replaced_leader_refuses():
    request = epoch_ends_request([OTHER, ASKED])

    parts = [(p.partition, p.leader_epoch, p.current_leader_epoch) for p in request.topics[0].partitions]
    assert request.replica_id == -1
    assert parts == [(0, 3, 5), (1, 4, 5)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"error_code": 0, "leader_epoch": 3, "end_offset": 1500}, (3, 1500)),
        ({"error_code": 0, "leader_epoch": 0, "end_offset": 0}, (0, 0)),
        ({"error_code": 0, "leader_epoch": -1, "end_offset": -1}, "the log knows no such epoch"),
        ({"error_code": 6, "leader_epoch": -1, "end_offset": -1}, "NOT_LEADER_OR_FOLLOWER"),
        ({"error_code": 74, "leader_epoch": -1, "end_offset": -1}, "FENCED_LEADER_EPOCH"),
        ({"error_code": 29, "leader_epoch": -1, "end_offset": -1}, "not permitted: TOPIC_AUTHORIZATION_FAILED"),
    ],
)
def test_an_end_is_a_number_only_where_the_leader_gave_one(values, expected):
    found = parse_epoch_ends([ASKED], epoch_ends(("orders", 0, values)), 1, at_ms=2_000)[ASKED]

    told = (Unknown(expected), Unknown(expected)) if isinstance(expected, str) else expected
    assert found == FoundEnd(*told, 1, ASKED_MS, ANSWERED_MS)


def test_what_the_answer_leaves_out_and_a_silent_leader_are_unknown():
    some = epoch_ends(("orders", 0, {"error_code": 0, "leader_epoch": 3, "end_offset": 7}))
    found = parse_epoch_ends([ASKED, OTHER], some, 1, at_ms=2_000)
    silent = parse_epoch_ends([ASKED], BrokerUnavailableError("broker 1 did not answer in time"), 1, at_ms=2_000)

    assert found[ASKED].end_offset == 7
    assert found[OTHER].end_offset == Unknown("the broker's answer does not name the partition")
    unknown = Unknown("broker 1 did not answer in time")
    assert silent[ASKED] == FoundEnd(unknown, unknown, None, None, 2_000)
