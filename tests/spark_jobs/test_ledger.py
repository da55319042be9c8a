from spark_jobs.ledger import COMPLETE, PURGED, Coverage, extended, load_coverage, unread_row
from spark_jobs.ranges import OffsetRange, Part, PartNow
from store.metrics import METRICS_FILE, MetricsWriter

PART = Part("c", "orders", "topic-1", 0)


def row(first, following, *, at_ms=1_000, rate=0.5, state=COMPLETE):
    now = PartNow(PART, 1, 0, 100, 100, 0, at_ms)
    return unread_row(OffsetRange(PART, 1, first, following), now, state, rate)


def test_coverage_after_a_commit_is_what_a_restart_loads(tmp_path):
    rows = [row(0, 10), row(10, 30, at_ms=5_000, rate=0.25), row(30, 40, at_ms=6_000, rate=0.1, state=PURGED)]

    with MetricsWriter(tmp_path / METRICS_FILE) as metrics, metrics.transaction() as transaction:
        transaction.replace("ledger", rows)
        loaded = load_coverage(transaction, recent_ms=0)

    assert loaded == extended({}, rows) == {PART: Coverage(40, 1_000, 0.25)}


def test_rate_of_long_ago_does_not_count(tmp_path):
    rows = [row(0, 10, rate=0.01), row(10, 30, at_ms=5_000, rate=0.25)]

    with MetricsWriter(tmp_path / METRICS_FILE) as metrics, metrics.transaction() as transaction:
        transaction.replace("ledger", rows)

        assert load_coverage(transaction, recent_ms=5_000)[PART].rate == 0.25


def test_anchor_of_a_new_history_gives_way_to_its_first_range(tmp_path):
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics, metrics.transaction() as transaction:
        transaction.replace("ledger", [row(7, 7)])
        transaction.replace("ledger", [row(7, 20)])

        assert transaction.query("SELECT count(*) AS n FROM ledger").to_pylist() == [{"n": 1}]
        assert load_coverage(transaction, recent_ms=0)[PART].next_offset == 20
