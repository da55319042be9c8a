import pytest

from collectors.coordinators import Coordinators, by_broker, coordinators, why_silent
from guarantees.observations import PartitionState
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.metadata import Topology

SILENT = Unknown("broker 2 did not answer in time")


def topology(states: dict[TopicPartition, int | None]) -> Topology:
    made = {place: PartitionState("id", leader, 0, (1, 2), (), None, None, (), 0) for place, leader in states.items()}
    return Topology("c", (1, 2, 3), {}, frozenset(), made, {}, 0, 0)


def of_three(*leaders: int | None) -> Coordinators:
    return Coordinators("__consumer_offsets", leaders, (1, 2, 3))


def test_leaders_are_those_of_the_one_topic_in_the_order_of_its_partitions():
    found = coordinators(
        "__consumer_offsets",
        topology(
            {
                TopicPartition("__consumer_offsets", 10): 3,
                TopicPartition("orders", 0): 1,
                **{TopicPartition("__consumer_offsets", number): 2 for number in range(10)},
            }
        ),
    )

    assert found == Coordinators("__consumer_offsets", (*[2] * 10, 3), (1, 2, 3))


@pytest.mark.parametrize(("name", "partition"), [("group-0", 48), ("group-15838", 19), ("group-55433", 34)])
def test_a_name_lies_where_a_broker_of_50_partitions_keeps_it(name, partition):
    """Seen live; the hashes of the last two are negative, and what is left without the sign is not the rest of it."""
    assert of_three(*range(50)).of(name) == partition


def test_without_a_leader_nobody_coordinates_and_without_the_topic_it_cannot_be_told_who():
    assert of_three(None).of("g") == Unknown("coordinator unavailable: __consumer_offsets-0 has no leader")
    assert of_three().of("g") is None


@pytest.mark.parametrize(
    ("leaders", "answers", "reason"),
    [
        ((2,), {1: [], 2: []}, None),
        ((2,), {1: [], 2: SILENT}, "broker 2 did not answer in time"),
        ((1,), {1: [], 2: SILENT}, None),
        ((None,), {1: [], 2: []}, "__consumer_offsets-0 has no leader"),
        ((3,), {1: [], 2: []}, "broker 3 is not in the cluster"),
        ((), {1: [], 2: SILENT}, "broker 2 did not answer in time"),
        ((), {1: SILENT, 2: []}, None),
    ],
)
def test_who_does_not_answer_for_a_name_is_its_coordinator_or_the_last_one_known(leaders, answers, reason):
    expected = None if reason is None else Unknown(f"coordinator unavailable: {reason}")

    assert why_silent("g", 2, answers, of_three(*leaders)) == expected


def test_a_name_is_asked_of_its_coordinator_or_of_all_that_answer():
    answers = {1: [], 2: SILENT, 3: []}

    assert by_broker(["g", "h"], answers, of_three(1)) == {1: ["g", "h"]}
    assert by_broker(["g"], answers, of_three()) == {1: ["g"], 3: ["g"]}
