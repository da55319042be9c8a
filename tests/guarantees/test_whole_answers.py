"""Every sentence that explains, infers or audits is checked as it is read."""

import pytest

from tests.guarantees.whole_answers import ANSWERS, DIRECTORY, written_out


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_said_is_what_is_kept_of_it(name):
    assert written_out(ANSWERS[name]()) == (DIRECTORY / f"{name}.txt").read_text()
