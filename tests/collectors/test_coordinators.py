import pytest

from collectors.coordinators import Coordinators, asked_by_name, coordinators, why_silent
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
        ((), {1: [], 2: SILENT}, None),
        ((), {1: SILENT, 2: SILENT}, "broker 2 did not answer in time"),
    ],
)
def test_nobody_speaks_for_a_name_where_its_coordinator_or_everybody_who_may_be_it_is_silent(leaders, answers, reason):
    expected = None if reason is None else Unknown(f"coordinator unavailable: {reason}")

    assert why_silent("g", answers, of_three(*leaders)) == expected


class Brokers:
    """`coordinator` says that a name is "here", the others that they are not its coordinator; `asked` is in order."""

    def __init__(self, coordinator):
        self.coordinator, self.asked = coordinator, []

    def __call__(self, names_by_broker):
        self.asked.append({broker: list(names) for broker, names in names_by_broker.items()})
        told = dict.fromkeys((name for names in names_by_broker.values() for name in names), NOT_COORDINATOR)
        return told | dict.fromkeys(names_by_broker.get(self.coordinator, ()), "here")


NOT_COORDINATOR = Unknown("NOT_COORDINATOR")
ANSWERS = {1: [], 2: SILENT, 3: []}


def test_a_name_is_asked_of_its_coordinator_alone():
    brokers = Brokers(coordinator=1)

    assert asked_by_name({"g": 3, "h": 3}, ANSWERS, of_three(1), brokers) == {"g": "here", "h": "here"}
    assert brokers.asked == [{1: ["g", "h"]}]


def test_a_coordinator_that_is_none_any_more_says_so_and_nobody_else_is_asked():
    brokers = Brokers(coordinator=3)

    assert asked_by_name({"g": 3}, ANSWERS, of_three(1), brokers) == {"g": NOT_COORDINATOR}
    assert len(brokers.asked) == 1


def test_where_it_cannot_be_told_who_coordinates_the_last_one_is_asked_first():
    brokers = Brokers(coordinator=3)

    assert asked_by_name({"g": 3}, ANSWERS, of_three(), brokers) == {"g": "here"}
    assert brokers.asked == [{3: ["g"]}]


@pytest.mark.parametrize(("last", "first"), [(1, {1: ["g"]}), (2, {}), (9, {})], ids=["moved", "silent", "removed"])
def test_where_the_last_one_does_not_speak_for_a_name_all_that_answer_are_asked(last, first):
    brokers = Brokers(coordinator=3)

    assert asked_by_name({"g": last}, ANSWERS, of_three(), brokers) == {"g": "here"}
    assert brokers.asked == [first, {1: ["g"], 3: ["g"]}]


def test_a_name_that_everybody_denies_to_coordinate_is_unknown():
    assert asked_by_name({"g": 1}, ANSWERS, of_three(), Brokers(coordinator=2)) == {"g": NOT_COORDINATOR}
    assert asked_by_name({"g": 2}, ANSWERS, of_three(), Brokers(coordinator=2)) == {"g": SILENT}
