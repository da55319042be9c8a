"""Cases of people who run Kafka: replication, and topics that are not what they were."""

from kafka.protocol.admin import DescribeConfigsResponse

from guarantees.findings import Grade, Kind
from guarantees.thresholds import Thresholds
from kafka_reader.configurations import parse_configurations
from tests.guarantees.builders import finding, findings, seen, state


def test_case_C26_a_topic_created_anew_under_its_group_skips_its_first_records():
    """The second sample of the new topic confirms the first: the coordinator deletes commits with their topic."""
    rounds = (
        seen(0, high=5, committed=5, isr=state(topic_id="A"), topic_id="A"),
        seen(60, high=10, committed=5, isr=state(topic_id="B", second=60), topic_id="B"),
        seen(65, high=10, committed=5, isr=state(topic_id="B", second=65), topic_id="B"),
    )
    skipped = finding(*rounds, kind=Kind.COMMIT_OF_OLD_TOPIC)

    assert (skipped.bounds.estimate, skipped.grade, skipped.severity) == (5, Grade.PROBABLE, 4)
    assert finding(*rounds, kind=Kind.TOPIC_RECREATED).grade is Grade.PROVEN


def test_case_C34_a_minimum_above_the_replication_factor_is_a_note_and_nothing_is_under_replicated():
    rounds = [seen(s, isr=state([0], replicas=[0], leader=0, second=s), min_isr=2) for s in (0, 5, 10)]
    (found,) = findings(*rounds)

    assert (found.kind, found.severity, found.evidence["effective_minimum"]) == (Kind.MIN_ISR_ABOVE_REPLICAS, 1, 1)
    assert "min.insync.replicas 2 exceeds the 1" in found.title


def test_case_C35_each_roll_is_at_the_minimum_for_four_to_six_minutes_and_never_under():
    sizes = [3, 2, 2, 2, 2, 2, 3]
    rounds = [seen(60 * n, isr=state(range(1, 1 + size), second=60 * n)) for n, size in enumerate(sizes)]
    (found,) = findings(*rounds, thresholds=Thresholds(gap_s=180))

    assert (found.kind, found.severity) == (Kind.AT_MIN_ISR, 1)
    assert (found.bounds.lower, found.bounds.upper) == (4 * 60, 6 * 60)
    assert found.closed_reason


def test_case_C36_the_minimum_is_what_the_brokers_resolve_for_the_topic_here_the_clusters_default():
    result = DescribeConfigsResponse.DescribeConfigsResult
    dynamic_default_broker_config = 3
    entry = result.DescribeConfigsResourceResult(
        name="min.insync.replicas", value="2", config_source=dynamic_default_broker_config
    )
    response = DescribeConfigsResponse(results=[result(error_code=0, resource_name="orders", configs=[entry])])
    settings = parse_configurations(["orders"], response)["orders"]
    rounds = [seen(s, isr=state([1], second=s), min_isr=1, settings=settings) for s in (0, 5)]

    assert finding(*rounds, kind=Kind.BELOW_MIN_ISR).evidence["effective_minimum"] == 2
