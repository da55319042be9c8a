"""`tidemark sql`: an answer as a table, CSV and JSON; what it covers and what was cut stands beside it."""

import argparse
import json
from decimal import Decimal

import pytest

from cli import sql
from cli.chosen import CommandError, chosen_window
from cli.main import main, parser
from settings import SqlSettings
from store.reading import Window
from store.sql_door import Answer
from store.sql_process import Limits

NOW = 1_764_000_000_000  # 2025-11-24 16:00 UTC
HOUR = 3_600_000


def answer(*rows, columns="ab", cut_by=None):
    kinds = tuple((name, "VARCHAR") for name in columns)
    return Answer(kinds, rows, cut_by, (), Window(0, HOUR), Limits(30.0, 10, 10**9, 10**6), 0.5)


def arguments(*flags):
    return parser().parse_args(["sql", "SELECT 1", *flags])


def test_a_table_aligns_numbers_right_and_shows_gaps_and_nothing_moves_the_cursor():
    lines = sql.as_table(answer((5, "x\x1b[2Jy\u202e"), (None, None), (12_345, "z" * 200))).splitlines()

    assert lines[0] == "    a  b"
    assert lines[2] == "    5  x\\u001b[2Jy\\u202e"
    assert lines[3] == "    –  –"
    assert lines[4] == "12345  " + "z" * 59 + "…"


def test_an_empty_answer_is_its_columns():
    assert sql.as_table(answer()).splitlines() == ["a  b", "─  ─"]


def test_csv_is_never_a_formula_and_keeps_numbers():
    assert sql.as_csv(answer(("=1+1", -5), ("@x", Decimal("-1.5")))) == "a,b\r\n'=1+1,-5\r\n'@x,-1.5"


def test_json_is_exact_strict_and_says_whether_there_are_more():
    said = json.loads(sql.as_json(answer((2**60, float("nan")), (Decimal("0.10"), None), cut_by="rows")))

    assert said["rows"] == [{"a": 2**60, "b": "nan"}, {"a": "0.10", "b": None}]
    assert said["cut_by"] == "rows"
    assert said["window"] == {"from": "1970-01-01T00:00:00.000Z", "to": "1970-01-01T01:00:00.000Z"}


@pytest.mark.parametrize(
    ("flags", "window"),
    [
        ((), Window(NOW - HOUR, NOW)),
        (("--hours", "0.25"), Window(NOW - HOUR // 4, NOW)),
        (("--to", "2025-11-24T15:00:00Z"), Window(NOW - 2 * HOUR, NOW - HOUR)),
        (("--from", "2025-11-24 14:00"), Window(NOW - 2 * HOUR, NOW)),
        (("--from", "2025-11-24T14:00:00+01:00", "--to", "2025-11-24T14:00Z"), Window(NOW - 3 * HOUR, NOW - 2 * HOUR)),
    ],
)
def test_the_window_is_the_last_hour_unless_said_otherwise(flags, window):
    assert chosen_window(arguments(*flags), NOW) == window


@pytest.mark.parametrize("flag", ["--from=soon", "--to=2025-13-01", "--from=2026-01-01", "--hours=0"])
def test_what_is_no_window_is_said(flag):
    with pytest.raises(CommandError, match=r"is no time|ends before it begins"):
        chosen_window(arguments(flag), NOW)


def test_flags_change_the_limits_of_the_settings():
    known = SqlSettings(rows=7)
    flags = ("--time-s", "2.5", "--memory-mb", "50", "--answer-mb", "3")

    assert sql.chosen_limits(known, arguments()) == Limits(30.0, 7, 1_000_000_000, 16_000_000)
    assert sql.chosen_limits(known, arguments(*flags, "--limit", "9")) == Limits(2.5, 9, 50_000_000, 3_000_000)
    with pytest.raises(CommandError, match="must be positive"):
        sql.chosen_limits(known, argparse.Namespace(**vars(arguments()) | {"limit": 0}))


def test_a_query_is_answered_on_standard_output_and_explained_on_standard_error(capsys, tmp_path):
    query = "SELECT count(*) AS n FROM rounds, ledger, range(3)"

    assert main(["sql", query, "--bootstrap", "b:9092", "--data-dir", str(tmp_path / "none"), "--format", "csv"]) == 0

    out, err = capsys.readouterr()
    assert out == "n\r\n0\n"
    assert "1 row in" in err
    assert "rounds, ledger: rows observed in the window." in err


def test_a_refused_query_is_a_mistake_of_the_caller_said_in_one_sentence(capsys, tmp_path):
    assert main(["sql", "DROP TABLE rounds", "--bootstrap", "b:9092", "--data-dir", str(tmp_path)]) == 2

    assert capsys.readouterr().err == "tidemark: only SELECT is allowed, not DROP\n"
