"""producer_state.json: what a leader accepts. It imitates a broker, and the product only reads what is stored.

The arithmetic of sequences in it is ours too.
"""

import json
from pathlib import Path

import pytest

from tests.guarantees.logs import batch

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "producer_state.json").read_text())
RANGES = [case for case in ORACLE["cases"] if case["kind"] == "batch_range"]
NOT_APPLICABLE = {"append": "what a leader accepts or refuses is the broker's own decision: only its outcome is stored"}


@pytest.mark.parametrize("case", RANGES, ids=lambda case: case["id"])
def test_oracle_producer_state_a_batch_may_wrap(case):
    stored = batch(
        case["first_offset"], case["record_count"], pid=1, epoch=case["producer_epoch"], seq=case["first_sequence"]
    )

    assert (stored.last_offset, stored.last_sequence) == (case["last_offset"], case["expect"]["last_sequence"])


def test_oracle_producer_state_every_other_case_is_the_brokers_decision():
    assert {case["kind"] for case in ORACLE["cases"]} - {"batch_range"} == set(NOT_APPLICABLE)
