"""A finding is read whole in an incident: every word, figure and piece of evidence is checked, one file a finding."""

import pytest

from guarantees.findings import Kind
from tests.guarantees.whole_findings import DIRECTORY, WHOLE, written_out


@pytest.mark.parametrize("name", WHOLE)
def test_a_finding_says_exactly_what_is_kept_of_it(name):
    assert written_out(WHOLE[name]()) == (DIRECTORY / f"{name}.txt").read_text()


def test_every_file_is_compared():
    assert {path.stem for path in DIRECTORY.glob("*.txt")} == set(WHOLE)


def test_every_kind_of_finding_is_kept_whole():
    assert {make().kind for make in WHOLE.values()} == set(Kind)
