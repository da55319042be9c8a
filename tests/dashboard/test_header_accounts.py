"""What the panel of producers and transactions asks and says."""

# ruff: noqa: F811 (fixtures of another module)
from pathlib import Path

import pytest

from dashboard import header_accounts, queries
from dashboard.header_questions import SEQUENCES, TRANSACTIONS, WINDOWS
from dashboard.view import View
from store.metrics import METRICS_FILE, MetricsWriter
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit, words  # noqa: F401 (fixtures)

MINUTES_10 = 600_000
DAY_MS = 86_400_000
TO_MS = 1_764_000_000_000
FROM_MS = TO_MS - 3 * MINUTES_10
NEWEST_MS = TO_MS - 60_000  # when the newest interval ended, and the one before
BEFORE_MS = NEWEST_MS - MINUTES_10


@pytest.fixture
def ask(tmp_path: Path):
    """Write rows of the metrics, then ask."""

    def asked(question, from_ms=FROM_MS, to_ms=TO_MS, **tables):
        with MetricsWriter(tmp_path / METRICS_FILE) as writer, writer.transaction() as metrics:
            for table, rows in tables.items():
                metrics.replace(table, rows)
        span = header_accounts.span(View("production", from_ms, to_ms, True, None, ""), DAY_MS)
        return queries.ask(tmp_path, *span, question, {"cluster_id": "c"})

    return asked


def place(to_ms=NEWEST_MS, partition=0, **columns):
    known = {"cluster_id": "c", "topic": "t", "topic_id": "id", "partition": partition, "producer_id": 7,
             "window_from": to_ms - MINUTES_10, "window_to": to_ms, "observed_at": to_ms}  # fmt: skip
    return {**known, **columns}


def sequences(**columns):
    known = {"producer_epoch": 0, "batches": 2, "records": 10, "gaps": 0, "sequences_passed_over": 0,
             "sequences_repeated": 0}  # fmt: skip
    return place(**{**known, **columns})


def ended(**columns):
    known = dict.fromkeys(("committed", "aborted", "open", "without_data", "torn", "records_committed",
                           "records_aborted", "records_open", "longest_ms"), 0)  # fmt: skip
    return place(**{**known, **columns})


def interval(to_ms, segments=1):
    return {"window_from": to_ms - MINUTES_10, "window_to": to_ms, "segments": segments, "observed_at": to_ms}


def test_a_producers_partitions_and_intervals_add_up_and_the_oddest_comes_first(ask):
    rows = ask(SEQUENCES, sequence_accounts=[
        sequences(records=5_000, producer_id=1), sequences(sequences_repeated=3), sequences(partition=1, gaps=1,
        sequences_passed_over=2), sequences(to_ms=BEFORE_MS, sequences_repeated=90), sequences(cluster_id="other"),
        sequences(to_ms=FROM_MS - MINUTES_10, sequences_repeated=90),
    ])  # fmt: skip

    first, second = (header_accounts.sequence_row(row) for row in rows)
    assert (first["Producer"], first["Repeated"], first["Passed over"], first["Records"]) == ("7", 93, 2, 30)
    assert (second["Producer"], second["Records"], second["Partitions"]) == ("1", 5_000, 1)


def test_open_transactions_are_those_of_the_newest_interval_and_ended_ones_of_all(ask):
    rows = ask(TRANSACTIONS, transaction_accounts=[
        ended(committed=2, open=1, records_committed=8, longest_ms=900), ended(to_ms=BEFORE_MS, aborted=1, open=4,
        records_aborted=5, longest_ms=90_000), ended(to_ms=BEFORE_MS, producer_id=8, open=1),
    ], header_windows=[interval(NEWEST_MS), interval(BEFORE_MS)])  # fmt: skip

    row, gone = (header_accounts.transaction_row(row) for row in rows)
    assert gone["Open"] == 0
    assert (row["Committed"], row["Aborted"], row["Open"]) == (2, 1, 1)
    assert (row["Records wasted"], row["Longest"]) == (5, "1 min 30 s")


def test_what_was_counted_is_said_and_what_was_not_read_too(ask):
    (row,) = ask(WINDOWS, header_windows=[interval(NEWEST_MS, 3), interval(BEFORE_MS, 0)])
    said = header_accounts.windows(row)
    assert "2025-11-24 15:39:00" in said
    assert said.endswith("in 1 interval no header was read.")

    assert "has been counted yet" in header_accounts.windows({"windows": 0})


def test_intervals_that_were_passed_over_while_the_jobs_were_down_are_said_not_to_be_counted(ask):
    (row,) = ask(WINDOWS, header_windows=[interval(NEWEST_MS), interval(NEWEST_MS - 2 * MINUTES_10)])
    (whole,) = ask(WINDOWS, header_windows=[interval(BEFORE_MS)])

    assert header_accounts.windows(row).endswith("10 minutes: 2 of 3 intervals; the others were not counted.")
    assert header_accounts.windows(row | {"with_headers": 1}).endswith(
        "2 of 3 intervals; the others were not counted; in 1 interval no header was read."
    )
    assert whole["windows"] == 3
    assert "counted;" not in header_accounts.windows(whole)
    assert header_accounts.windows(whole).endswith("in intervals of 10 minutes.")


def test_an_interval_belongs_to_the_window_in_which_it_ended_and_to_no_other(ask):
    middle_ms, end_ms = TO_MS - MINUTES_10, TO_MS
    tables = {
        "header_windows": [interval(middle_ms), interval(end_ms)],
        "sequence_accounts": [sequences(to_ms=middle_ms, records=3), sequences(to_ms=end_ms, records=5)],
        "transaction_accounts": [ended(to_ms=middle_ms, committed=3, open=3), ended(to_ms=end_ms, committed=5, open=5)],
    }
    for to_ms, count in ((middle_ms, 3), (end_ms, 5)):
        (found,) = ask(WINDOWS, to_ms - MINUTES_10, to_ms, **tables)
        (numbers,) = ask(SEQUENCES, to_ms - MINUTES_10, to_ms)
        (transactions,) = ask(TRANSACTIONS, to_ms - MINUTES_10, to_ms)

        assert (found["windows"], found["from_ms"], found["to_ms"]) == (1, to_ms - MINUTES_10, to_ms)
        assert (numbers["records"], transactions["committed"], transactions["open"]) == (count, count, count)


def test_of_a_long_window_the_intervals_of_its_last_day_are_asked_for():
    assert header_accounts.span(View("production", 0, 9 * DAY_MS, True, None, ""), DAY_MS) == (
        8 * DAY_MS + 1,
        9 * DAY_MS + 1,
    )


def test_the_page_shows_producers_and_transactions_or_says_which_setting_is_missing(visit, tmp_path):
    settings = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", now_ms(), quiet_minutes=2)

    assert "No topic's batch headers are read." in words(visit(settings, "audit", range="1h"))

    settings.write_text(settings.read_text().replace("[store]", 'header_topics = ["orders"]\n\n[store]', 1))
    place = {"cluster_id": fixture_store.CLUSTER_ID, "topic": "orders"}
    with MetricsWriter(tmp_path / "data" / METRICS_FILE) as writer, writer.transaction() as metrics:
        at_ms = now_ms() - 60_000
        metrics.replace("header_windows", [interval(at_ms)])
        metrics.replace("sequence_accounts", [sequences(to_ms=at_ms, sequences_repeated=3, **place)])
        metrics.replace("transaction_accounts", [ended(to_ms=at_ms, aborted=2, records_aborted=9, **place)])
    app = visit(settings, "audit", range="1h")

    assert "Numbers passed over are no loss by themselves" in words(app)
    assert [frame.value["Repeated"].tolist() for frame in app.dataframe if "Repeated" in frame.value] == [[3]]
    assert [frame.value["Records wasted"].tolist() for frame in app.dataframe if "Records wasted" in frame.value] == [
        [9]
    ]
