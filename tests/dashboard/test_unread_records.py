"""When the records tell a report nothing: each history is a ledger, the looks of the jobs, and what was compared."""

import json
from dataclasses import replace

import pytest

from dashboard.reports import unread_records
from dashboard.reports.delivery_report import delivery_report
from dashboard.reports.look import Look
from dashboard.stored_cluster import StoredCluster
from guarantees.promises import Guarantee
from settings import ClusterSettings, MessageId, PipelineSettings, Settings
from store.metrics import METRICS_FILE, MetricsWriter

MINUTE_MS = 60_000
HOUR_MS, DAY_MS = 60 * MINUTE_MS, 24 * 60 * MINUTE_MS
FROM_MS = 1_772_323_200_000  # 2026-03-01 00:00:00 UTC
TO_MS = FROM_MS + 8 * HOUR_MS
SETTLE_MS = 30_000
DECLARED = PipelineSettings(
    name="p", cluster="production", source="orders", group="g", sink="payments", settle_s=SETTLE_MS / 1000,
    id=MessageId(header="message-id"),
)  # fmt: skip
CLUSTER = ClusterSettings(name="production", bootstrap_servers=("b:9092",))
REFUSED = "payments-0: Fetch: not permitted: TOPIC_AUTHORIZATION_FAILED"
WHOLE = (FROM_MS, TO_MS)


def covered(topic, first, following, at_ms, *, state="complete", without_id=0):
    records = following - first if state == "complete" else 0
    return {
        "cluster_id": "c", "topic": topic, "topic_id": f"{topic}-id", "partition": 0, "first_offset": first,
        "next_offset": following, "last_stable_offset": following, "records": records, "records_without_id": without_id,
        "aborted_records": 0, "sampled": records - without_id, "sampling_rate": 1.0, "state": state,
        "observed_at": at_ms,
    }  # fmt: skip


def look_of_the_jobs(at_ms, *unread):
    return {"run_id": f"live-{at_ms}", "job": "live", "state": "done", "started_at": at_ms, "ended_at": at_ms,
            "backlog": None if unread else 0, "unread": json.dumps(unread), "observed_at": at_ms}  # fmt: skip


def judged(ids=100):
    return {"pipeline": "p", "cluster_id": "c", "topic": "orders", "topic_id": "orders-id", "partition": 0,
            "ids_judged": ids, "ids_unseen": 0, "ids_lost": 0, "ids_late": 0, "estimate": 0, "lower": 0, "upper": 0,
            "sampling_rate": 1.0, "settle_s": 30.0, "observed_at": TO_MS}  # fmt: skip


BEFORE = [covered(topic, 0, 100, FROM_MS - HOUR_MS) for topic in ("orders", "payments")]
IN_IT = [covered(topic, 100, 200, FROM_MS + HOUR_MS) for topic in ("orders", "payments")]
JUDGED = judged()
CLEAN = look_of_the_jobs(TO_MS + MINUTE_MS)


@pytest.fixture
def stored(tmp_path):
    """A look at the window by what the record jobs left, a quarter of an hour after it."""

    def store(ledger=(*BEFORE, *IN_IT), runs=(CLEAN,), losses=(JUDGED,), to_ms=TO_MS):
        with MetricsWriter(tmp_path / METRICS_FILE) as writer, writer.transaction() as metrics:
            for table, rows in (("ledger", ledger), ("job_runs", runs), ("losses", losses)):
                if rows:
                    metrics.replace(table, list(rows))
        made_ms = to_ms + 15 * MINUTE_MS
        settings = Settings(clusters=(CLUSTER,), pipelines=(DECLARED,))
        return Look(settings, StoredCluster(tmp_path, CLUSTER, "c", made_ms, made_ms), FROM_MS, to_ms, made_ms)

    return store


def unread(look, promise=Guarantee.AT_LEAST_ONCE):
    pipeline = replace(DECLARED.pipeline, promise=promise)
    stretches = unread_records.unread(look, pipeline, DECLARED, unread_records.read_by_day(look, pipeline))
    return [(one.why, (one.from_ms, one.to_ms)) for one in stretches]


def test_records_read_from_before_the_window_until_after_it_leave_nothing_unknown(stored):
    assert unread(stored()) == []


def test_jobs_that_live_and_may_not_read_have_judged_nothing_since(stored):
    until_ms = FROM_MS + 2 * HOUR_MS
    refused = look_of_the_jobs(TO_MS + MINUTE_MS, ["production", "payments", REFUSED])

    assert unread(stored(runs=(look_of_the_jobs(until_ms), refused))) == [
        (f"the record jobs cannot read payments: {REFUSED}", (until_ms - SETTLE_MS, TO_MS))
    ]


def test_a_cluster_that_does_not_answer_is_unread_on_both_sides(stored):
    silent = look_of_the_jobs(TO_MS + MINUTE_MS, ["production", None, "no broker answers"])

    assert unread(stored(runs=(silent,))) == [
        ("the record jobs cannot read orders: no broker answers", WHOLE),
        ("the record jobs cannot read payments: no broker answers", WHOLE),
    ]


def test_a_topic_of_somebody_else_that_cannot_be_read_changes_nothing(stored):
    others = look_of_the_jobs(TO_MS + MINUTE_MS, ["production", "invoices", REFUSED], ["backup", None, "silent"])

    assert unread(stored(runs=(others,))) == []


def test_an_id_counts_as_missing_only_after_it_settled_and_copies_are_seen_at_once(stored):
    look = stored(runs=(look_of_the_jobs(TO_MS),))

    assert [span for _, span in unread(look)] == [(TO_MS - SETTLE_MS, TO_MS)] * 2
    assert unread(look, Guarantee.AT_MOST_ONCE) == []


def test_what_lies_before_the_first_range_is_unknown_for_each_topic_by_itself(stored):
    first_ms = FROM_MS + HOUR_MS

    assert unread(stored(ledger=[BEFORE[0], *IN_IT])) == [
        ("before the first range read of payments", (FROM_MS, first_ms))
    ]


def test_a_topic_that_was_read_weeks_before_the_window_was_begun_long_ago(stored):
    long_ago = [covered(topic, 0, 100, FROM_MS - 20 * DAY_MS) for topic in ("orders", "payments")]

    assert unread(stored(ledger=[*long_ago, *IN_IT])) == []


def test_offsets_purged_unread_are_unknown_since_the_range_before_them(stored):
    seen_ms = FROM_MS + 7 * HOUR_MS
    purged = covered("payments", 200, 250, seen_ms, state="purged")

    assert unread(stored(ledger=[*BEFORE, *IN_IT, purged])) == [
        ("offsets of payments were purged before they were read", (FROM_MS + HOUR_MS, seen_ms))
    ]


def test_offsets_whose_purge_was_noticed_after_the_window_are_unknown_in_it(stored):
    purged = covered("payments", 200, 250, TO_MS + 5 * MINUTE_MS, state="purged")

    assert unread(stored(ledger=[*BEFORE, *IN_IT, purged])) == [
        ("offsets of payments were purged before they were read", (FROM_MS + HOUR_MS, TO_MS))
    ]


def test_offsets_in_no_range_are_unknown_from_the_range_before_to_the_one_after(stored):
    later = covered("orders", 220, 300, FROM_MS + 3 * HOUR_MS)

    assert unread(stored(ledger=[*BEFORE, *IN_IT, later])) == [
        ("offsets of orders are in no range read", (FROM_MS + HOUR_MS, FROM_MS + 3 * HOUR_MS))
    ]


def test_records_without_any_id_tell_nothing(stored):
    look = stored(ledger=[*BEFORE, IN_IT[0], IN_IT[1] | {"records_without_id": 100}], losses=[judged(0)])

    assert unread(look) == [
        ("no message ids of payments were read in the window", WHOLE),
        ("no id of orders was compared with payments", WHOLE),
    ]


def test_a_day_on_which_no_record_had_an_id_is_unknown_whatever_the_others_had(stored):
    to_ms = FROM_MS + 3 * DAY_MS
    second = covered("payments", 200, 300, FROM_MS + DAY_MS + HOUR_MS, without_id=100)
    look = stored(ledger=[*BEFORE, *IN_IT, second], runs=[look_of_the_jobs(to_ms + MINUTE_MS)], to_ms=to_ms)

    assert unread(look) == [
        ("none of the 100 records read of payments has an id", (FROM_MS + DAY_MS, FROM_MS + 2 * DAY_MS))
    ]


def test_a_day_most_of_whose_records_have_no_id_is_unknown_and_single_ones_make_none(stored):
    def without_id(records):
        return unread(stored(ledger=[*BEFORE, IN_IT[0], IN_IT[1] | {"records_without_id": records}]))

    assert without_id(90) == [("90 of the 100 records read of payments have no id", WHOLE)]
    assert without_id(50) == []


def test_a_report_says_of_a_pipeline_without_ids_neither_kept_nor_none_lost_nor_none_copied(stored):
    bare = [row | {"records_without_id": row["records"]} for row in IN_IT]
    document = delivery_report(stored(ledger=[*BEFORE, *bare], losses=[judged(0)]), DECLARED.pipeline)
    said = [part.text for section in document.sections for part in section.parts if hasattr(part, "text")]
    (compared,) = [one for one in document.tables() if one.name == "compared"]

    assert "The promise was kept in at least 0.00 % and at most 100.00 % of the time; violated in 0.00 % (0 s)." in said
    assert "Lost: unknown: not compared." in said
    assert "Stored more than once: unknown: orders not sampled." in said
    assert compared.rows[0][[column.name for column in compared.columns].index("Lost")] is None
