"""The second judge against Jepsen's own cases, one a test."""

import json
from pathlib import Path

import pytest

from lab.checker.history import Operation, Outcome, Poll, Record, Send
from lab.checker.log_anomalies import (
    aborted_reads,
    duplicates,
    inconsistent_offsets,
    lost_writes,
    precommitted_reads,
    unseen,
)
from lab.checker.order_anomalies import (
    VersionOrders,
    backwards,
    poll_steps,
    send_steps,
    skips,
    steps_within_polls,
    steps_within_sends,
)
from lab.checker.version_order import KnownLog, known_logs

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[2] / "oracles" / "jepsen.json").read_text())["cases"]
}
NOT_APPLICABLE = {
    "J01": "the highest offset an operation touched serves the realtime lag alone",
    "J24": "realtime lag: the lab judges deliveries; how late a reader is breaks no promise",
    "J25": "the lab judges no history without an operation: a fault that did nothing is an error of its own",
    "J26": "cycles need operations that run at once and write several keys; no client of the lab does",
    "J27": "cycles, as J26",
    "J28": "cycles, as J26",
}
APPLICABLE = [name for name in CASES if name not in NOT_APPLICABLE]


def history_of(case):
    return [_operation(each) for each in case["history"]]


def _operation(fields):
    keys = frozenset(fields["keys"]) if "keys" in fields else None
    actions = tuple(_action(each) for each in fields.get("operations", ()))
    return Operation(fields["process"], Outcome(fields["type"]), actions, keys)


def _action(fields):
    if fields["kind"] == "send":
        return Send(fields["key"], Record(fields["offset"], fields["value"]))
    polled = fields["records_by_key"] or {}
    return Poll({key: [Record(each["offset"], each["value"]) for each in records] for key, records in polled.items()})


def _stepped(steps, *names):
    return [{name: _plain(getattr(step, name)) for name in ("key", *names)} for step in steps]


def _plain(value):
    return list(value) if isinstance(value, tuple) else value


def _unseen_over_time(case):
    history = history_of(case)
    return [
        {"time": each["completion_time"], "n": {key: len(values) for key, values in unseen(history[: n + 1]).items()}}
        for n, each in enumerate(case["history"])
    ]


def _one_log(case):
    if "log_by_offset" in case:
        return KnownLog({offset: tuple(values) for offset, values in enumerate(case["log_by_offset"]) if values})
    return known_logs(history_of(case))["x"]


def _last_index_values(log):
    last = log.last_index()
    by_index = [[value for value, index in last.items() if index == place] for place in range(len(log.values_at))]
    return [values or None for values in by_index]


def _whole_log(log):
    return [
        list(log.values_at[offset]) if offset in log.values_at else None for offset in range(max(log.values_at) + 1)
    ]


FOUND = {
    "inconsistent-offsets": lambda case: [
        {"key": each.key, "index": each.index, "offset": each.offset, "values": sorted(each.values)}
        for each in inconsistent_offsets(history_of(case))
    ],
    "duplicate": lambda case: [
        {"key": each.key, "value": each.value, "count": len(each.offsets), "offsets": list(each.offsets)}
        for each in duplicates(history_of(case))
    ],
    "duplicate_values": lambda case: [each.value for each in duplicates(history_of(case))],
    "lost-write": lambda case: [
        {"key": each.key, "value": each.value, "index": each.index, "max-read-index": each.max_read_index}
        for each in lost_writes(history_of(case))
    ],
    "G1a": lambda case: [
        {"key": each.key, "value": each.value, "writer": each.writer, "reader": each.reader}
        for each in aborted_reads(history_of(case))
    ],
    "precommitted-read": lambda case: [
        {"key": each.key, "value": each.value} for each in precommitted_reads(history_of(case))
    ],
    "poll-skip": lambda case: _stepped(skips(poll_steps(history_of(case))), "delta", "skipped"),
    "nonmonotonic-poll": lambda case: _stepped(backwards(poll_steps(history_of(case))), "values", "delta"),
    "nonmonotonic-send": lambda case: _stepped(backwards(send_steps(history_of(case))), "values", "delta"),
    "int-poll-skip": lambda case: _stepped(skips(steps_within_polls(history_of(case))), "values", "skipped", "delta"),
    "int-nonmonotonic-poll": lambda case: _stepped(backwards(steps_within_polls(history_of(case))), "values", "delta"),
    "int-send-skip": lambda case: _stepped(skips(steps_within_sends(history_of(case))), "values", "skipped", "delta"),
    "int-nonmonotonic-send": lambda case: _stepped(backwards(steps_within_sends(history_of(case))), "values", "delta"),
    "unseen": _unseen_over_time,
    "first_index": lambda case: _one_log(case).first_index(),
    "last_index_values": lambda case: _last_index_values(_one_log(case)),
    "version_order": lambda case: _one_log(case).version_order(),
    "index_by_value": lambda case: {value: place for place, value in enumerate(_one_log(case).version_order())},
    "log_by_offset": lambda case: _whole_log(_one_log(case)),
}
ANOMALIES = [name for name in FOUND if "-" in name or name in ("duplicate", "G1a")]


@pytest.mark.parametrize("name", APPLICABLE)
def test_the_checker_finds_what_jepsen_finds(name):
    case = CASES[name]
    if case["check_only"] == ["everything"]:
        assert {each: FOUND[each](case) for each in ANOMALIES} == dict.fromkeys(ANOMALIES, [])
        return
    for what in case["check_only"]:
        assert FOUND[what](case) == (case["expect"][what] or []), what


def test_every_case_is_judged_or_its_reason_is_given():
    assert NOT_APPLICABLE.keys() <= CASES.keys()
    assert len(APPLICABLE) == 35


def test_a_place_that_is_not_known_is_one_step_away():
    history = [Operation(0, Outcome.OK, (Send("x", Record(3, "a")),))]
    step = VersionOrders(history).step("x", "a", "b")
    assert (step.delta, step.skipped) == (1, ())
