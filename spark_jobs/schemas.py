"""Table contracts as Spark sees them: Parquet is read with them, so no job is started to find a schema."""

from collections.abc import Mapping

from store.contracts import TABLES, Type

_DDL: Mapping[Type, str] = {
    Type.TEXT: "string",
    Type.INT: "bigint",
    Type.SMALL: "int",
    Type.REAL: "double",
    Type.FLAG: "boolean",
    Type.TIME: "timestamp",
    Type.INTS: "array<int>",
    Type.JSON: "string",
}


def ddl(table: str) -> str:
    """The columns of a table as Spark DDL."""
    return ", ".join(f"`{column.name}` {_DDL[column.type]}" for column in TABLES[table].columns)


ID_SAMPLES = ddl("id_samples")
