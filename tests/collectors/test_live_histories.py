"""What a real cluster writes of commits, groups and transactions into its own topics, read while it happens.

Everything happens once, side by side, because most of it is waiting: members leave after their sessions, transactions
after their timeouts.
"""

import json
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from collectors.runner import ClusterRounds
from collectors.watched import open_cluster
from settings import ClusterSettings, Settings, StoreSettings
from store.log import SegmentLog
from store.reading import read
from store.rows import python_rows

pytestmark = pytest.mark.integration

SESSION_MS = 6_000
ALONE = """
import sys
from confluent_kafka import Consumer
consumer = Consumer({"bootstrap.servers": sys.argv[1], "group.id": sys.argv[2], "session.timeout.ms": 6000,
                     "client.id": "killed"})
consumer.subscribe([sys.argv[3]])
while True:
    consumer.poll(0.1)
"""


@dataclass
class Happening:
    """A topic, groups and transactional ids of their own, and the rounds that watch them."""

    bootstrap: str
    data_dir: object
    tag: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    members: list = field(default_factory=list)

    def __post_init__(self):
        self.topic = f"histories-{self.tag}"
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([NewTopic(self.topic, 4, 3)])[self.topic].result(30)
        self.settings = ClusterSettings(
            name="lab", bootstrap_servers=self.bootstrap, include_topics=(self.topic,), interval_s=1.0
        )
        self.open()

    def open(self):
        self.watched = open_cluster(self.settings)
        self.log = SegmentLog(self.data_dir, "host_collect")
        stored = Settings(clusters=(self.settings,), store=StoreSettings(data_dir=str(self.data_dir)))
        self.rounds = ClusterRounds(self.watched, stored, self.log)

    def close(self):
        self.log.close()
        self.watched.connections.close()

    def name(self, what):
        return f"{what}-{self.tag}"

    def rows(self, table, **about):
        found = python_rows(table, read(self.data_dir, table))
        mine = [row for row in found if all(row[column] == self.name(value) for column, value in about.items())]
        return sorted(mine, key=lambda row: (row["observed_at"], row["log_offset"]))

    def consumer(self, group, protocol="classic", **more):
        options = {"bootstrap.servers": self.bootstrap, "group.id": self.name(group), "group.protocol": protocol}
        if protocol == "classic":
            options["session.timeout.ms"] = SESSION_MS
        consumer = Consumer(options | {"enable.auto.commit": False} | more)
        consumer.subscribe([self.topic])
        self.members.append(consumer)
        return consumer

    def leave(self, consumer):
        self.members.remove(consumer)
        consumer.close()

    def producer(self, transactional_id, timeout_ms=60_000):
        producer = Producer(
            {
                "bootstrap.servers": self.bootstrap,
                "transactional.id": self.name(transactional_id),
                "transaction.timeout.ms": timeout_ms,
            }
        )
        producer.init_transactions(30)
        return producer

    def begin(self, producer):
        producer.begin_transaction()
        producer.produce(self.topic, "record", partition=0)
        assert producer.flush(30) == 0

    def commit(self, consumer, offset, partition=0):
        consumer.commit(offsets=[TopicPartition(self.topic, partition, offset)], asynchronous=False)

    def until(self, holds, within_s=60.0):
        """Rounds, while every member polls."""
        deadline_s = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < deadline_s, "not seen in time"
            self.rounds.next_round()
            for member in self.members:
                member.poll(0.1)

    def assigned(self, *members):
        return lambda: all(member.assignment() for member in members)

    def told(self, group, number):
        return lambda: len(self.rows("rebalances", group_id=group)) >= number


def transactional_commits(happening):
    """Committed, aborted, and one that stays undecided; by a group whose log lies wherever it may."""
    reader = happening.consumer("in-transactions")
    happening.until(happening.assigned(reader))
    producer = happening.producer("committing")
    for offset, end in ((4, producer.commit_transaction), (8, producer.abort_transaction), (6, None)):
        happening.begin(producer)
        position = [TopicPartition(happening.topic, 0, offset)]
        producer.send_offsets_to_transaction(position, reader.consumer_group_metadata(), 30)
        if end is not None:
            end(30)
    happening.until(lambda: happening.rows("commits", group_id="in-transactions"))
    return producer


@pytest.fixture(scope="module")
def happening(cluster, tmp_path_factory):
    happening = Happening(cluster.bootstrap, tmp_path_factory.mktemp("histories"))
    happening.rounds.next_round()
    slow = happening.producer("slow", timeout_ms=1_000)
    happening.begin(slow)

    classic, new = happening.consumer("classic"), happening.consumer("new", "consumer")
    static = happening.consumer("classic", **{"group.instance.id": "static"})
    happening.until(happening.assigned(classic, new, static))
    killed = subprocess.Popen(
        [sys.executable, "-c", ALONE, cluster.bootstrap, happening.name("classic"), happening.topic]
    )
    second = happening.consumer("new", "consumer")
    happening.until(happening.told("classic", 2))
    happening.until(lambda: happening.told("new", 2)() and "killed" in clients(happening))
    killed.kill()
    killed.wait(10)
    for offset in (5, 9, 2):
        happening.commit(classic, offset)
    happening.leave(second)

    fenced = happening.producer("fenced")
    happening.begin(fenced)
    successor = happening.producer("fenced")
    happening.begin(successor)
    successor.commit_transaction(30)

    happening.until(lambda: any(json.loads(row["left"]) for row in happening.rows("rebalances", group_id="classic")))
    happening.until(lambda: any(json.loads(row["left"]) for row in happening.rows("rebalances", group_id="new")))
    happening.until(lambda: "timed_out" in steps(happening, "slow"))
    undecided = transactional_commits(happening)
    yield happening
    undecided.abort_transaction(30)
    for member in list(happening.members):
        happening.leave(member)
    happening.close()


def clients(happening):
    """Client ids in the newest sample of the classic group."""
    found = python_rows("group_members", read(happening.data_dir, "group_members"))
    return {row["client_id"] for row in found if row["group_id"] == happening.name("classic")}


def steps(happening, transactional_id):
    return [row["step"] for row in happening.rows("transaction_steps", transactional_id=transactional_id)]


def test_commits_have_the_coordinators_times_and_the_one_that_fell_is_there(happening):
    rows = happening.rows("commits", group_id="classic")

    offsets = [(row["previous_offset"], row["committed_offset"]) for row in rows]
    assert offsets[-1] == (9, 2)
    assert rows[-2]["committed_offset"] == 9
    for row in rows:
        assert row["previous_committed_at"] is None or row["previous_committed_at"] <= row["committed_at"]
        assert 0 <= row["read_at"] - row["committed_at"] < 30_000
        assert row["producer_id"] is None


def test_an_aborted_commit_never_looks_real_and_an_undecided_one_is_waited_for(happening):
    (row,) = happening.rows("commits", group_id="in-transactions")
    ranges = python_rows("log_ranges", read(happening.data_dir, "log_ranges"))

    assert (row["committed_offset"], row["producer_id"] is not None) == (4, True)
    assert any(
        row["last_stable_offset"] < row["high_watermark"] for row in ranges if row["topic"] == "__consumer_offsets"
    )


def test_members_that_joined_and_one_that_was_killed_are_told_with_what_moved(happening):
    rows = happening.rows("rebalances", group_id="classic")

    assert {row["source"] for row in rows} == {"__consumer_offsets"}
    assert [row["generation"] for row in rows] == sorted({row["generation"] for row in rows})
    joined = [name for row in rows for name in json.loads(row["joined"])]
    assert len(joined) == len(set(joined)) == 3
    (left,) = (row for row in rows if json.loads(row["left"]))
    (gone,) = json.loads(left["left"])
    assert gone.startswith("killed-")
    assert all(old == gone for _, _, old, _ in json.loads(left["moved"]) if old != json.loads(left["moved"])[0][3])
    assert "not observable" in left["cause"]


def test_a_rebalance_of_the_consumer_protocol_lasts_from_its_epoch_until_all_own_their_target(happening):
    rows = happening.rows("rebalances", group_id="new")

    assert {row["source"] for row in rows} == {"__consumer_offsets"}
    epochs = [row["group_epoch"] for row in rows]
    assert epochs == sorted(set(epochs))
    (second,) = (row for row in rows[1:] if json.loads(row["joined"]))
    (joined,) = json.loads(second["joined"])
    assert {new for _, _, _, new in json.loads(second["moved"])} == {joined}
    assert second["changed_after"] < second["observed_at"]
    (left,) = (row for row in rows if json.loads(row["left"]))
    assert json.loads(left["left"]) == [joined]


def test_a_fenced_instance_and_its_successor_are_told_apart(happening):
    assert steps(happening, "fenced") == ["initialised", "begun", "fenced", "initialised", "committed"] or steps(
        happening, "fenced"
    ) == ["initialised", "fenced", "initialised", "committed"]
    (fenced,) = (
        row for row in happening.rows("transaction_steps", transactional_id="fenced") if row["step"] == "fenced"
    )
    assert fenced["producer_epoch"] == fenced["data_epoch"] + 1


def test_a_transaction_that_nobody_ended_is_told_by_its_timeout(happening):
    assert [step for step in steps(happening, "slow") if step != "ending"] == ["initialised", "begun", "timed_out"]
    ended = happening.rows("transaction_steps", transactional_id="slow")[-1]
    assert ended["prepared_at"] - ended["started_at"] >= ended["timeout_ms"] == 1_000
    assert json.loads(ended["partitions"]) == [[happening.topic, 0]]


def test_after_a_restart_nothing_is_read_twice(happening):
    before = {table: len(happening.rows(table)) for table in ("commits", "transaction_steps", "rebalances")}
    happening.close()
    happening.open()
    happening.rounds.next_round()

    assert {table: len(happening.rows(table)) for table in before} == before
