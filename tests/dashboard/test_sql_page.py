"""The SQL page: what is asked runs apart, its answer is text and numbers, and the page lives whatever it does."""

import io
import time
from decimal import Decimal

import pytest

from dashboard import sample_query, sql_rows, sql_words
from dashboard.spreadsheets import csv_text
from store.reading import Window
from store.sql_door import Answer, answer_of
from store.sql_process import Limits, Request, respond
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import cells, words
from tests.dashboard.test_pages import visit as visit

LIMITS = Limits(30.0, 2, 10**9, 10**6)
LIMITS_OF_ALL = Limits(30.0, 1_000, 10**9, 10**6)


def answer(*rows, columns=("a",), cut_by=None, tables=()):
    kinds = tuple((name, "VARCHAR") for name in columns)
    return Answer(kinds, rows, cut_by, tables, Window(0, 3_600_000), LIMITS, 1.23)


def asked(app, sql):
    """Run the query and wait for what becomes of it."""
    app.text_area[0].set_value(sql)
    press(app, "Run")
    deadline = time.monotonic() + 60
    while any(one.label == "Cancel" for one in app.button):
        assert time.monotonic() < deadline
        app.run()
    assert not app.exception
    return app


def press(app, label):
    next(one for one in app.button if one.label == label).click().run()


def test_numbers_stay_numbers_as_long_as_a_browser_shows_them_exactly():
    shown = sql_rows.frame(answer((2**53, 2**53 + 1, Decimal("0.10")), (None, 1, None), columns="abc"))

    assert list(shown["a"][:1]) == [2**53]
    assert shown["a"].isna()[1]
    assert list(shown["b"]) == ["9007199254740993", "1"]
    assert shown["c"][0] == "0.10"


def test_two_columns_that_look_the_same_are_both_shown():
    shown = sql_rows.frame(answer((1, 2), columns=("x" * 100, "x" * 99)))

    assert len(shown.columns) == 2


@pytest.mark.parametrize(("group_id", "partition", "rows"), [("order-service", 2, 50), ("' OR '1'='1", 2, 0)])
def test_the_samples_behind_a_partition_are_a_query_of_it_alone(believable, group_id, partition, rows):
    sql = sample_query.of_partition(group_id, "orders", partition)
    out = io.StringIO()

    respond(Request(str(believable.parent / "data"), now_ms() - 300_000, now_ms(), sql, LIMITS_OF_ALL), out)

    found = answer_of(out.getvalue(), "", 0, Window(0, 1), LIMITS_OF_ALL, 0.1).objects()
    assert len(found) >= rows
    assert {(row["group_id"], row["partition"]) for row in found} == ({(group_id, partition)} if rows else set())


def test_an_empty_answer_still_has_its_columns():
    assert list(sql_rows.frame(answer(columns=("a", "b"))).columns) == ["a", "b"]


def test_a_downloaded_cell_is_no_formula_and_a_number_stays_one():
    assert csv_text(answer(("=1+1", -5, Decimal("-1.5")), columns="abc").objects()) == "a,b,c\r\n'=1+1,-5,-1.5\r\n"


@pytest.mark.parametrize(
    ("cut_by", "said"),
    [
        (None, None),
        ("rows", "The first 2 rows of more: that is the limit. Narrow the query, or raise the limit."),
        ("bytes", "The first 2 rows of more: with the next one the answer takes over 1 MB. Ask for less of each row."),
    ],
)
def test_that_there_are_more_rows_is_said(cut_by, said):
    assert sql_words.cut_note(answer((1,), (2,), cut_by=cut_by)) == said


def test_what_each_table_showed_is_said():
    said = sql_words.window_note(answer(tables=("rounds", "ledger", "partition_state", "losses")))

    assert said == (
        "Window 1970-01-01 00:00:00 to 01:00:00 UTC. rounds, ledger: rows observed in the window. "
        "partition_state: intervals that held at some time in the window, one row each. "
        "losses: all rows, whatever the window."
    )


def test_a_query_of_a_link_waits_to_be_run(visit, believable):
    app = visit(believable, "sql", sql="SELECT 42", table="rounds")

    assert app.text_area[0].value == "SELECT 42"
    assert "No query was run yet" in words(app)
    assert "tick" in app.dataframe[-1].value["Column"].to_list()


def test_an_answer_is_a_table_with_its_window_and_its_cut(visit, believable):
    app = asked(visit(believable, "sql"), "SELECT DISTINCT group_id AS who FROM committed_offsets, range(2000)")

    assert "order-service" in app.dataframe[0].value["who"].to_list()
    assert "committed\\_offsets: rows observed in the window" in words(app)
    assert app.get("download_button")
    assert fixture_store.HOSTILE[:4] in cells(app)
    assert "\u202e" not in cells(app)
    assert app.query_params["sql"] == ("SELECT DISTINCT group_id AS who FROM committed_offsets, range(2000)")


def test_a_refused_query_is_a_card_and_the_page_lives(visit, believable):
    app = asked(visit(believable, "sql"), "COPY rounds TO '/tmp/x'")

    assert "only SELECT is allowed, not COPY" in app.code[0].value
    assert "could not be drawn" not in words(app)


def test_a_query_without_end_is_cancelled(visit, believable):
    app = visit(believable, "sql")
    app.text_area[0].set_value("SELECT count(*) FROM range(1000000000000) a, range(1000000) b")
    press(app, "Run")
    assert "of at most 30 s" in words(app)

    press(app, "Cancel")

    assert app.code[0].value == "cancelled"
