"""docs/schema.md, made from the table contracts: `python -m store.schema > docs/schema.md`."""

from collections.abc import Iterable, Iterator, Mapping

from store.contracts import TABLES, Column, Family, Table
from store.metrics import GROWING
from store.types import DUCKDB
from store.units import unit

INTRODUCTION = """\
# Tables

Made from the table contracts (`python -m store.schema > docs/schema.md`); a test holds the two together.

```
tidemark sql "SELECT group_id, topic, max(lag) AS most FROM group_lag_minute GROUP BY ALL ORDER BY most DESC NULLS LAST"
tidemark sql "FROM finding_events ORDER BY observed_at DESC" --format csv --limit 100000 > findings.csv
tidemark sql "FROM rebalances" --from 2026-01-31T03:00:00Z --to 2026-01-31T03:15:00Z
```

The SQL is DuckDB's: one SELECT a query, read only, over the tables of this page alone. The SQL page asks about the
window of the toolbar; the command about the last hour, or `--hours`, or `--from` and `--to`. What a table shows of that
window stands beside its name below. Limits on time, rows and memory: `[sql]` in [settings.md](settings.md).

- A number that could not be established is null, and the column `<name>_unknown` beside it says why. Null is never
  zero: `sum` and `max` skip it, so count it.
- Offsets are not records: markers of transactions, aborted records and compaction use offsets too.
- Names of topics, groups, clients and ids come from outside and are whatever somebody typed.
- The raw tables of a large cluster hold millions of rows an hour: ask `lag_minute`, `group_lag_minute` and the
  intervals about anything longer than minutes.

A query runs in a process of its own, which can be killed. It is parsed before it runs: exactly one SELECT that names no
table or table function but known ones. DuckDB may then open the segments of those tables and nothing else, its
configuration is locked, and the process has given up writing to any file (Landlock, Linux 5.13; an older kernel is left
with the other walls). Figures of `metrics.duckdb` are a copy.
"""

SHOWN: Mapping[Family, str] = {
    Family.SAMPLE: "Rows observed in the window.",
    Family.EVENT: "Rows observed in the window.",
    Family.INTERVAL: "Intervals that held at some time in the window, one row each.",
    Family.KEPT: "All rows, whatever the window: kept for good.",
    Family.METRIC: "All rows, whatever the window.",
}


def document() -> str:
    """The whole page."""
    listed = table(("table", "what"), ((f"[`{one.name}`](#{one.name})", one.meaning) for one in TABLES.values()))
    return "\n".join([INTRODUCTION, *listed, *(line for one in TABLES.values() for line in section(one))]) + "\n"


def section(one: Table) -> Iterator[str]:
    """One table: what it is, whose, which rows are shown, and its columns."""
    yield from ("", f"## `{one.name}`", f"{one.meaning} {shown(one)} Written by: {one.writer}.", "")
    yield f"One row for each {', '.join(f'`{name}`' for name in key(one))}."
    yield ""
    columns = ((f"`{column.name}`", DUCKDB[column.type], unit(one, column), column.meaning) for column in one.columns)
    yield from table(("column", "type", "unit", "meaning"), columns)


def shown(one: Table) -> str:
    """Which rows of the table a query sees."""
    return SHOWN[Family.SAMPLE] if one.name in GROWING else SHOWN[one.family]


def key(one: Table) -> tuple[str, ...]:
    return (*one.key, "started_at") if one.family is Family.INTERVAL else one.key


def columns_of(one: Table) -> list[dict[str, str]]:
    """The columns as rows, for a page."""
    return [_row(one, column) for column in one.columns]


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Rows as a Markdown table."""
    names = list(header)
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _row(one: Table, column: Column) -> dict[str, str]:
    return {
        "Column": column.name,
        "Type": DUCKDB[column.type],
        "Unit": unit(one, column),
        "Meaning": column.meaning,
    }


if __name__ == "__main__":
    print(document(), end="")
