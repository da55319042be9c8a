import pytest

from collectors.coordinators import Coordinators
from collectors.group_list import group_list, of_interest
from guarantees.unknown import Unknown
from kafka_reader.groups import ListedGroup

GROUP = ListedGroup("g", "classic", "consumer", "Stable", coordinator=2)


def led_by(*leaders: int | None) -> Coordinators:
    """Of a cluster whose __consumer_offsets has one partition for each leader given; none: it may not be described."""
    return Coordinators("__consumer_offsets", leaders, (1, 2))


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
    found = group_list(answers, {"g": GROUP}, led_by(leader))

    assert found.unavailable == ({} if reason is None else {"g": Unknown(reason)})
    assert found.known == ({} if reason is None else {"g": GROUP})


def test_where_the_topic_of_commits_is_not_visible_a_group_is_missing_unless_nobody_answers():
    """Whoever answers may be its coordinator; it is asked for by name then."""
    silent = Unknown("no answer")

    assert group_list({1: [], 2: silent}, {"g": GROUP}, led_by()).known == {}
    assert group_list({1: silent, 2: silent}, {"g": GROUP}, led_by()).unavailable == {
        "g": Unknown("coordinator unavailable: no answer")
    }


def test_a_group_that_moved_to_another_coordinator_is_listed_there():
    moved = ListedGroup("g", "classic", "consumer", "Stable", coordinator=1)

    found = group_list({1: [moved], 2: Unknown("no answer")}, {"g": GROUP}, led_by(1))

    assert (found.listed, found.unavailable) == ({"g": moved}, {})


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_of_two_brokers_that_list_a_group_its_present_coordinator_counts(order):
    """The former one, back from a pause, has not heard yet that it is none any more."""
    by_broker = {1: [ListedGroup("g", "classic", "consumer", "Empty", coordinator=1)], 2: [GROUP]}

    found = group_list({broker: by_broker[broker] for broker in order}, {}, led_by(2))

    assert found.listed == {"g": GROUP}


def test_only_groups_the_settings_name_are_kept():
    found = group_list({1: [GROUP], 2: Unknown("no answer")}, {"h": GROUP}, led_by(2))

    kept = of_interest(found, lambda group_id: group_id == "h")

    assert (set(kept.listed), set(kept.remembered), set(kept.unavailable)) == (set(), {"h"}, {"h"})
