"""Which oracles judge the product, and which imitate what it does not do."""

import json
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
ORACLES = TESTS / "oracles"
FILES = sorted(path.name for path in ORACLES.glob("*.json"))
TEST_FILES = {path: path.read_text() for path in TESTS.rglob("test_*.py")}

# Nothing of the product does what these describe, and none is written to please them.
NOT_APPLICABLE = {
    "burrow_storage.json": "Burrow's own ring of commits: order, distance and completeness of a store we do not have.",
    "jepsen.json": "Histories of clients that record what they sent and read: they judge the lab's checker.",
}
# leader_epoch_end_offsets.json: what a leader answers from its log is a broker's part; a consumer's reaction is judged.
BROKERS_ANSWERS = [f"LE{n}" for n in (1, 2, 3, 4, 5, 6, "7a", "7b", "7c", 8, "9a", "9b", "10a", "10b", "10c")]
BROKERS_ANSWERS += ["LE11a", "LE11b", "LE11c"]
CONSUMERS_REACTIONS = ["LE20", "LE21", "LE22", "LE23"]


@pytest.mark.parametrize("name", FILES)
def test_every_oracle_in_the_tree_is_read_by_a_test(name):
    assert [path for path, text in TEST_FILES.items() if name in text]


@pytest.mark.parametrize("name", NOT_APPLICABLE)
def test_no_test_of_the_rules_reads_an_oracle_that_does_not_apply(name):
    rules = [path for path in TEST_FILES if path.is_relative_to(TESTS / "guarantees") and path != Path(__file__)]

    assert rules
    assert not [path for path in rules if name in TEST_FILES[path]]


def test_the_brokers_answers_about_epochs_are_left_out_and_nothing_else_of_that_file():
    cases = json.loads((ORACLES / "leader_epoch_end_offsets.json").read_text())["cases"]
    by_kind = {kind: [c["id"] for c in cases if c["kind"] == kind] for kind in ("broker_answer", "consumer_reaction")}

    assert by_kind == {"broker_answer": BROKERS_ANSWERS, "consumer_reaction": CONSUMERS_REACTIONS}
