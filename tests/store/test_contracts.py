import pytest

from store.contracts import ALL, TABLES, Family, Type
from store.tables.columns import INTERVAL_COLUMNS
from store.types import ARROW, DUCKDB

BY_NAME = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def test_every_type_has_its_arrow_and_its_duckdb_type():
    assert set(ARROW) == set(DUCKDB) == set(Type)


def test_no_two_tables_share_a_name():
    assert len(TABLES) == len(ALL)


@BY_NAME
def test_every_column_means_something_and_stands_once(table):
    names = [column.name for column in table.columns]
    assert len(set(names)) == len(names)
    assert all(column.meaning.strip() for column in table.columns)


@BY_NAME
def test_key_and_time_are_columns_of_the_table(table):
    types = {column.name: column.type for column in table.columns}
    assert set(table.key) <= set(types)
    assert types[table.time_column] is Type.TIME


@BY_NAME
def test_a_number_that_may_be_unknown_has_its_reason_beside_it(table):
    names = [column.name for column in table.columns]
    for name in names:
        if name.endswith("_unknown"):
            assert names.index(name) == names.index(name.removesuffix("_unknown")) + 1


@BY_NAME
def test_intervals_and_only_they_have_a_start_and_an_end(table):
    has_all = {column.name for column in INTERVAL_COLUMNS} <= {column.name for column in table.columns}
    assert has_all is (table.family is Family.INTERVAL)
