"""A rule reads again what a rule has written; what is missing or of another kind is a bug that is named."""

import pytest

from guarantees.unknown import Unknown
from guarantees.view import known, listed, number, numbers, present

EVIDENCE = {"offset": 5, "members": None, "bumps": [1, 2], "ends": {"0": 7}}


def test_evidence_is_read_as_it_was_written():
    assert number(EVIDENCE, "offset") == 5
    assert listed(EVIDENCE, "bumps") == [1, 2]
    assert numbers(EVIDENCE, "ends") == {"0": 7}
    assert (known(0), present(0), present("")) == (0, 0, "")


@pytest.mark.parametrize(
    ("read", "named"),
    [
        (lambda: number(EVIDENCE, "members"), "evidence members is None, not a whole number"),
        (lambda: listed(EVIDENCE, "offset"), "evidence offset is 5, not a list"),
        (lambda: numbers(EVIDENCE, "bumps"), "evidence bumps is [1, 2], not numbers by name"),
        (lambda: numbers({"ends": {"0": "7"}}, "ends"), "evidence 0 is '7', not a whole number"),
        (lambda: known(Unknown("no answer")), "Unknown(reason='no answer') is not known"),
        (lambda: present(None), "what was made sure of is missing"),
    ],
)
def test_what_no_rule_can_have_written_is_named(read, named):
    with pytest.raises(TypeError) as error:
        read()
    assert str(error.value) == named
