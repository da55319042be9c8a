import pytest

from settings import MessageId, PipelineSettings, SettingsError
from spark_jobs.audited import audited_topics
from spark_jobs.budget import Sampling


def pipeline(name, source, sink=None, **options):
    return PipelineSettings(name=name, cluster="c", source=source, group="g", sink=sink, **options)


def test_shared_topic_is_sampled_as_each_pipeline_wants_over_the_longest_horizon():
    topics = audited_topics(
        [
            pipeline("a", "orders", "bills", rate=0.5, horizon_s=60.0),
            pipeline("b", "bills", rate=0.25, records_per_s=9, horizon_s=600.0, store_ids=False),
        ]
    )

    whole, budgeted = Sampling(0.5), Sampling(0.25, 9)
    assert [(t.topic, t.samplings, t.horizon_s, t.store_ids) for t in topics] == [
        ("orders", {whole}, 60.0, True), ("bills", {whole, budgeted}, 600.0, False),
    ]  # fmt: skip


def test_only_a_sink_is_meant_to_hold_an_id_as_often_as_the_fan_out_says():
    topics = audited_topics([pipeline("a", "orders", "bills", fan_out=3), pipeline("b", "bills", "notes")])

    assert [(t.topic, t.copies) for t in topics] == [("orders", 1), ("bills", 3), ("notes", 1)]


@pytest.mark.parametrize("options", [{"fan_out": 0, "sink": "bills"}, {"fan_out": 2}])
def test_a_fan_out_needs_a_sink_and_a_record_at_least(options):
    with pytest.raises(SettingsError, match="fan_out"):
        pipeline("a", "orders", **options)


def test_topic_with_two_kinds_of_ids_is_refused():
    with pytest.raises(SettingsError, match=r"pipelines\.b\.id"):
        audited_topics([pipeline("a", "orders"), pipeline("b", "orders", id=MessageId(header="id"))])


def test_no_pipelines_no_topics():
    assert audited_topics([]) == ()
