import pytest
from kafka.protocol.admin import DescribeConfigsResponse

from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.configurations import TOPICS_AT_ONCE, configurations_request, fetch_configurations
from kafka_reader.errors import BrokerUnavailableError

RESULT = DescribeConfigsResponse.DescribeConfigsResult
KEPT = {"min.insync.replicas": "2", "cleanup.policy": "compact"}


def result(topic, error_code=0, **settings):
    entries = [
        RESULT.DescribeConfigsResourceResult(name=name.replace("_", "."), value=value)
        for name, value in settings.items()
    ]
    return RESULT(error_code=error_code, resource_name=topic, configs=entries)


class Brokers:
    """Answer what is given by topic, or fail; `asked` are the topics of each question."""

    def __init__(self, *results, silent=()):
        self.results = {each.resource_name: each for each in results}
        self.silent = silent
        self.asked = []

    def send_any(self, request):
        topics = [resource.resource_name for resource in request.resources]
        self.asked.append(topics)
        if len(self.asked) in self.silent:
            raise BrokerUnavailableError("no broker answers")
        results = [self.results[topic] for topic in topics if topic in self.results]
        return Answer(DescribeConfigsResponse(version=4, results=results), 1, 2)


def test_of_all_entries_those_that_promises_rest_on_are_kept():
    brokers = Brokers(result("orders", min_insync_replicas="2", cleanup_policy="compact", segment_ms="1"))

    assert fetch_configurations(brokers, ["orders"]) == {"orders": KEPT}


def test_only_what_is_kept_is_asked_for():
    (asked,) = configurations_request(["orders"]).resources

    assert KEPT.keys() <= set(asked.configuration_keys)
    assert "segment.ms" not in asked.configuration_keys


@pytest.mark.parametrize(
    ("error_code", "reason"), [(29, "not permitted: TOPIC_AUTHORIZATION_FAILED"), (3, "UNKNOWN_TOPIC_OR_PARTITION")]
)
def test_a_topic_that_is_refused_or_gone_hides_no_other(error_code, reason):
    brokers = Brokers(result("a", error_code), result("b", cleanup_policy="delete"))

    assert fetch_configurations(brokers, ["a", "b"]) == {"a": Unknown(reason), "b": {"cleanup.policy": "delete"}}


def test_a_topic_the_answer_does_not_name_is_unknown():
    assert fetch_configurations(Brokers(), ["a"]) == {"a": Unknown("the broker's answer does not name it")}


def test_of_very_many_topics_each_question_fails_for_itself():
    topics = [f"{number:04d}" for number in range(TOPICS_AT_ONCE + 1)]
    brokers = Brokers(*(result(topic, cleanup_policy="delete") for topic in topics), silent={1})

    found = fetch_configurations(brokers, topics)

    assert [len(each) for each in brokers.asked] == [TOPICS_AT_ONCE, 1]
    assert found[topics[0]] == Unknown("no broker answers")
    assert found[topics[-1]] == {"cleanup.policy": "delete"}


def test_no_topics_are_no_question():
    brokers = Brokers()

    assert fetch_configurations(brokers, []) == {}
    assert not brokers.asked
