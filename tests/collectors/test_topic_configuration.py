"""Settings of topics as intervals: stated while they last, ended when they change or the topic does."""

import uuid
from dataclasses import replace

import pytest

from collectors.seldom import SELDOM_ROUNDS
from tests.collectors.fake_cluster import FakeCluster
from tests.collectors.test_round import one_round


def read_again(collected):
    """As after so many rounds that the settings are due."""
    return replace(collected.remembered, rounds_done=SELDOM_ROUNDS)


def a_cluster():
    return FakeCluster(settings={"min.insync.replicas": "2"})


def rows(collected):
    return [(row["configuration"], row["ended_reason"]) for row in collected.rows["topic_configuration"]]


def test_settings_are_stated_in_each_round_and_end_when_they_change():
    cluster = a_cluster()
    first = one_round(cluster)
    second = one_round(cluster, first.remembered, tick=1)
    cluster.settings = {"min.insync.replicas": "1"}
    third = one_round(cluster, read_again(second), tick=2)

    two, one = '{"min.insync.replicas": "2"}', '{"min.insync.replicas": "1"}'
    assert rows(first) == rows(second) == [(two, None)]
    assert rows(third) == [(two, "changed"), (one, None)]


@pytest.mark.parametrize(
    ("topic_id", "reason"), [(uuid.UUID(int=7), "the topic was made anew"), (None, "the topic is no longer listed")]
)
def test_settings_end_with_their_topic(monkeypatch, topic_id, reason):
    cluster = a_cluster()
    before = one_round(cluster)
    if topic_id is None:
        monkeypatch.setattr(cluster, "_metadata", lambda: _without_topics(FakeCluster()))
    else:
        cluster.topic_id = topic_id
    after = one_round(cluster, before.remembered, tick=1)

    assert reason in [ended for _, ended in rows(after)]


def _without_topics(cluster):
    response = cluster._metadata()
    response.topics = []
    return response
