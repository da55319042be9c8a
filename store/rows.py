"""Rows as Python values ↔ typed Arrow tables. Times are int milliseconds since 1970, UTC, on the Python side."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from store.contracts import TABLES, Table, Type
from store.types import arrow_schema

Row = Mapping[str, object]


def contract(table: str) -> Table:
    """The table's contract; an unknown name is a mistake of the caller."""
    if table not in TABLES:
        raise ValueError(f"no table is named {table!r}")
    return TABLES[table]


def arrow_table(table: str, rows: Sequence[Row] | pa.Table) -> pa.Table:
    """The rows with exactly the contract's columns and types: a missing column is null, an unknown one an error."""
    schema = arrow_schema(contract(table))
    if isinstance(rows, pa.Table):
        return _conform(table, rows, schema)
    _refuse_unknown(table, set().union(*rows), schema)
    columns = [_column(rows, table, field.name, field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def python_rows(table: str, rows: pa.Table) -> list[dict[str, object]]:
    """The inverse of `arrow_table`: one dict a row, times as int milliseconds, None for null."""
    times = [column.name for column in contract(table).columns if column.type is Type.TIME]
    for name in times:
        position = rows.schema.get_field_index(name)
        if position >= 0:
            milliseconds = rows.column(position).cast(pa.timestamp("ms", tz="UTC")).cast(pa.int64())
            rows = rows.set_column(position, name, milliseconds)
    values: list[dict[str, object]] = rows.to_pylist()
    return values


def _conform(table: str, rows: pa.Table, schema: pa.Schema) -> pa.Table:
    given = set(rows.column_names)
    _refuse_unknown(table, given, schema)
    columns = [
        rows.column(field.name).cast(field.type) if field.name in given else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(rows: Sequence[Row], table: str, name: str, kind: pa.DataType) -> pa.Array:
    try:
        return pa.array([row.get(name) for row in rows], kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as exc:
        raise ValueError(f"{table}.{name} takes {kind}: {exc}") from exc


def _refuse_unknown(table: str, given: set[str], schema: pa.Schema) -> None:
    if unknown := given - set(schema.names):
        raise ValueError(f"{table} has no column {', '.join(sorted(unknown))}")
