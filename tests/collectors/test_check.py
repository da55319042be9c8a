"""What `tidemark check` says, from answers as brokers give them."""

import pytest

from collectors.check import absent_sentence, broker_sentences, contents, coverage_sentence
from collectors.seen_rights import cluster_sentences, needless_sentences, topic_sentences
from guarantees.observations import Coverage, Round, Signal
from guarantees.unknown import Unknown
from kafka_reader.allowed import READ_ONLY
from kafka_reader.rights import DESCRIBE, DESCRIBE_CONFIGS, READ

WRITE, ALTER = 4, 7


def coverage(signal, asked=2, answered=2, refused=0, failed=0, error=None):
    return Coverage(signal, asked, answered, refused, failed, error, 0, 1)


def test_a_broker_that_cannot_be_asked_says_what_is_unknown_with_it():
    assert list(broker_sentences({1: None, 2: "broker 2 did not answer in time", 3: None})) == [
        "brokers that answer: 1, 3",
        "broker 2 did not answer in time: offsets of the partitions it leads and groups it coordinates will be unknown",
    ]


@pytest.mark.parametrize("request_name", sorted(set(READ_ONLY.values())))
def test_a_request_the_brokers_do_not_know_says_what_is_unknown_without_it(request_name):
    named, _, hidden = absent_sentence(request_name).partition(" is not understood by these brokers; unknown: ")

    assert named == request_name
    assert hidden


def test_a_version_without_the_consumer_protocol_hides_its_members_alone():
    assert absent_sentence("ConsumerGroupDescribe").endswith(
        "unknown: members of groups of the consumer protocol (KIP-848)"
    )
    assert absent_sentence("DescribeProducers").endswith("unknown: who holds the stable offset, hanging transactions")


def test_a_signal_that_is_not_complete_says_what_is_unknown():
    assert coverage_sentence(coverage(Signal.PRODUCERS)) == "producers: 2 of 2 answered"
    assert coverage_sentence(coverage(Signal.PRODUCERS, answered=0, refused=2, error="not permitted: 29")) == (
        "producers: 0 of 2 answered, 2 not permitted: 29; "
        "unknown there: who holds the stable offset, hanging transactions"
    )


def test_rights_that_are_missing_on_topics_name_them():
    sentences = list(
        topic_sentences(
            {
                "a": frozenset({DESCRIBE, READ}),
                "b": frozenset({DESCRIBE}),
                "c": Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED"),
            }
        )
    )

    assert sentences[0].startswith("READ is missing on 1 of 3 topics (b): unknown there: who holds the stable offset")
    assert (
        sentences[1] == "DESCRIBE_CONFIGS is missing on 2 of 3 topics (a, b): unknown there: partitions below min ISR"
    )
    assert sentences[2] == "the rights on topic c are unknown: not permitted: TOPIC_AUTHORIZATION_FAILED"


def test_rights_that_are_there_are_said_once():
    everything = frozenset({DESCRIBE, READ, DESCRIBE_CONFIGS})

    assert list(topic_sentences({"a": everything, "b": everything})) == [
        "READ: on all 2 visible topics",
        "DESCRIBE_CONFIGS: on all 2 visible topics",
    ]


def test_rights_nobody_needs_are_named_and_should_go():
    assert list(needless_sentences({"a": frozenset({READ, WRITE})}, frozenset({ALTER}))) == [
        "the principal may also ALTER, WRITE: Tidemark needs none of these, take them away"
    ]
    assert list(needless_sentences({"a": frozenset({READ})}, Unknown("no broker answers"))) == []


def test_the_cluster_may_be_described_or_not_or_nobody_knows():
    (there,) = cluster_sentences(frozenset({DESCRIBE}))
    (missing,) = cluster_sentences(frozenset())
    (unknown,) = cluster_sentences(Unknown("no broker answers"))

    assert ("is there" in there, "is missing" in missing) == (True, True)
    assert unknown.endswith("unknown: no broker answers")


def empty_round(*covered):
    return Round(cluster_id="c", tick=0, started_at_ms=0, ended_at_ms=1, coverage=covered)


def test_no_topic_is_none_only_where_everything_may_be_described():
    assert "there is no topic to watch" in contents(empty_round(coverage(Signal.RIGHTS)))
    for told in ("DESCRIBE on every topic: left out", "DESCRIBE on topic orders", "x; y; z; 2 more reasons"):
        refused = coverage(Signal.RIGHTS, answered=1, refused=1, error=f"not permitted: {told}")
        assert NO_TOPIC in contents(empty_round(refused))
    assert NO_TOPIC in contents(empty_round())
    assert NO_TOPIC in contents(empty_round(coverage(Signal.RIGHTS, answered=0, failed=2, error="no broker answers")))


NO_TOPIC = "no topic is visible: there is none, or DESCRIBE on topics is missing"


def test_a_right_that_is_missing_on_topics_says_nothing_of_groups():
    refused = coverage(Signal.RIGHTS, answered=1, refused=1, error="not permitted: DESCRIBE on every topic: left out")

    assert "there is no group to watch" in contents(empty_round(refused))
