from dataclasses import dataclass

from guarantees.unknown import Unknown
from kafka_reader.configurations import parse_entries, parse_error


@dataclass
class Entry:
    value: str


def test_of_all_entries_those_that_promises_rest_on_are_kept():
    given = {"min.insync.replicas": Entry("2"), "cleanup.policy": Entry("compact"), "segment.ms": Entry("1")}

    assert parse_entries(given) == {"min.insync.replicas": "2", "cleanup.policy": "compact"}


def test_a_missing_right_and_a_silent_cluster_are_told_apart():
    assert parse_error(29, "Topic authorization failed") == Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED")
    assert parse_error(-185, "Local: Timed out") == Unknown("Local: Timed out")
