"""Batch headers of a real cluster: everything is read, restarts included, and what producers did is told apart."""

import time
import uuid

import pytest
from confluent_kafka import Producer

from collectors.runner import ClusterRounds
from collectors.watched import open_cluster
from guarantees.findings import Grade, Kind
from settings import ClusterSettings, Settings, StoreSettings
from store.findings import load_findings
from store.log import SegmentLog
from store.reading import read
from store.rows import python_rows

pytestmark = pytest.mark.integration


class Headers:
    """Rounds of one topic into a store of its own."""

    def __init__(self, bootstrap, topic, data_dir):
        self.settings = ClusterSettings(
            name="lab", bootstrap_servers=bootstrap, include_topics=(topic,), header_topics=(topic,), interval_s=5.0
        )
        self.data_dir = data_dir
        self._open()

    def _open(self):
        self.watched = open_cluster(self.settings)
        self.log = SegmentLog(self.data_dir, "host_collect")
        stored = Settings(clusters=(self.settings,), store=StoreSettings(data_dir=str(self.data_dir)))
        self.rounds = ClusterRounds(self.watched, stored, self.log)

    def close(self):
        self.log.close()
        self.watched.close()

    def restart(self):
        self.close()
        self._open()

    def rows(self):
        return sorted(
            python_rows("batch_headers", read(self.data_dir, "batch_headers")), key=lambda r: r["base_offset"]
        )

    def outline(self):
        return [(row["base_offset"], row["producer_id"], row["producer_epoch"], row["marker"]) for row in self.rows()]

    def findings(self):
        return [history.finding for history in load_findings(self.data_dir).values()]

    def until(self, holds, within_s=40.0):
        deadline_s = time.monotonic() + within_s
        while True:
            self.rounds.next_round()
            if holds():
                return
            assert time.monotonic() < deadline_s, f"not seen within {within_s} s: {self.outline()}"
            time.sleep(0.5)


@pytest.fixture
def headers(cluster, new_topic, tmp_path):
    headers = Headers(cluster.bootstrap, new_topic("headers", [[1, 2, 3]]), tmp_path)
    headers.rounds.next_round()
    yield headers
    headers.close()


def transactional(cluster, transactional_id, timeout_ms=60_000):
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": timeout_ms,
        }
    )
    producer.init_transactions(30)
    return producer


def begin(producer, topic, records=1):
    producer.begin_transaction()
    for number in range(records):
        producer.produce(topic, str(number), partition=0)
    producer.flush(30)


def topic_of(headers):
    return headers.settings.include_topics[0]


def test_healthy_producers_are_read_to_the_last_marker_over_a_restart_and_nothing_is_found(cluster, headers):
    topic = topic_of(headers)
    idempotent = Producer({"bootstrap.servers": cluster.bootstrap, "enable.idempotence": True})
    producer = transactional(cluster, f"healthy-{uuid.uuid4().hex[:8]}")
    for turn in range(4):
        idempotent.produce(topic, str(turn), partition=0)
        idempotent.flush(30)
        begin(producer, topic, records=2)
        if turn % 2:
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
        headers.rounds.next_round()
        headers.restart()
    headers.until(lambda: len([row for row in headers.rows() if row["marker"]]) == 4)

    rows = headers.rows()
    assert [row["marker"] for row in rows if row["marker"]] == ["commit", "abort", "commit", "abort"]
    ends = [0, *(row["last_offset"] + 1 for row in rows)]
    assert [row["base_offset"] for row in rows] == ends[:-1]
    assert ends[-1] == 4 * (1 + 2 + 1)
    assert headers.findings() == []


def test_an_instance_that_takes_over_an_open_transaction_fences_the_one_before(cluster, headers):
    topic, transactional_id = topic_of(headers), f"fenced-{uuid.uuid4().hex[:8]}"
    old = transactional(cluster, transactional_id)
    begin(old, topic)
    old.commit_transaction(30)
    begin(old, topic)
    new = transactional(cluster, transactional_id)
    begin(new, topic)
    new.commit_transaction(30)
    headers.until(lambda: headers.findings())

    (finding,) = headers.findings()
    assert (finding.kind, finding.severity, finding.grade) == (Kind.PRODUCER_FENCED, 1, Grade.PROVEN)
    (fencing,) = finding.evidence["fencings"]
    assert fencing["marker_epoch"] == fencing["data_epoch"] + 1


def test_a_transaction_left_open_is_aborted_at_its_timeout_and_found_so(cluster, headers):
    topic = topic_of(headers)
    producer = transactional(cluster, f"slow-{uuid.uuid4().hex[:8]}", timeout_ms=5_000)
    begin(producer, topic, records=3)
    headers.until(lambda: Kind.TRANSACTION_TIMED_OUT in {finding.kind for finding in headers.findings()})

    # While it was open it held the stable offset, which the metadata show.
    (finding,) = (each for each in headers.findings() if each.kind is not Kind.STABLE_OFFSET_FROZEN)
    assert (finding.kind, finding.bounds.estimate) == (Kind.TRANSACTION_TIMED_OUT, 3)
    assert finding.evidence["transaction_timeout_ms"] == 5_000
    open_ms = finding.evidence["aborted_at_ms"] - finding.evidence["transaction_started_at_ms"]
    assert 5_000 <= open_ms < 30_000
