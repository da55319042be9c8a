import dataclasses

import pytest

from guarantees.findings import Grade, Kind
from lab.injected import append_injected, load_injected
from lab.judge import judge
from lab.stated import misstated
from tests.lab.builders import EVIDENCE_MS, expected, found, injected

TRUE = {"leader": 3, "groups_beyond_end": [{"group_id": "billing", "committed_offset": 1500}]}


def truth(**more):
    return dataclasses.replace(expected(Kind.LOG_TRUNCATED), **more)


def finding(grade=Grade.PROVEN, evidence=None, **more):
    return dataclasses.replace(found(Kind.LOG_TRUNCATED, **more), grade=grade, evidence=evidence or {})


def test_a_finding_that_says_what_is_true_and_more_is_right():
    said = finding(evidence={**TRUE, "high_watermark": 1000})
    assert list(misstated(truth(grade=Grade.PROVEN, facts=TRUE), said)) == []


def test_where_nothing_is_asked_anything_may_be_said():
    assert list(misstated(truth(), finding(Grade.POSSIBLE, {"leader": 1}))) == []


def test_another_grade_is_wrong():
    (sentence,) = misstated(truth(grade=Grade.PROVEN), finding(Grade.POSSIBLE))
    assert sentence == "payments-0: graded POSSIBLE, PROVEN is right"


@pytest.mark.parametrize("evidence", [{"leader": 1}, {}])
def test_evidence_that_is_wrong_or_left_out_is_named(evidence):
    (sentence,) = misstated(truth(facts={"leader": 3}), finding(evidence=evidence))
    assert sentence == f"payments-0: leader is 3, said {evidence.get('leader')}"


@pytest.mark.parametrize(
    ("before_ms", "after_ms", "is_right"),
    [(0, 100, True), (100, 300, True), (200, 300, True), (0, 99, False), (201, 300, False), (None, 300, False)],
)
def test_the_span_a_finding_names_must_touch_the_moment_it_happened(before_ms, after_ms, is_right):
    said = finding(evidence={"observed_before_at_ms": before_ms, "observed_at_ms": after_ms})
    verdict = judge([injected(truth(happened_between_ms=(100, 200)))], [said])

    assert verdict.is_right is is_right
    assert (verdict.false_findings == ()) is is_right


def test_a_misstated_finding_is_found_and_not_met():
    verdict = judge([injected(truth(facts={"leader": 3}))], [finding(evidence={"leader": 1})])

    (row,) = verdict.rows
    assert (row.partitions_found, row.demanded, row.met, row.findings, row.right_findings) == (1, 1, 0, 1, 0)
    assert not verdict.is_right


def test_the_truth_is_read_back_with_grade_evidence_and_time(tmp_path):
    told = injected(truth(grade=Grade.PROBABLE, facts=TRUE, happened_between_ms=(EVIDENCE_MS, EVIDENCE_MS + 5)))
    append_injected(tmp_path / "injected.jsonl", told)
    assert load_injected(tmp_path / "injected.jsonl") == [told]
