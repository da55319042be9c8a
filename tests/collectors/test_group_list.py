import pytest

from collectors.group_list import coordinator_partition, group_list, java_hash, of_interest
from guarantees.observations import PartitionState
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.groups import ListedGroup
from kafka_reader.metadata import Topology

GROUP = ListedGroup("g", "classic", "consumer", "Stable", coordinator=2)


def topology(*leaders: int | None) -> Topology:
    """A cluster whose __consumer_offsets has one partition for each leader given."""
    states = {
        TopicPartition("__consumer_offsets", index): PartitionState("id", leader, 0, (1, 2), (), None, None, (), 0)
        for index, leader in enumerate(leaders)
    }
    return Topology("c", (1, 2), {}, frozenset(), states, {}, 0, 0)


@pytest.mark.parametrize(
    ("text", "hashed"),
    [("", 0), ("g", 103), ("orders", 0xC3DF62E5), ("größe", 0x05E2FE11), ("\U0001f600x", 0x03469F75)],
)
def test_the_hash_is_javas(text, hashed):
    """Values of java.lang.String.hashCode, unsigned."""
    assert java_hash(text) == hashed


def test_a_group_lies_in_the_partition_of_its_hash():
    assert coordinator_partition("orders", topology(1, 1, 1)).partition == (0xC3DF62E5 & 0x7FFFFFFF) % 3
    assert coordinator_partition("orders", topology()) is None


@pytest.mark.parametrize(
    ("leader", "answers", "reason"),
    [
        (2, {1: [], 2: []}, None),
        (None, {1: [], 2: []}, "coordinator unavailable: __consumer_offsets-0 has no leader"),
        (
            2,
            {1: [], 2: Unknown("broker 2 did not answer in time")},
            "coordinator unavailable: broker 2 did not answer in time",
        ),
        (3, {1: [], 2: []}, "coordinator unavailable: broker 3 is not in the cluster"),
        (1, {1: [], 2: Unknown("broker 2 did not answer in time")}, None),
    ],
)
def test_a_group_that_is_no_longer_listed_is_gone_only_if_its_coordinator_says_so(leader, answers, reason):
    found = group_list(answers, {"g": GROUP}, topology(leader))

    assert found.unavailable == ({} if reason is None else {"g": Unknown(reason)})
    assert found.known == ({} if reason is None else {"g": GROUP})


def test_where_the_topic_of_commits_is_not_visible_the_last_coordinator_counts():
    found = group_list({1: [], 2: Unknown("no answer")}, {"g": GROUP}, topology())

    assert found.unavailable == {"g": Unknown("coordinator unavailable: no answer")}


def test_a_group_that_moved_to_another_coordinator_is_listed_there():
    moved = ListedGroup("g", "classic", "consumer", "Stable", coordinator=1)

    found = group_list({1: [moved], 2: Unknown("no answer")}, {"g": GROUP}, topology(1))

    assert (found.listed, found.unavailable) == ({"g": moved}, {})


def test_only_groups_the_settings_name_are_kept():
    found = group_list({1: [GROUP], 2: Unknown("no answer")}, {"h": GROUP}, topology(2))

    kept = of_interest(found, lambda group_id: group_id == "h")

    assert (set(kept.listed), set(kept.remembered), set(kept.unavailable)) == (set(), {"h"}, {"h"})
