"""When a report calls a promise violated: at the times of what broke it, not all the time in between."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from dashboard.reports.copies_found import copies_found
from dashboard.reports.delivery_report import delivery_report
from dashboard.reports.look import Look
from dashboard.stored_cluster import StoredCluster
from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.lifecycle import Change, FindingEvent
from guarantees.promises import Guarantee
from settings import Settings
from store.findings import append_events
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter
from store.segments import producer_name
from tests.dashboard.test_reports import rows, said
from tests.dashboard.test_unread_records import CLUSTER, DAY_MS, DECLARED, FROM_MS, HOUR_MS, MINUTE_MS, covered

TO_MS = FROM_MS + 7 * DAY_MS
MADE_MS = TO_MS + HOUR_MS
PROVEN = (Statement(Grade.PROVEN, "So it was."),)


@pytest.fixture
def reported(tmp_path):
    """The delivery of the week by findings and rows of the metrics."""

    def report(findings, tables, pipeline=DECLARED.pipeline):
        log = SegmentLog(tmp_path, producer_name("host-1", "jobs"))
        append_events(log, [FindingEvent(Change.OPENED, one.last_seen_at_ms, one) for one in findings])
        log.close()
        with MetricsWriter(tmp_path / METRICS_FILE) as writer, writer.transaction() as metrics:
            for table, stored in tables.items():
                metrics.replace(table, stored)
        settings = Settings(clusters=(CLUSTER,), pipelines=(DECLARED,))
        look = Look(settings, StoredCluster(tmp_path, CLUSTER, "c", MADE_MS, MADE_MS), FROM_MS, TO_MS, MADE_MS)
        return delivery_report(look, pipeline)

    return report


def violated(document):
    return [(row["From"], row["To"]) for row in rows(document, "promise_states") if row["State"] == "✕ Violated"]


def lost(number, decided_ms, changed_ms):
    place, bounds = Place("c", "orders", "orders-id", 0, "g"), Bounds(number, number, number, Unit.MESSAGE_IDS)
    return Finding(Kind.LOST_WRITE, place, f"at {decided_ms}", 4, f"p lost {number}", PROVEN, bounds,
                   {"decided_at_ms": decided_ms}, decided_ms - 30_000, changed_ms, "p")  # fmt: skip


def test_losses_of_two_days_violate_at_two_instants_whatever_came_late(reported):
    first_ms, second_ms = FROM_MS + DAY_MS, FROM_MS + 6 * DAY_MS
    found = [lost(1_000, first_ms + 40_000, second_ms), lost(1, second_ms + 40_000, second_ms + 40_000)]

    document = reported(found, {"ledger": [covered("orders", 0, 9, first_ms)]})

    assert violated(document) == [(first_ms, first_ms + MINUTE_MS), (second_ms, second_ms + MINUTE_MS)]


def copied(began_ms, seen_ms, *, audited=()):
    """By a producer that is not idempotent: a million copies and one more."""
    place, bounds = Place("c", "orders", "orders-id", 0), Bounds(1_000_001, 1_000_001, 1_000_001, Unit.RECORDS)
    evidence = {"cause": "not_idempotent", "producer_id": None, "producer_epoch": None}
    evidence |= {"audited": [list(one) for one in audited]} if audited else {}
    return Finding(Kind.DUPLICATE_WRITE, place, f"not_idempotent, {began_ms}", 3, "many", PROVEN, bounds, evidence,
                   began_ms, seen_ms)  # fmt: skip


def copies(at_ms, extra):
    return {
        "cluster_id": "c", "topic": "orders", "topic_id": "orders-id", "partition": 0, "first_offset": at_ms,
        "cause": "not_idempotent", "first_producer_id": -1, "producer_id": -1, "producer_epoch": -1,
        "sampled_extra_copies": extra, "lower": extra, "estimate": extra, "upper": extra, "sampling_rate": 1.0,
        "horizon_s": 60.0, "first_copy_offset": at_ms, "last_copy_offset": at_ms, "examples": "[]",
        "observed_at": at_ms,
    }  # fmt: skip


EXACTLY_ONCE = replace(DECLARED.pipeline, promise=Guarantee.EXACTLY_ONCE)
BEFORE_MS = FROM_MS - 3 * DAY_MS
READ = [covered(topic, 0, 9, FROM_MS + DAY_MS) for topic in ("orders", "payments")]


def stored_more_than_once(document):
    return [line for line in said(document) if line.startswith("Stored more than once: ")]


def effects(document, table):
    return [row["estimate"] for row in rows(document, table) if row["Kind"] == "Duplicate records"]


def test_copies_of_ten_days_ago_and_of_today_violate_at_their_minutes_and_the_week_counts_its_own(reported):
    today_ms = TO_MS - HOUR_MS
    ranges = [copies(BEFORE_MS, 1_000_000), copies(today_ms + 5, 1)]

    document = reported([copied(BEFORE_MS, today_ms + 5)], {"ledger": READ, "duplicates": ranges}, EXACTLY_ONCE)

    assert violated(document) == [(today_ms, today_ms + MINUTE_MS)]
    assert stored_more_than_once(document) == ["Stored more than once: 1."]
    assert (effects(document, "totals"), effects(document, "effects")) == ([1], [1_000_001])
    assert any(line.startswith("1 finding of duplicates counts copies of other times too") for line in said(document))


def test_a_week_between_two_copies_is_not_violated_and_counts_none(reported):
    after_ms = TO_MS + MINUTE_MS
    ranges = [copies(BEFORE_MS, 1_000_000), copies(after_ms, 1)]

    document = reported([copied(BEFORE_MS, after_ms)], {"ledger": READ, "duplicates": ranges}, EXACTLY_ONCE)

    assert violated(document) == []
    assert stored_more_than_once(document) == ["Stored more than once: 0."]
    assert effects(document, "totals") == []


def test_copies_of_which_nothing_is_stored_violate_all_the_time_they_lasted(reported):
    document = reported([copied(BEFORE_MS, FROM_MS + DAY_MS)], {"ledger": READ}, EXACTLY_ONCE)

    assert violated(document) == [(FROM_MS, FROM_MS + DAY_MS)]
    assert stored_more_than_once(document) == ["Stored more than once: at most 1,000,001."]


def audit_of(name, window):
    run = {"run_id": name, "audit_id": name, "job": "audit", "pipeline": "p", "state": "done", "window_from": window[0],
           "window_to": window[1], "observed_at": TO_MS}  # fmt: skip
    counted = {
        "audit_id": name, "run_id": name, "pipeline": "p", "cluster_id": "c", "topic": "orders", "partition": 0,
        "topic_id": "orders-id", "cause": "not_idempotent", "first_producer_id": -1, "producer_id": -1,
        "producer_epoch": -1, "extra_copies": 7, "first_copy_offset": 3, "last_copy_offset": 90, "examples": "[]",
        "observed_at": TO_MS,
    }  # fmt: skip
    return run, counted


@pytest.mark.parametrize("seen_live", [True, False])
def test_copies_that_exact_audits_counted_violate_in_their_windows_unless_live_rounds_say_when(reported, seen_live):
    windows = [(FROM_MS + day * DAY_MS, FROM_MS + day * DAY_MS + HOUR_MS) for day in (1, 3)]
    at_ms = windows[0][0] + 2 * MINUTE_MS
    runs, counted = zip(*map(audit_of, "ab", windows), strict=True)
    tables = {"ledger": READ, "audit_runs": list(runs), "audit_duplicates": list(counted)}
    tables |= {"duplicates": [copies(at_ms, 5)]} if seen_live else {}
    finding = copied(windows[0][0], windows[1][1], audited=[(0, 100), (500, 600)])

    document = reported([finding], tables, EXACTLY_ONCE)

    first = (at_ms, at_ms + MINUTE_MS) if seen_live else windows[0]
    assert violated(document) == [first, windows[1]]
    assert stored_more_than_once(document) == ["Stored more than once: 1,000,001."], "all of it lies in the week"


def test_a_report_without_a_finding_of_duplicates_asks_for_none():
    looked = SimpleNamespace(from_ms=FROM_MS, to_ms=TO_MS, ask=None)

    assert copies_found(looked, [lost(1, FROM_MS, FROM_MS)], READ).minutes == {}


def test_a_batch_sent_again_violates_when_it_was_seen(reported):
    at_ms = FROM_MS + DAY_MS
    resent = replace(copied(at_ms, at_ms), kind=Kind.RESENT_BATCH)

    document = reported([resent], {"ledger": READ}, EXACTLY_ONCE)

    assert violated(document) == [(at_ms, at_ms + MINUTE_MS)]
