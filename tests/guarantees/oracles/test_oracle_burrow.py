import json
from pathlib import Path

import pytest

from tests.guarantees.oracles.burrow_adapter import AS_OURS, our_status

CASES = json.loads((Path(__file__).parents[2] / "oracles" / "burrow.json").read_text())["cases"]
EVALUATED = [case for case in CASES if case.get("commits", ...) is not None]

# Where ours differs on purpose: what it says instead, and why. Everything else must be equal.
DEVIATIONS = {
    "B1": ("STANDS", "silence is measured in time: 400 s with work left is long, however far apart the commits were"),
    "B4": ("STANDS", "only time with work left counts, so a lag of zero at the first commit excuses nothing later"),
    "B9": ("OK", "18 s of silence is less than any threshold: low traffic must not flip to STOP (linkedin/Burrow#303)"),
    "B16": ("OK", "a lag that grows is shown as lag and is no finding"),
    "BS2": ("OK", "60 s of silence while members are there is within the 120 s of a stalled group"),
}
NOT_APPLICABLE = {"BS3": "a group nobody knows is in no answer: there is nothing to evaluate and nothing is said"}


@pytest.mark.parametrize("case", EVALUATED, ids=lambda case: case["id"])
def test_oracle_burrow_status_of_a_partition(case):
    expected = case["expect"].get("status") or case["expect"]["partition_status"]
    ours, _ = DEVIATIONS.get(case["id"], (AS_OURS[expected], ""))

    assert our_status(case) == ours


def test_every_deviation_from_burrow_is_one():
    status = {case["id"]: case["expect"].get("status") or case["expect"]["partition_status"] for case in EVALUATED}

    assert all(AS_OURS[status[name]] != ours for name, (ours, _) in DEVIATIONS.items())


def test_every_case_is_evaluated_or_listed():
    assert {case["id"] for case in CASES} - {case["id"] for case in EVALUATED} == NOT_APPLICABLE.keys()
    assert len(CASES) == 20
