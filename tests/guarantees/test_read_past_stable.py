from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from tests.guarantees.builders import NOBODY, PARTITION, finding, findings, member, seen
from tests.guarantees.test_watch import written

PAST = Kind.READ_PAST_STABLE_OFFSET
BEFORE = {"high": 100, "stable": 100, "committed": 100}
AFTER = {"high": 150, "stable": 110, "committed": 140}
OTHER = member("other", PARTITION)


def two(before=None, after=None):
    return seen(0, **{**BEFORE, **(before or {})}), seen(5, **{**AFTER, **(after or {})})


def test_a_member_that_commits_past_the_stable_offset_reads_undecided_records():
    found = finding(*two(), kind=PAST)

    assert (found.severity, found.anchor) == (4, "stable offset 110")
    assert (found.bounds.lower, found.bounds.estimate, found.bounds.upper) == (30, 30, None)
    assert [s.grade for s in found.statements] == [Grade.PROVEN, Grade.PROBABLE, Grade.NOT_OBSERVABLE]
    assert found.evidence["member_id"] == "m1"


def test_offsets_that_markers_use_are_no_proof():
    assert not findings(*two(after={"committed": 112}), kind=PAST)
    assert findings(*two(after={"committed": 113}), kind=PAST)


REBALANCING = {"group_state": "PreparingRebalance"}


def of_another_topic(one, *, commits=False, partitions=False):
    """What was read before a topic was created anew under its name."""
    changed = {}
    if commits:
        changed["commits"] = {key: replace(each, topic_id="topic-id-0") for key, each in one.commits.items()}
    if partitions:
        changed["partitions"] = {key: replace(each, topic_id="topic-id-0") for key, each in one.partitions.items()}
    return replace(one, **changed)


SILENT = {
    "at the stable offset": two(after={"committed": 110}),
    "an operator set it while the group was empty": two({"members": ()}, {"members": ()}),
    "members came with the change": two({"members": ()}),
    "the owner changed": two(after={"members": [OTHER]}),
    "the leader changed in between": two(after={"epoch": 1}),
    "the topic was made anew": two(after={"topic_id": "topic-id-2"}),
    "the commit did not move": two({"high": 150, "committed": 140}),
    "the commit is not known": two(after={"committed": None}),
    "the commit before is not known": two({"committed": None}),
    "the commit before was of another topic": (of_another_topic(two()[0], commits=True), two()[1]),
    "the offsets before are not known": two({"high": NOBODY}),
    "the offsets before were of another topic": (of_another_topic(two()[0], partitions=True), two()[1]),
    "the group was never described": tuple(replace(one, groups={}) for one in two()),
    "the group was never settled": two(REBALANCING, REBALANCING),
}


@pytest.mark.parametrize("rounds", SILENT.values(), ids=SILENT.keys())
def test_nothing_is_proven_where(rounds):
    assert not findings(*rounds, kind=PAST)


def test_it_is_one_finding_until_another_member_stays_within_the_stable_offset():
    again = seen(10, high=200, stable=160, committed=190)
    within = seen(15, high=200, stable=200, committed=190)
    other = seen(20, high=200, stable=200, committed=195, members=[OTHER])

    assert finding(*two(), again, within, kind=PAST).closed_reason is None
    assert finding(*two(), again, within, other, kind=PAST).closed_reason.startswith("another member")
    assert written([*two(), again, within, other], {2, 4}).keys() == written([*two(), again, within, other]).keys()


@pytest.mark.parametrize(
    ("after", "closes"),
    [
        ({"stable": 140, "members": [OTHER]}, True),
        ({"stable": 139, "members": [OTHER]}, False),
        ({"stable": NOBODY, "members": [OTHER]}, False),
        ({"high": NOBODY, "members": [OTHER]}, False),
    ],
    ids=["at the stable offset", "past it", "it is not known", "no offsets are"],
)
def test_another_member_closes_it_only_within_the_stable_offset(after, closes):
    found = finding(*two(), seen(10, **{"high": 200, "committed": 140, **after}), kind=PAST)

    assert (found.closed_reason is not None) is closes
