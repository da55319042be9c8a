"""docs/schema.md and the contracts say the same."""

from pathlib import Path

from store import schema, units
from store.contracts import TABLES
from store.types import DUCKDB

PAGE = Path(__file__).parents[2] / "docs" / "schema.md"


def test_the_page_is_what_the_contracts_say_now():
    assert PAGE.read_text() == schema.document(), "run: python -m store.schema > docs/schema.md"


def test_every_column_stands_there_with_type_unit_and_meaning():
    sections = dict(part.split("`\n", 1) for part in PAGE.read_text().split("\n## `")[1:])

    assert list(sections) == list(TABLES)
    for name, table in TABLES.items():
        lines = sections[name].splitlines()
        for column in table.columns:
            cells = [f"`{column.name}`", DUCKDB[column.type], units.unit(table, column), column.meaning]
            assert f"| {' | '.join(cells)} |" in lines


def test_every_number_has_a_unit_and_no_unit_is_of_a_column_that_is_gone():
    columns = {(table.name, column.name) for table in TABLES.values() for column in table.columns}

    assert all(units.unit(table, column) or column.type in units.WITHOUT_UNIT
               for table in TABLES.values() for column in table.columns)  # fmt: skip
    assert units.OF_COLUMN.keys() <= columns
    assert units.OF_NAME.keys() <= {name for _, name in columns}


def test_a_growing_metric_shows_its_window_and_the_others_everything():
    assert schema.shown(TABLES["ledger"]) == "Rows observed in the window."
    assert schema.shown(TABLES["losses"]) == "All rows, whatever the window."
