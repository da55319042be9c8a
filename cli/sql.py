"""`tidemark sql "SELECT …"`: one question of your own about the store, answered as a table, CSV or JSON."""

import argparse
import json
import math
import sys
import time
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

from cli import printed
from cli.chosen import (
    CommandError,
    add_settings_arguments,
    add_window_arguments,
    chosen_settings,
    chosen_window,
)
from dashboard import sql_words
from dashboard.spreadsheets import csv_text
from dashboard.view import format_time
from settings import SqlSettings
from store.errors import QueryError
from store.sql_door import Answer, ask
from store.sql_process import Limits

MB = 1_000_000


def add_to(commands: Any) -> None:
    """Describe `sql` to the command line."""
    command = commands.add_parser(
        "sql",
        help="ask the store a question of your own, in SQL",
        description="One SELECT over the tables of docs/schema.md, read only. SHOW TABLES and DESCRIBE work too.",
    )
    command.add_argument("query", metavar="QUERY", help='"SELECT …" in the SQL of DuckDB')
    add_settings_arguments(command)
    command.add_argument("--format", choices=("table", "csv", "json"), default="table")
    add_window_arguments(command)
    command.add_argument("--limit", type=int, metavar="ROWS", help="at most so many rows")
    command.add_argument("--time-s", type=float, metavar="S", help="end the query after so many seconds")
    command.add_argument("--memory-mb", type=int, metavar="MB", help="refuse it where it needs more")
    command.add_argument("--answer-mb", type=int, metavar="MB", help="cut the answer where it grows larger")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the answer; what it covers and what was cut off goes to standard error."""
    settings = chosen_settings(arguments)
    window = chosen_window(arguments, time.time_ns() // 1_000_000)
    try:
        answer = ask(Path(settings.store.data_dir), window, arguments.query, chosen_limits(settings.sql, arguments))
    except QueryError as exc:
        raise CommandError(str(exc)) from exc
    print(FORMATS[arguments.format](answer))
    print("\n".join(notes(answer)), file=sys.stderr)
    return 0


def chosen_limits(known: SqlSettings, arguments: argparse.Namespace) -> Limits:
    """The limits of the settings, but for those given. Raises CommandError for one that allows nothing."""
    flags = {
        "time_s": (arguments.time_s, 1),
        "rows": (arguments.limit, 1),
        "memory_bytes": (arguments.memory_mb, MB),
        "answer_bytes": (arguments.answer_mb, MB),
    }
    given = {name: value * size for name, (value, size) in flags.items() if value is not None}
    if any(value <= 0 for value in given.values()):
        raise CommandError("--limit, --time-s, --memory-mb and --answer-mb must be positive")
    return Limits(**asdict(known) | given)


def as_table(answer: Answer) -> str:
    """For a terminal."""
    return printed.table([name for name, _ in answer.columns], answer.rows)


def as_csv(answer: Answer) -> str:
    """As a spreadsheet shows it and never executes it."""
    return csv_text(answer.objects()).removesuffix("\r\n")


def as_json(answer: Answer) -> str:
    """The rows as objects, with what they cover and whether there are more."""
    rows = [{name: _strict(value) for name, value in row.items()} for row in answer.objects()]
    window = {"from": format_time(answer.window.from_ms), "to": format_time(answer.window.to_ms)}
    columns = [{"name": name, "type": kind} for name, kind in answer.columns]
    said = {"window": window, "columns": columns, "rows": rows, "cut_by": answer.cut_by}
    return json.dumps(said, indent=1, allow_nan=False)


def notes(answer: Answer) -> list[str]:
    """What a reader must know beside the rows."""
    return [words for words in (sql_words.count_note(answer), sql_words.cut_note(answer), sql_words.window_note(answer))
            if words]  # fmt: skip


FORMATS = {"table": as_table, "csv": as_csv, "json": as_json}


def _strict(value: object) -> object:
    """JSON has no word for what is no finite number, and most readers of it round decimals."""
    is_exact = not isinstance(value, Decimal) and not (isinstance(value, float) and not math.isfinite(value))
    return value if is_exact else str(value)
