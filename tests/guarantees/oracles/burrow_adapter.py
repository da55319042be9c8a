"""From Burrow's terms to ours: commits and lags become rounds of one partition, open findings become a status."""

from collections.abc import Mapping
from typing import Any

from guarantees.findings import Kind
from guarantees.observations import Round
from guarantees.thresholds import Thresholds
from tests.guarantees.builders import NOBODY, findings, seen

# Burrow counts commits, not time: the distance of two of them is no gap in what was observed.
THRESHOLDS = Thresholds(gap_s=1000)
STATUS = {Kind.GROUP_STALLED: "STANDS", Kind.GROUP_STOPPED: "STANDS", Kind.REWIND: "REWIND"}
# Burrow tells by the commits' repetition what we tell by members, so its two words for standing are one here.
AS_OURS = {"STOP": "STANDS", "STALL": "STANDS", "REWIND": "REWIND", "WARN": "FALLING_BEHIND", "OK": "OK"}


def our_status(case: Mapping[str, Any]) -> str:
    """The worst of what is open at the evaluation; its group has members all the time."""
    still = [f for f in findings(*_rounds(case), thresholds=THRESHOLDS) if f.closed_reason is None]
    words = {STATUS[f.kind] for f in still if f.kind in STATUS}
    return next((word for word in ("REWIND", "STANDS") if word in words), "OK")


def _rounds(case: Mapping[str, Any]) -> list[Round]:
    if case["kind"] == "service":
        return _service(case)
    start_s = case["window"][0]["timestamp_ms"] / 1000
    window = [
        seen(
            one["timestamp_ms"] / 1000 - start_s,
            committed=one["offset"],
            high=NOBODY if one["lag"] is None else one["offset"] + one["lag"],
        )
        for one in case["window"]
    ]
    last = case["window"][-1]["offset"]
    return [*window, seen(case["now_s"] - start_s, committed=last, high=last + case["current_lag"])]


def _service(case: Mapping[str, Any]) -> list[Round]:
    oldest = case["commits"][0]["age_s"]
    high = case["broker_offset"]
    rounds = [seen(oldest - one["age_s"], committed=one["offset"], high=high) for one in case["commits"]]
    return [*rounds, seen(oldest, committed=case["commits"][-1]["offset"], high=high)]
