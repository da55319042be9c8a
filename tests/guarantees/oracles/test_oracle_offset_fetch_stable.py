"""OffsetFetch while transactional commits are pending, by Apache Kafka's own tests, as Tidemark reads it."""

import json
from pathlib import Path

import pytest

from guarantees.lag import NO_COMMIT, PENDING_COMMIT, consumer_lag
from guarantees.observations import CommittedOffset
from guarantees.places import TopicPartition
from kafka_reader.offset_fetch import FetchedCommit, commits_request, parse_commits
from tests.guarantees.builders import GROUP, TOPIC_ID, at, offsets
from tests.kafka_reader.answers import fetched_offsets

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "offset_fetch_stable.json").read_text())
CASES = {case["id"]: case for case in ORACLE["cases"]}
END = 1_000


def place(name):
    topic, _, partition = name.rpartition("-")
    return TopicPartition(topic, int(partition))


def commits(case) -> dict[str, FetchedCommit]:
    """What is read of the answer, under the oracle's names."""
    given = [(*place(name), answer) for name, answer in case["expect"].items()]
    read = parse_commits(commits_request([GROUP]), fetched_offsets(GROUP, *given), 1, at(0))[GROUP].partitions
    return {name: read[place(name)] for name in case["expect"]}


def lag(commit):
    read = CommittedOffset(TOPIC_ID, commit.offset, commit.leader_epoch, commit.is_pending, at(0))
    return consumer_lag(read, offsets(END)).lag_hw


def pending(case):
    return set((case["pending"] or {"offsets": {}})["offsets"])


def test_tidemark_asks_for_stable_offsets():
    assert commits_request([GROUP]).require_stable


@pytest.mark.parametrize("case", [c for c in CASES.values() if c["require_stable"]], ids=lambda case: case["id"])
def test_a_pending_commit_is_neither_a_number_nor_an_absence(case):
    read = commits(case)

    assert {name for name, commit in read.items() if commit.is_pending} == pending(case)
    assert {name for name, commit in read.items() if lag(commit) == PENDING_COMMIT} == pending(case)
    decided = {name: offset for name, offset in case["committed"].items() if name not in pending(case)}
    assert {name: c.offset for name, c in read.items() if not c.is_pending} == decided
    assert {name: lag(c) for name, c in read.items() if not c.is_pending} == {n: END - o for n, o in decided.items()}


@pytest.mark.parametrize("case", [c for c in CASES.values() if not c["require_stable"]], ids=lambda case: case["id"])
def test_an_answer_that_is_not_stable_shows_the_commit_before_the_pending_one(case):
    """Tidemark does not ask so: the pending commit would look like its predecessor, or like none."""
    read = commits(case)

    assert {name: commit.offset for name, commit in read.items()} == {n: case["committed"].get(n) for n in read}
    assert not any(commit.is_pending for commit in read.values())
    assert {name for name, c in read.items() if lag(c) == NO_COMMIT} == pending(case) - set(case["committed"])
