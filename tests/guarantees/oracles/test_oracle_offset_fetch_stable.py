import json
from pathlib import Path

import pytest

from guarantees.findings import Kind
from guarantees.lag import NO_COMMIT, PENDING_COMMIT, known_commit
from tests.guarantees.builders import commit, findings, seen, state

CASES = json.loads((Path(__file__).parents[2] / "oracles" / "offset_fetch_stable.json").read_text())["cases"]
UNSTABLE_OFFSET_COMMIT = 88


def answers(case):
    for name, answer in sorted(case["expect"].items()):
        is_pending = answer["error_code"] == UNSTABLE_OFFSET_COMMIT
        yield (
            name,
            answer,
            commit(None if answer["committed_offset"] < 0 else answer["committed_offset"], pending=is_pending),
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_oracle_offset_fetch_stable_pending_is_neither_an_offset_nor_its_absence(case):
    for name, answer, read in answers(case):
        is_pending = case["require_stable"] and case["pending"] is not None and name in case["pending"]["offsets"]
        decided = case["committed"].get(name, NO_COMMIT)

        assert known_commit(read) == (PENDING_COMMIT if is_pending else decided)
        assert read.is_pending is (answer["error_code"] == UNSTABLE_OFFSET_COMMIT)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_oracle_offset_fetch_stable_no_answer_after_a_commit_looks_like_an_expiry(case):
    for name, _, read in answers(case):
        if name in case["committed"]:
            before = seen(0, high=300, committed=case["committed"][name], isr=state())
            after = seen(5, high=300, committed=read.committed_offset, pending=read.is_pending, isr=state())

            assert not findings(before, after, kind=Kind.COMMIT_EXPIRED)
            assert not findings(before, after, kind=Kind.REWIND)
