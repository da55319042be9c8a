"""Which oracles judge the product, and which imitate something else and have no test here."""

import json
from pathlib import Path

ORACLES = Path(__file__).parents[2] / "oracles"

NOT_APPLICABLE = {
    "burrow_storage": "Burrow's own ring of commits: rounds are stored as they come, nothing is merged or dropped",
    "producer_state": "what a leader accepts from a producer: the product never writes",
    "leader_epoch_end_offsets, answers": "what a broker answers; the reaction of a consumer is judged",
    "jepsen": "client histories: they judge the checker of the lab, which has seen every operation",
}


def test_no_oracle_that_imitates_a_broker_or_a_store_lies_here_as_if_it_were_tested():
    assert not {path.stem for path in ORACLES.glob("*.json")} & {name for name in NOT_APPLICABLE if "," not in name}


def test_every_oracle_that_lies_here_has_cases_with_unique_ids():
    for path in ORACLES.glob("*.json"):
        ids = [case["id"] for case in json.loads(path.read_text())["cases"]]
        assert ids
        assert len(ids) == len(set(ids)), path.name
