"""LinkedIn Burrow's verdicts by its own tests, where ours are the same; and where they are not, why not."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from guarantees.lag import consumer_lag
from tests.guarantees.builders import KEY, PARTITION
from tests.guarantees.oracles.burrow_adapter import group_word, rewinds, rounds, window_of, word

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "burrow.json").read_text())
CASES = {case["id"]: case for case in ORACLE["cases"]}


@dataclass(frozen=True)
class Deviation:
    """What we say instead and why; `until` is what would have to be otherwise for us to say Burrow's word."""

    ours: str
    reason: str
    until: dict[str, object] | None = field(default=None)


ABANDONED = (
    "Nobody added a record after the last commit and no member is left: a group that was given up looks the same for "
    "years. Burrow forgets such a group after expire-group (7 days) and calls it stopped until then."
)
DEVIATIONS = {
    "B2": Deviation("OK", ABANDONED, {"growing": True}),
    "B3": Deviation("OK", ABANDONED, {"growing": True}),
    "BS2": Deviation("OK", ABANDONED, {"growing": True, "waited_s": 5}),
    "B0": Deviation(
        "WARN",
        "One zero lag in the window excuses all that comes after it (linkedin/Burrow#290); ours counts from the first "
        "commit after it that left more.",
    ),
    "B4": Deviation(
        "STALL",
        "One zero lag in the window excuses all that comes after it (linkedin/Burrow#290); we count the 400 s in which "
        "the commit stood with work left.",
    ),
    "B9": Deviation(
        "OK",
        "The window holds commits, not time (linkedin/Burrow#303): 15 commits a second apart make 17 s of silence a "
        "stop. We wait a minute.",
        {"waited_s": 60},
    ),
}
# Burrow's own steps to its verdict, and how full its ring of commits is: it has no part in ours.
NOT_OURS = {
    "lag_always_above_allowed",
    "stopped",
    "stalled",
    "lag_not_decreasing",
    "recent_lag_zero",
    "partition_complete",
    "group_complete",
}
COMPARED = {"status", "partition_status", "group_status", "first_rewind_index", "partition_lag", "total_lag"}


def verdict(case):
    return case["expect"].get("status") or case["expect"].get("partition_status") or case["expect"]["group_status"]


def test_every_field_of_the_oracle_is_compared_or_said_not_to_be_ours():
    assert {name for case in CASES.values() for name in case["expect"]} == NOT_OURS | COMPARED


@pytest.mark.parametrize("case", [c for c in CASES.values() if c["id"] not in DEVIATIONS], ids=lambda case: case["id"])
def test_our_findings_say_what_burrow_says(case):
    ours = word(rounds(case))

    assert ours == verdict(case)
    assert group_word(ours) == case["expect"].get("group_status", group_word(ours))


@pytest.mark.parametrize("name", DEVIATIONS)
def test_our_findings_say_otherwise_for_the_reason_given(name):
    case, deviation = CASES[name], DEVIATIONS[name]

    assert word(rounds(case)) == deviation.ours != verdict(case)


@pytest.mark.parametrize("name", [name for name, deviation in DEVIATIONS.items() if deviation.until])
def test_our_findings_say_what_burrow_says_once_the_reason_is_gone(name):
    case = CASES[name]
    ours = word(rounds(case, **DEVIATIONS[name].until))

    assert ours == verdict(case)
    assert group_word(ours) == case["expect"].get("group_status", group_word(ours))


@pytest.mark.parametrize("case", [c for c in CASES.values() if c["kind"] == "evaluate"], ids=lambda case: case["id"])
def test_the_first_rewind_of_the_window_is_found_recovered_or_not(case):
    index, window = case["expect"]["first_rewind_index"], case["window"]
    expected = [] if index < 0 else [f"{window[index - 1]['offset']}->{window[index]['offset']}"]

    assert [finding.anchor for finding in rewinds(rounds(case))] == expected


@pytest.mark.parametrize("case", [c for c in CASES.values() if c.get("commits")], ids=lambda case: case["id"])
def test_the_current_lag_is_counted_from_the_newest_end(case):
    newest = rounds(case)[-1]
    lag = consumer_lag(newest.commits[KEY], newest.partitions[PARTITION]).lag_hw

    assert lag == case["expect"].get("total_lag", case["expect"].get("partition_lag"))
    assert lag == window_of(case)["current_lag"]
