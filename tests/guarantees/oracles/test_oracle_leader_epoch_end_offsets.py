"""What a consumer does with the end of its epoch (SubscriptionStateTest, KIP-320) against what a commit check says."""

import json
from pathlib import Path

import pytest

from guarantees.epochs import is_beyond
from tests.guarantees.oracles.leader_epoch_adapter import answered, expected

CASES = json.loads((Path(__file__).parents[2] / "oracles" / "leader_epoch_end_offsets.json").read_text())["cases"]
REACTIONS = [case for case in CASES if case["kind"] == "consumer_reaction"]

# They say what a broker answers; brokers answer, Tidemark asks. `tests.guarantees.histories` imitates them.
NOT_APPLICABLE = {
    *("LE1", "LE2", "LE3", "LE4", "LE5", "LE6", "LE7a", "LE7b", "LE7c", "LE8", "LE9a", "LE9b"),
    *("LE10a", "LE10b", "LE10c", "LE11a", "LE11b", "LE11c"),
}


@pytest.mark.parametrize("case", REACTIONS, ids=[case["id"] for case in REACTIONS])
def test_oracle_a_commit_diverges_where_kafkas_consumer_does(case):
    committed_offset, end = answered(case)
    is_cut, divergent_offset = expected(case)

    assert is_beyond(committed_offset, end) is is_cut
    assert (end.end_offset if is_cut else None) == divergent_offset


def test_oracle_every_other_case_is_a_brokers_answer():
    assert {case["id"] for case in CASES} == NOT_APPLICABLE | {case["id"] for case in REACTIONS}
    assert {case["kind"] for case in CASES if case["id"] in NOT_APPLICABLE} == {"broker_answer"}
