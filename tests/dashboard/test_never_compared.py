"""Records that nobody read or could compare: overview, page of duplicates and command call the same topic unknown."""

from pathlib import Path

import pytest

from cli.explain import find
from settings import load_settings
from store.metrics import METRICS_FILE, MetricsWriter
from tests.dashboard import fixture_store as story
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit, words  # noqa: F401
from tests.dashboard.test_quiet_topics import TOPICS, emptied, tiles

PURGED = {"state": "purged", "records": 0, "sampled": 0, "first_offset": 100, "next_offset": 5_000_100}
WITHOUT_ID = {"records": 81_000, "records_without_id": 81_000, "sampled": 0}
PURGED_SAID = "5,000,000 offsets of invoices purged before they were read"
WITHOUT_ID_SAID = "81,000 of 90,000 records of invoices without an id"
HANDFUL = {"records_without_id": 9, "sampled": 8_991}


def stored(folder: Path, **of_invoices: object) -> Path:
    """Every topic was read today, and of one range of one of them this is to be told."""
    settings = emptied(folder, covered_days_ago=2)
    told = story._range(story.INVOICES, now_ms()) | of_invoices
    ledger = [*(story._range(topic, now_ms()) | {"partition": 1} for topic in TOPICS), told]
    compared = {"pipeline": "orders-to-payments", "cluster_id": story.CLUSTER_ID, "topic": "orders", "topic_id":
                story.ORDERS.topic_id, "partition": 0, "ids_judged": 100, "ids_unseen": 0, "ids_lost": 0, "ids_late": 0,
                "lower": 0, "estimate": 0, "upper": 0, "sampling_rate": 1.0, "settle_s": 30.0,
                "observed_at": now_ms()}  # fmt: skip
    writer = MetricsWriter(folder / "data" / METRICS_FILE)
    with writer.transaction() as rows:
        rows.replace("ledger", ledger)
        rows.replace("losses", [compared])
    writer.close()
    return settings


@pytest.mark.parametrize(("of_invoices", "said"), [(PURGED, PURGED_SAID), (WITHOUT_ID, WITHOUT_ID_SAID)])
def test_a_topic_of_which_too_much_was_never_compared_is_green_nowhere(visit, tmp_path, of_invoices, said):  # noqa: F811
    settings = stored(tmp_path, **of_invoices)
    overview, audit = visit(settings, "overview", pipeline="invoices"), visit(settings, "audit", topic="invoices")

    assert "? all ids compared · 2 of 3 topics" in words(overview)
    rows = overview.dataframe[0].value.set_index("Pipeline")
    assert rows.loc["invoices", "Duplicated"] == "unknown: invoices not all compared"
    assert rows.loc["orders-to-payments", "Duplicated"] == "0"
    assert said in words(overview)
    verdicts = audit.dataframe[0].value.set_index("Topic")["Verdict"]
    assert (verdicts["invoices"], verdicts["orders"]) == ("? Unknown", "✓ OK")
    assert f"duplicates: {said}" in reasons(settings, "invoices")


def test_single_records_without_an_id_leave_all_of_them_calm(visit, tmp_path):  # noqa: F811
    settings = stored(tmp_path, **HANDFUL)
    overview, audit = visit(settings, "overview"), visit(settings, "audit")

    assert tiles(overview)["Duplicates, 24 h"] == "0"
    assert "✓ all ids compared" in words(overview)
    assert audit.dataframe[0].value.set_index("Topic")["Verdict"]["invoices"] == "✓ OK"
    assert not [why for why in reasons(settings, "invoices") if why.startswith("duplicates")]


def reasons(settings: Path, pipeline: str) -> list[str]:
    return [unknown.reason for unknown in find(load_settings(settings), pipeline, now_ms()).judged.unknowns]


def test_a_comparison_whose_source_was_purged_unread_proves_no_loss_absent(visit, tmp_path):  # noqa: F811
    purged = story._range(story.ORDERS, now_ms()) | PURGED
    settings = stored(tmp_path, **purged)
    overview, audit = visit(settings, "overview"), visit(settings, "audit", pipeline="orders-to-payments")

    said = "5,000,000 offsets of orders purged before they were read"
    assert tiles(overview)["Lost, 24 h"] == "Unknown"
    assert said in words(overview)
    assert overview.dataframe[0].value.set_index("Pipeline").loc["orders-to-payments", "Lost"] == (
        "unknown: not all compared"
    )
    rows = next(frame.value for frame in audit.dataframe if "Pipeline" in frame.value).set_index("Pipeline")
    assert rows.loc["orders-to-payments", "Verdict"] == "? Unknown"
    assert "5,000,000 offsets of the source purged before they were read" in words(audit)
    assert f"losses: {said}" in reasons(settings, "orders-to-payments")
