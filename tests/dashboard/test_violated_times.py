"""When a report calls a promise violated: at the times of what broke it, not all the time in between."""

import pytest

from dashboard.reports.delivery_report import delivery_report
from dashboard.reports.look import Look
from dashboard.stored_cluster import StoredCluster
from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.lifecycle import Change, FindingEvent
from settings import Settings
from store.findings import append_events
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter
from store.segments import producer_name
from tests.dashboard.test_reports import rows
from tests.dashboard.test_unread_records import CLUSTER, DAY_MS, DECLARED, FROM_MS, HOUR_MS, MINUTE_MS, covered

TO_MS = FROM_MS + 7 * DAY_MS
MADE_MS = TO_MS + HOUR_MS
PROVEN = (Statement(Grade.PROVEN, "So it was."),)


@pytest.fixture
def reported(tmp_path):
    """The delivery of the week by findings and rows of the metrics."""

    def report(findings, tables, *, pipeline=DECLARED.pipeline, from_ms=FROM_MS, to_ms=TO_MS):
        log = SegmentLog(tmp_path, producer_name("host-1", "jobs"))
        append_events(log, [FindingEvent(Change.OPENED, one.last_seen_at_ms, one) for one in findings])
        log.close()
        with MetricsWriter(tmp_path / METRICS_FILE) as writer, writer.transaction() as metrics:
            for table, stored in tables.items():
                metrics.replace(table, stored)
        settings = Settings(clusters=(CLUSTER,), pipelines=(DECLARED,))
        look = Look(settings, StoredCluster(tmp_path, CLUSTER, "c", MADE_MS, MADE_MS), from_ms, to_ms, MADE_MS)
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
