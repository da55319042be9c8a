"""The one mapping from the contracts' types to Arrow's and DuckDB's."""

from collections.abc import Mapping

import pyarrow as pa

from store.contracts import SCHEMA_VERSION, Table, Type

ARROW: Mapping[Type, pa.DataType] = {
    Type.TEXT: pa.string(),
    Type.INT: pa.int64(),
    Type.SMALL: pa.int32(),
    Type.REAL: pa.float64(),
    Type.FLAG: pa.bool_(),
    Type.TIME: pa.timestamp("ms", tz="UTC"),
    Type.INTS: pa.list_(pa.int32()),
    Type.JSON: pa.string(),
}

DUCKDB: Mapping[Type, str] = {
    Type.TEXT: "VARCHAR",
    Type.INT: "BIGINT",
    Type.SMALL: "INTEGER",
    Type.REAL: "DOUBLE",
    Type.FLAG: "BOOLEAN",
    Type.TIME: "TIMESTAMPTZ",
    Type.INTS: "INTEGER[]",
    Type.JSON: "VARCHAR",
}


def arrow_schema(table: Table) -> pa.Schema:
    """The table's columns in the contract's order, with the schema version in the metadata of every file."""
    fields = [pa.field(column.name, ARROW[column.type]) for column in table.columns]
    return pa.schema(fields, metadata={"schema_version": str(SCHEMA_VERSION)})


def duckdb_columns(table: Table) -> dict[str, str]:
    """Column name → DuckDB type, in the contract's order."""
    return {column.name: DUCKDB[column.type] for column in table.columns}
