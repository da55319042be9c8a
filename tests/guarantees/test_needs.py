from pathlib import Path

from guarantees.needs import NEEDS, table
from guarantees.observations import Signal

PAGE = Path(__file__).parents[2] / "docs" / "rights.md"


def test_every_signal_says_what_it_needs_and_hides():
    assert set(NEEDS) == set(Signal)


def test_the_page_of_rights_holds_the_table_and_no_other():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]

    assert lines == table()
