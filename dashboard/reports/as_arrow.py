"""A document's tables as Arrow tables, for the formats that keep types."""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from dashboard import wording
from dashboard.reports.document import Document, Table, Type, about, sentences

ARROW: Mapping[Type, pa.DataType] = {
    Type.TEXT: pa.string(),
    Type.COUNT: pa.int64(),
    Type.TIME: pa.timestamp("ms", tz="UTC"),
}


def arrow_tables(document: Document) -> Iterator[tuple[str, pa.Table]]:
    """By name; `report` says what it rests on, `sentences` holds the sentences."""
    for table in (about(document, wording.utc(document.created_ms)), sentences(document), *document.tables()):
        yield table.name, _arrow(table)


def _arrow(table: Table) -> pa.Table:
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    arrays = [pa.array(cells, ARROW[one.type]) for one, cells in zip(table.columns, columns, strict=True)]
    return pa.table(arrays, names=[column.name for column in table.columns])
