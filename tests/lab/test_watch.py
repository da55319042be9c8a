import pytest

from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.lifecycle import FindingHistory
from guarantees.promises import Guarantee
from lab.found import as_found
from lab.topics import ORDERS_FLOW, SHIPMENTS_FLOW, Flow, flow_of
from lab.watch import SETTLE_S, is_judging, is_watching, settings_text, trial_settings_text
from settings import load_settings
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter


def test_the_settings_tidemark_gets_are_valid_and_keep_every_id(tmp_path):
    path = tmp_path / "tidemark.toml"
    path.write_text(settings_text("127.0.0.1:20001", 8502))

    settings = load_settings(path)

    orders, shipments, audit = settings.pipelines
    assert (orders.source, orders.group, orders.sink) == (ORDERS_FLOW.source, ORDERS_FLOW.group_id, ORDERS_FLOW.sink)
    assert shipments.sink == SHIPMENTS_FLOW.sink
    assert [each.promise for each in (orders, shipments)] == [Guarantee.AT_LEAST_ONCE, Guarantee.EXACTLY_ONCE]
    assert audit.sink is None
    assert {each.rate for each in settings.pipelines} == {1.0}
    assert orders.settle_s == SETTLE_S
    assert settings.page.port == 8502
    assert settings.store.data_dir == str(tmp_path / "data")


def test_a_trial_declares_the_pipelines_its_faults_need_and_no_other(tmp_path):
    path, flow = tmp_path / "tidemark.toml", flow_of("S1", Flow("outbox", "shop", "orders"), 7)
    path.write_text(trial_settings_text("127.0.0.1:20001", [flow]))
    (pipeline,) = load_settings(path).pipelines
    path.write_text(trial_settings_text("127.0.0.1:20001"))

    assert (pipeline.source, pipeline.group, pipeline.sink) == ("s1-outbox-7", "s1-shop-7", "s1-orders-7")
    assert (pipeline.rate, pipeline.settle_s, pipeline.one_to_one) == (1.0, SETTLE_S, True)
    assert load_settings(path).pipelines == ()


def history(kind, evidence, bounds=None):
    finding = Finding(
        kind=kind,
        place=Place("cluster", "orders", "topic-id", 2, "payments-service"),
        anchor="anchor",
        severity=3,
        title="a title",
        statements=(Statement(Grade.PROVEN, "a sentence"),),
        bounds=bounds,
        evidence=evidence,
        happened_at_ms=1,
        last_seen_at_ms=9,
    )
    return FindingHistory(finding, opened_at_ms=5, updated_at_ms=8)


@pytest.mark.parametrize(
    ("kind", "evidence", "offsets"),
    [
        (Kind.DUPLICATE_WRITE, {"first_offset": 3, "last_offset": 7}, (3, 7)),
        (Kind.LOST_WRITE, {"lost": [{"offset": 9}, {"offset": 4}], "late": [{"offset": 12}]}, (4, 12)),
        (Kind.STABLE_OFFSET_FROZEN, {"start_offset": 57}, (57, 57)),
        (Kind.POSSIBLE_REDELIVERY, {"committed_offset_before": 4, "high_watermark": 9}, (4, 8)),
        (Kind.BELOW_MIN_ISR, {}, (None, None)),
    ],
)
def test_the_records_of_a_finding_are_read_from_its_evidence(kind, evidence, offsets):
    found = as_found(history(kind, evidence))
    assert (found.first_offset, found.last_offset) == offsets


def test_a_finding_is_seen_when_it_opened_and_keeps_its_bounds():
    found = as_found(history(Kind.AT_MIN_ISR, {}, Bounds(1, 2, None, Unit.OFFSETS)))

    assert found.first_seen_ms == 5
    assert (found.lower, found.estimate, found.upper) == (1, 2, None)
    assert (found.topic, found.partition, found.group_id) == ("orders", 2, "payments-service")


def test_an_empty_store_watches_nothing(tmp_path):
    assert not is_watching(tmp_path / "data")


def rounds(*ticks):
    return [{"cluster_id": "c", "tick": tick, "signal": "groups", "observed_at": tick * 5_000} for tick in ticks]


def covered(topic):
    return {
        "cluster_id": "c",
        "topic": topic,
        "topic_id": f"id of {topic}",
        "partition": 0,
        "first_offset": 0,
        "next_offset": 9,
        "observed_at": 1,
    }


def test_tidemark_watches_after_three_rounds_and_the_first_reading_of_both_sinks(tmp_path):
    log = SegmentLog(tmp_path, "test_collect")
    log.append("rounds", rounds(1, 2))
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        with metrics.transaction() as transaction:
            transaction.replace("ledger", [covered("orders"), covered("payments"), covered("ledger")])
        assert not is_watching(tmp_path), "two rounds"

        log.append("rounds", rounds(3))
        assert is_watching(tmp_path)

        with metrics.transaction() as transaction:
            transaction.delete("ledger", "topic = ?", ["ledger"])
        assert not is_watching(tmp_path), "one sink was not read yet"
    log.close()


def test_a_pipeline_is_judged_from_the_first_row_about_its_source(tmp_path):
    row = {"pipeline": "p", "cluster_id": "c", "topic": "shipments", "topic_id": "t", "partition": 0, "observed_at": 1}
    row |= {"judged_from": 0, "judged_to": 0, "ids_judged": 0, "ids_unseen": 0, "ids_lost": 0, "ids_late": 0}
    row |= {"sampling_rate": 1.0, "settle_s": 20.0, "sink_read_to": "[]", "run_id": "r"}
    row |= {"estimate": 0, "lower": 0, "upper": 0}
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics, metrics.transaction() as transaction:
        transaction.replace("losses", [row])

    assert is_judging(tmp_path, SHIPMENTS_FLOW)
    assert not is_judging(tmp_path, ORDERS_FLOW)
