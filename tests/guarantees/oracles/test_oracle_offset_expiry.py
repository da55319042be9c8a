import json
from pathlib import Path

import pytest

from guarantees.findings import Kind
from guarantees.observations import Round
from guarantees.places import GroupPartition, TopicPartition
from guarantees.thresholds import Thresholds
from tests.guarantees.builders import CLUSTER, GROUP, at, commit, findings, group, member, offsets, state

CASES = json.loads((Path(__file__).parents[2] / "oracles" / "offset_expiry.json").read_text())["cases"]

# When the broker removes the group itself is its own affair: we say that the commits are gone.
NOT_APPLICABLE = {"group_removable": "no answer tells a removed group from one that was deleted"}


def partition(name):
    topic, number = name.rsplit("-", 1)
    return TopicPartition(topic, int(number))


def look(case, second, gone=()):
    """What an outsider sees: the commits that are left, members that own the subscribed topics, the topics."""
    names = {name: partition(name) for name in case["commits"]}
    owned = [p for p in names.values() if p.topic in case["subscribed_topics"]]
    return Round(
        cluster_id=CLUSTER,
        tick=round(second),
        started_at_ms=at(second),
        ended_at_ms=at(second + 0.05),
        partitions={p: offsets(100, second=second) for p in names.values()},
        commits={
            GroupPartition(GROUP, p.topic, p.partition): commit(None if name in gone else 100, second=second)
            for name, p in names.items()
        },
        states={p: state() for p in names.values()},
        groups={GROUP: group([member("m1", *owned)], second=second)},
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_oracle_offset_expiry_exactly_the_expired_commits_are_found(case):
    now_s = case["now_ms"] / 1000
    thresholds = Thresholds(offsets_retention_s=case["offsets_retention_ms"] / 1000)
    rounds = [look(case, now_s - 5), look(case, now_s, gone=case["expect"]["expired"])]
    found = findings(*rounds, kind=Kind.COMMIT_EXPIRED, thresholds=thresholds)

    assert sorted(f"{f.place.topic}-{f.place.partition}" for f in found) == case["expect"]["expired"]
    assert not findings(rounds[0], kind=Kind.COMMIT_EXPIRED, thresholds=thresholds)


def test_every_expectation_is_asserted_or_listed():
    assert {name for case in CASES for name in case["expect"]} - {"expired"} == NOT_APPLICABLE.keys()
    assert len(CASES) == 3
