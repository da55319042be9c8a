"""The rows of a group's description, by Apache Kafka's own test of kafka-consumer-groups."""

import json
from pathlib import Path

import pytest

from collectors import committed_offsets
from collectors.commit_places import places
from collectors.commit_table import commits
from guarantees.lag import NO_COMMIT, Lag, consumer_lag
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.metadata import Topology
from kafka_reader.offset_fetch import commits_request, parse_commits
from tests.guarantees.builders import GROUP, NOBODY, TOPIC_ID, at, offsets
from tests.kafka_reader.answers import fetched_offsets

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "group_describe.json").read_text())
TOPOLOGY = Topology("c", (1,), {"t1": TOPIC_ID, "t2": TOPIC_ID}, frozenset(), {}, {}, at(0), at(0))


NONE = -1  # on the wire


def partition(row):
    return TopicPartition(row["topic"], row["partition"])


def observed(case):
    """The group's commits as a round has them: the answer, and every watched partition of the topics it reads."""
    rows = case["partitions"]
    offsets_of = {partition(r): r["committed_offset"] for r in rows if r["commit_present"]}
    given = [(*where, {"committed_offset": NONE if at is None else at}) for where, at in offsets_of.items()]
    fetched = parse_commits(commits_request([GROUP]), fetched_offsets(GROUP, *given), 1, at(0))
    reads = {GROUP: frozenset(partition(row) for row in rows if row["assigned"])}
    found = places(fetched, reads, sorted(partition(row) for row in rows), None)
    return committed_offsets.observations(commits(found, fetched), TOPOLOGY)


def shown(value):
    """A dash where the value is not known."""
    return None if isinstance(value, Unknown) else value


@pytest.mark.parametrize("case", ORACLE["cases"], ids=lambda case: case["id"])
def test_every_partition_is_a_row_and_lag_stands_only_beside_a_commit(case):
    end = offsets(case["end_offset_of_every_partition"])
    commits = observed(case)
    rows = [
        {
            "topic": key.topic,
            "partition": key.partition,
            "shown_offset": commit.committed_offset,
            "shown_lag": shown(consumer_lag(commit, end).lag_hw),
        }
        for key, commit in sorted(commits.items())
    ]

    assert rows == case["expect"]["rows"]
    missing = [consumer_lag(commit, end).lag_hw for commit in commits.values() if commit.committed_offset is None]
    assert set(missing) == {NO_COMMIT}


@pytest.mark.parametrize("case", ORACLE["cases"], ids=lambda case: case["id"])
def test_a_partition_whose_leader_is_unknown_keeps_its_offset_and_has_no_lag(case):
    key = GroupPartition(GROUP, "t1", 1)
    commits = observed(case)

    assert len(commits) == len(case["partitions"])
    assert commits[key].committed_offset == 100
    assert consumer_lag(commits[key], NOBODY) == Lag(NOBODY, NOBODY, NOBODY, NOBODY, NOBODY)
