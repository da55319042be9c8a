"""What a query of the SQL door may not do, and which wall stops it."""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from store import read_only
from store.contracts import TABLES
from store.errors import QueryError
from store.log import SegmentLog
from store.sql_process import checked
from tests.store.builders import HOUR, T0, round_row

ROOT = Path(__file__).parents[2]

REFUSED = {
    "": "exactly one SELECT; these are 0",
    "-- nothing": "exactly one SELECT; these are 0",
    "SELECT 1; SELECT 2": "these are 2 statements",
    "SELECT 1; COPY rounds TO 'x'": "these are 2 statements",
    "COPY rounds TO 'x.parquet'": "not COPY",
    "COPY (SELECT 1) TO 'x.parquet' (use_tmp_file false)": "not COPY",
    "EXPORT DATABASE 'x'": "not EXPORT",
    "ATTACH 'x.db'": "not ATTACH",
    "ATTACH ':memory:' AS other": "not ATTACH",
    "INSTALL httpfs": "not LOAD",
    "LOAD json": "not LOAD",
    "SET enable_external_access = true": "not SET",
    "RESET threads": "not SET",
    "PRAGMA threads = 1": "not SET",
    "PRAGMA database_list": "not",
    "CALL enable_logging()": "not CALL",
    "CREATE TABLE t AS SELECT 1": "not CREATE",
    "INSERT INTO rounds SELECT * FROM rounds": "not INSERT",
    "WITH r AS (SELECT 1) DELETE FROM rounds": "not DELETE",
    "EXPLAIN ANALYZE SELECT 1": "not EXPLAIN",
    "BEGIN": "not TRANSACTION",
    "FROM read_text('/etc/passwd')": "read_text is not allowed",
    "FROM SYSTEM.main.READ_TEXT('/etc/passwd')": "read_text is not allowed",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))": "read_text is not allowed",
    "WITH f AS (FROM read_csv('/etc/passwd')) SELECT 1": "read_csv is not allowed",
    "FROM rounds WHERE tick IN (SELECT 1 FROM glob('/*'))": "glob is not allowed",
    "FROM read_parquet('x.parquet')": "read_parquet is not allowed",
    "FROM parquet_metadata('x.parquet')": "parquet_metadata is not allowed",
    "FROM query('SELECT 1')": "query is not allowed",
    "FROM query_table('rounds')": "query_table is not allowed",
    "FROM json_execute_serialized_sql('{}')": "json_execute_serialized_sql is not allowed",
    "FROM arrow_scan(1, 2, 3)": "arrow_scan is not allowed",
    "FROM duckdb_settings()": "duckdb_settings is not allowed",
    "FROM checkpoint()": "checkpoint is not allowed",
    "FROM '/etc/passwd'": "no table is named '/etc/passwd'",
    "FROM 'https://example.org/x.parquet'": "no table is named",
    "SUMMARIZE 'x.parquet'": "no table is named 'x.parquet'",
    "FROM information_schema.tables": "no table is named 'information_schema.tables'",
    "FROM metrics.ledger": "no table is named 'metrics.ledger'",
    "FROM roundz": "did you mean rounds",
}
READS = {
    "SELECT 1": (),
    "VALUES (1), (2);": (),
    "FROM rounds": ("rounds",),
    "SELECT * FROM Main.ROUNDS -- a comment": ("rounds",),
    'FROM "ledger" l JOIN rounds USING (cluster_id)': ("rounds", "ledger"),
    "WITH mine AS (FROM finding_events) SELECT (SELECT max(tick) FROM rounds) FROM mine, range(3)": (
        "rounds",
        "finding_events",
    ),
    "DESCRIBE rounds": ("rounds",),
    "SHOW rounds": ("rounds",),
    "SUMMARIZE SELECT * FROM rounds": ("rounds",),
    "SELECT unnest(json_keys(evidence)) FROM finding_events": ("finding_events",),
    "SHOW TABLES": tuple(TABLES),
}
# Straight to the connection of a contained process, past the first two walls.
PAST_THE_PARSER = """
import json, signal, socket, sys
from store.sql_process import Limits, Request, contain, opened
segment, request = sys.argv[1], Request(sys.argv[2], 0, 10**13, "", Limits(60.0, 10, 100_000_000, 10**6))
contain(request.limits)
connection = opened(request, ["rounds"])
def told(act):
    try:
        return f"done: {act()}"
    except BaseException as exc:
        return f"{type(exc).__name__}: {exc}"
def sql(text):
    return told(lambda: connection.execute(text).fetchall())
print(json.dumps({
    "rows": sql("SELECT count(*) FROM rounds"),
    "overwrite": sql(f"COPY (SELECT 1) TO '{segment}' (FORMAT parquet, use_tmp_file false)"),
    "write": sql(f"COPY (SELECT 1) TO '{segment}.new'"),
    "attach": sql(f"ATTACH '{segment}.db'"),
    "export": sql(f"EXPORT DATABASE '{request.data_dir}/export'"),
    "read": sql("FROM read_text('/etc/passwd')"),
    "list": sql("FROM glob('/*')"),
    "install": sql("INSTALL httpfs"),
    "set": sql("SET enable_external_access = true"),
    "allow": sql("SET allowed_paths = ['/etc/passwd']"),
    "remember": sql("SET memory_limit = '64GB'"),
    "python": sql("FROM segment"),
    "open": told(lambda: open(segment, "r+b")),
    "connect": told(lambda: socket.create_connection(("127.0.0.1", 9), timeout=1)),
    "memory": told(lambda: len(bytearray(3_000_000_000))),
    "ends_by_itself_in_s": signal.alarm(0),
}))
"""


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walls")
    log = SegmentLog(folder, "h_collect")
    log.append("rounds", [round_row(1), round_row(2, T0 + HOUR)])
    log.close()
    return folder


@pytest.fixture(scope="module")
def past_the_parser(data_dir):
    """What a contained process could do, by act; nothing in the store has changed meanwhile."""
    before = contents(data_dir)
    segment = next(path for path in before if path.endswith(".parquet"))
    command = [sys.executable, "-c", PAST_THE_PARSER, segment, str(data_dir)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert contents(data_dir) == before
    return json.loads(done.stdout)


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_no_single_select_over_known_tables_is_refused_before_it_runs(sql):
    with pytest.raises(QueryError, match=REFUSED[sql]):
        checked(sql)


@pytest.mark.parametrize("sql", READS)
def test_a_select_is_let_through_with_the_tables_it_reads(sql):
    assert checked(sql)[1] == READS[sql]


def test_a_mistake_in_the_grammar_is_duckdbs_to_explain():
    with pytest.raises(duckdb.ParserException, match="syntax error"):
        checked("SELEKT 1")


def test_a_query_nested_without_end_is_an_error_and_no_crash():
    with pytest.raises((QueryError, duckdb.Error, RecursionError)):
        checked("SELECT " + "(" * 5_000 + "1" + ")" * 5_000)


def test_a_contained_process_still_reads_its_tables(past_the_parser):
    assert past_the_parser["rows"] == "done: [(2,)]"


@pytest.mark.skipif(not read_only.version(), reason="this kernel has no Landlock")
@pytest.mark.parametrize("act", ["overwrite", "open"])
def test_a_segment_that_may_be_read_cannot_be_overwritten_even_past_the_parser(past_the_parser, act):
    assert "Permission denied" in past_the_parser[act]


@pytest.mark.parametrize("act", ["write", "attach", "export", "read", "list", "install"])
def test_no_other_file_is_reached_even_past_the_parser(past_the_parser, act):
    assert "operations are disabled" in past_the_parser[act]


@pytest.mark.parametrize("act", ["set", "allow", "remember"])
def test_no_setting_is_changed_even_past_the_parser(past_the_parser, act):
    assert "configuration has been locked" in past_the_parser[act]


def test_no_variable_of_the_process_is_a_table(past_the_parser):
    assert "Table with name segment does not exist" in past_the_parser["python"]


def test_memory_that_duckdb_does_not_count_ends_too(past_the_parser):
    assert past_the_parser["memory"].startswith("MemoryError")


def test_a_process_nobody_waits_for_ends_by_itself(past_the_parser):
    assert 0 < past_the_parser["ends_by_itself_in_s"] <= 65


@pytest.mark.skipif(read_only.version() < 4, reason="this kernel's Landlock knows no network")
def test_nothing_is_connected_to(past_the_parser):
    assert past_the_parser["connect"].startswith("PermissionError")


@pytest.mark.parametrize(("version", "bits"), [(1, (13, 0)), (2, (14, 0)), (3, (15, 0)), (4, (15, 2)), (9, (15, 2))])
def test_of_an_older_kernel_only_what_it_knows_is_asked(version, bits):
    # Ways to read (bits 0, 2 and 3) are never forbidden; making and removing are 9 of the bits.
    files, network = read_only.forbidden(version)

    assert files & 0b1101 == 0
    assert (files.bit_length(), network.bit_length()) == bits
