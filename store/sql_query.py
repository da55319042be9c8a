"""What a query of the SQL door would read, and why one is refused. Pure: it looks at a parse tree, nothing runs.

The tree is that of DuckDB's `json_serialize_sql`, which knows SELECT alone. Names are text from outside.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from store.contracts import TABLES
from store.errors import QueryError

Tree = Mapping[str, Any]

# They make rows of what stands in the query. Every other table function reads files, settings or texts of SQL.
TABLE_FUNCTIONS = frozenset({"generate_series", "json_each", "json_tree", "range", "unnest"})


def tables_of(tree: Tree) -> tuple[str, ...]:
    """The tables of the store the query reads; raises QueryError where it would read anything else."""
    nodes = list(_nodes(tree))
    for name in (_function(node) for node in nodes if node.get("type") == "TABLE_FUNCTION"):
        if name not in TABLE_FUNCTIONS:
            raise QueryError(
                f"the table function {name} is not allowed; allowed are {', '.join(sorted(TABLE_FUNCTIONS))}"
            )
    if any(node.get("show_type") == "SHOW_SPECIAL" for node in nodes):
        return tuple(TABLES)
    named_here = {str(entry["key"]).lower() for node in nodes for entry in node.get("cte_map", {}).get("map", ())}
    read = {_table(node) for node in nodes if node.get("type") == "BASE_TABLE" or node.get("show_type") == "SHOW"}
    for name in sorted(read - named_here - TABLES.keys()):
        raise QueryError(_no_such_table(name))
    return tuple(name for name in TABLES if name in read)


def _nodes(tree: Tree) -> Iterator[Tree]:
    """Every object of the tree, without recursion: a query may be nested more deeply than Python calls may be."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _function(node: Tree) -> str:
    return str(node["function"]["function_name"]).lower()


def _table(node: Tree) -> str:
    """A name that may be known: with a schema or catalog before it, it stays whole and is unknown."""
    path = [str(part).lower() for part in node["qualified_name"]["path"]]
    return ".".join(path[1:] if path[0] == "main" else path)


def _no_such_table(name: str) -> str:
    near = get_close_matches(name, TABLES, n=1)
    hint = f"did you mean {near[0]}?" if near else "docs/schema.md lists the tables, and so does SHOW TABLES"
    return f"no table is named {name!r}; {hint}"
