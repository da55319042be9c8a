"""The table of rights, held against a real authorizer: with these a signal works, without any one it says so."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AclOperation, NewTopic, ResourceType

from guarantees import needs
from guarantees.needs import NEEDS, Right
from guarantees.observations import Signal
from guarantees.unknown import Unknown
from kafka_reader.errors import is_not_permitted
from lab.clients import admin_client
from settings import ClusterSettings, Security
from tests.security.secure_cluster import PASSWORD, PLAIN_USER, SASL, Acl, Rights, allow

pytestmark = pytest.mark.integration

KINDS = {
    needs.TOPIC: ResourceType.TOPIC,
    needs.GROUP: ResourceType.GROUP,
    needs.TRANSACTIONAL_ID: ResourceType.TRANSACTIONAL_ID,
    needs.CLUSTER: ResourceType.BROKER,
}
# The one cluster that there is in Kafka's rules.
THE_CLUSTER = "kafka-cluster"
TOPIC = NEEDS[Signal.PARTITION_STATES].rights[0]
ASKED_BY_NAME = Signal.RIGHTS


@dataclass
class Subject:
    """What there is to see: a topic with an open transaction, a group with a member, a transactional id."""

    topic: str
    group: str
    transactional_id: str

    def named(self, right: Right) -> str:
        if right.name is not None:
            return right.name
        return {
            needs.TOPIC: self.topic,
            needs.GROUP: self.group,
            needs.TRANSACTIONAL_ID: self.transactional_id,
            needs.CLUSTER: THE_CLUSTER,
        }[right.resource]

    def acl(self, right: Right) -> Acl:
        return allow(AclOperation[right.operation], KINDS[right.resource], self.named(right))


@pytest.fixture(scope="module")
def subject(secure) -> Iterator[Subject]:
    """Read by a group of the consumer protocol, whose description needs DESCRIBE on its topics too."""
    tag = uuid.uuid4().hex[:8]
    found = Subject(f"rights-{tag}", f"group-{tag}", f"id-{tag}")
    admin = admin_client(secure.bootstrap)
    admin.create_topics([NewTopic(found.topic, 1, 1)])[found.topic].result(30)
    boot = {"bootstrap.servers": secure.bootstrap}
    plain = Producer(boot)
    plain.produce(found.topic, b"first")
    assert plain.flush(30) == 0
    consumer = Consumer(boot | {"group.id": found.group, "group.protocol": "consumer", "auto.offset.reset": "earliest"})
    consumer.subscribe([found.topic])
    message = None
    while message is None:
        message = consumer.poll(0.5)
    consumer.commit(message, asynchronous=False)
    producer = Producer(boot | {"transactional.id": found.transactional_id, "transaction.timeout.ms": 600_000})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(found.topic, b"open")
    assert producer.flush(30) == 0
    yield found
    producer.abort_transaction(30)
    consumer.close()


@pytest.fixture
def mine(secure, subject, secret) -> ClusterSettings:
    """As a principal without any right, watching what there is by name."""
    security = Security(
        protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", username=PLAIN_USER, password=secret("password", PASSWORD)
    )
    return ClusterSettings(
        name="mine",
        bootstrap_servers=secure.address(1, SASL),
        security=security,
        include_topics=(subject.topic,),
        include_groups=(subject.group,),
        request_timeout_s=5.0,
    )


@pytest.fixture
def rights(secure, subject) -> Iterator[Rights]:
    changed = Rights(secure)
    yield changed
    every = {str(right): subject.acl(right) for need in NEEDS.values() for right in need.rights}
    changed.revoke(PLAIN_USER, every.values())


def coverage(seen, signal):
    return next((each for each in seen.round.coverage if each.signal == signal), None)


def is_read(seen, signal):
    """Every partition of the topic, and there are some."""
    read = coverage(seen, signal)
    return read.asked > 0 and read.is_complete


def value(signal, seen, subject):
    """The one value of the signal that is known to be right; None or Unknown while it is not seen."""
    observed = seen.round
    offsets = next(iter(observed.partitions.values()), None)
    group = observed.groups.get(subject.group)
    return {
        Signal.LOG_START: lambda: offsets and offsets.log_start_offset == 0,
        Signal.COMMITTED_OFFSETS: lambda: [c.committed_offset for c in observed.commits.values()] == [1],
        Signal.END_OFFSETS: lambda: offsets and (offsets.last_stable_offset, offsets.high_watermark) == (1, 2),
        Signal.PARTITION_STATES: lambda: (
            [s.leader for p, s in observed.states.items() if p.topic == subject.topic] == [1]
        ),
        Signal.REPLICA_OFFSETS: lambda: [r.log_end_offset for each in observed.replicas.values() for r in each] == [2],
        Signal.EPOCH_ENDS: lambda: coverage(seen, Signal.EPOCH_ENDS).is_complete and offsets,
        Signal.GROUPS: lambda: group is not None and not isinstance(group, Unknown) and len(group.members) == 1,
        Signal.TRANSACTIONS: lambda: (
            [(t.transactional_id, [p.topic for p in t.partitions]) for t in observed.transactions]
            == [(subject.transactional_id, [subject.topic])]
        ),
        Signal.PRODUCERS: lambda: [len(p) for p in observed.producers.values() if not isinstance(p, Unknown)] == [1],
        Signal.LOG_DIRS: lambda: [row["unreadable"] for row in seen.rows["log_dirs"]] == [None],
        Signal.QUORUM: lambda: len(seen.rows["controller_quorum"]) > 0,
        Signal.GROUP_LOG: lambda: is_read(seen, Signal.GROUP_LOG),
        Signal.TRANSACTION_LOG: lambda: is_read(seen, Signal.TRANSACTION_LOG),
        Signal.CONFIGS: lambda: "min.insync.replicas" in observed.topic_settings.get(subject.topic, {}),
    }[signal]()


def is_told(right, seen, subject):
    """Its absence stands in the coverage of the signal the table names, or of the rights asked for by name."""
    of_signal, by_name = coverage(seen, right.told_by), coverage(seen, ASKED_BY_NAME)
    # READ includes DESCRIBE: who loses it may not even see that there is such a topic.
    named = f"DESCRIBE on {right.resource} {subject.named(right)}"
    is_told_there = of_signal is not None and of_signal.refused > 0 and "not permitted" in of_signal.error
    return is_told_there or (by_name is not None and named in (by_name.error or ""))


# Share groups have a test of their own, in test_live_newer_groups.py.
WITH_RIGHTS = [signal for signal, need in NEEDS.items() if need.rights and signal != Signal.SHARE_OFFSETS]


@pytest.mark.parametrize("signal", WITH_RIGHTS)
def test_a_signal_needs_exactly_the_rights_of_the_table(signal, mine, rights, subject, watch):
    wanted = NEEDS[signal].rights
    rights.grant(PLAIN_USER, [subject.acl(right) for right in wanted])
    seen = watch(mine).until(lambda seen: value(signal, seen, subject), within_s=15)
    assert seen

    for right in wanted:
        rights.revoke(PLAIN_USER, [subject.acl(right)])
        without = watch(mine).until(
            lambda seen, right=right: is_told(right, seen, subject) and not value(signal, seen, subject), within_s=15
        )
        assert_nothing_is_made_up(without, subject)
        rights.grant(PLAIN_USER, [subject.acl(right)])


def assert_nothing_is_made_up(seen, subject):
    """What is hidden is absent or Unknown: no zero, no "no commit", no group without members."""
    observed = seen.round
    assert all(c.committed_offset in (1,) or isinstance(c.committed_offset, Unknown) for c in observed.commits.values())
    assert all(isinstance(g, Unknown) or len(g.members) == 1 for g in observed.groups.values())
    assert all(isinstance(p, Unknown) or len(p) == 1 for p in observed.producers.values())


@pytest.mark.parametrize("signal", WITH_RIGHTS)
def test_a_right_taken_away_while_watching_ends_no_history(signal, mine, rights, subject, watch):
    wanted = NEEDS[signal].rights
    rights.grant(PLAIN_USER, [subject.acl(right) for right in wanted])
    rounds = watch(mine)
    rounds.until(lambda seen: value(signal, seen, subject), within_s=15)

    right = wanted[-1]
    rights.revoke(PLAIN_USER, [subject.acl(right)])
    ask_again(rounds)
    without = rounds.until(lambda seen: is_told(right, seen, subject), within_s=15)

    ended = [
        row["ended_reason"]
        for table in ("partition_state", "group_state", "group_members", "open_transactions", "open_producers")
        for row in as_dicts(without.rows.get(table, []))
        if row["ended_reason"] not in (None, "changed")
    ]
    assert ended == []


def as_dicts(rows):
    return rows.to_pylist() if isinstance(rows, pa.Table) else rows


def ask_again(rounds):
    """As if the round in which configurations and rights are asked for were due."""
    rounds.remembered = replace(rounds.remembered, rounds_done=0)


def test_describe_on_topics_and_groups_is_enough_for_lag_and_replication(mine, rights, subject, watch):
    describe = NEEDS[Signal.COMMITTED_OFFSETS].rights
    rights.grant(PLAIN_USER, [subject.acl(right) for right in describe])

    seen = watch(mine).until(lambda seen: value(Signal.COMMITTED_OFFSETS, seen, subject), within_s=15)

    seen_by_it = [signal for signal in WITH_RIGHTS if set(NEEDS[signal].rights) <= {*describe, TOPIC}]
    assert {Signal.LOG_START, Signal.END_OFFSETS, Signal.REPLICA_OFFSETS, Signal.GROUPS} <= set(seen_by_it)
    for signal in seen_by_it:
        assert value(signal, seen, subject), signal
        assert coverage(seen, signal).is_complete
    (producers,) = seen.round.producers.values()
    assert is_not_permitted(producers)
    assert is_told(NEEDS[Signal.CONFIGS].rights[-1], seen, subject)
    assert is_told(NEEDS[Signal.TRANSACTIONS].rights[0], seen, subject)
    assert seen.round.transactions == ()
