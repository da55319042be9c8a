import pytest

from guarantees.amounts import counted


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 offsets"), (1, "1 offset"), (2, "2 offsets"), (1200, "1,200 offsets")]
)
def test_a_count_agrees_with_its_noun(number, said):
    assert counted(number, "offset") == said
