"""Rights on share and Streams groups: what each lets see, and how its absence looks."""

import uuid
from collections.abc import Iterator

import pytest
from confluent_kafka import AcknowledgeType, Producer
from confluent_kafka.admin import AclOperation, NewTopic, ResourceType

from guarantees.unknown import Unknown
from lab.clients import admin_client
from settings import ClusterSettings, Security
from tests.collectors.streams_member import StreamsMember
from tests.collectors.test_live_newer_groups import acknowledge, coordinator_of, group_setting, joined, polled
from tests.security.secure_cluster import PASSWORD, PLAIN_USER, SASL, Rights, allow

pytestmark = pytest.mark.integration

TAG = uuid.uuid4().hex[:8]
TOPIC, SHARE_GROUP, STREAMS_GROUP = f"newer-{TAG}", f"share-{TAG}", f"streams-{TAG}"
OF_GROUPS = [allow(AclOperation.DESCRIBE, ResourceType.GROUP, group) for group in (SHARE_GROUP, STREAMS_GROUP)]
OF_TOPIC = [allow(AclOperation.DESCRIBE, ResourceType.TOPIC, TOPIC)]
# The coordinator counts the topics that it made itself for the topology.
OF_ITS_OWN = [allow(AclOperation.DESCRIBE, ResourceType.TOPIC, f"{STREAMS_GROUP}-changelog")]
TOPIC_REFUSED = Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED")


@pytest.fixture(scope="module", autouse=True)
def groups(secure) -> Iterator[None]:
    """Both with a member; the share group has accepted 4 of 9 records."""
    admin = admin_client(secure.bootstrap)
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
    producer = Producer({"bootstrap.servers": secure.bootstrap})
    for _ in range(9):
        producer.produce(TOPIC, b"")
    assert producer.flush(30) == 0
    group_setting(secure, SHARE_GROUP, "share.auto.offset.reset", "earliest")
    with joined(secure, SHARE_GROUP, TOPIC) as consumer:
        acknowledge(consumer, polled(consumer, 9)[:4], AcknowledgeType.ACCEPT)
    coordinator_of(secure, STREAMS_GROUP)
    with (
        joined(secure, SHARE_GROUP, TOPIC) as consumer,
        StreamsMember(secure.address(1), STREAMS_GROUP, TOPIC, "process-a") as member,
    ):
        consumer.poll(0.5)
        member.beat()
        yield


@pytest.fixture
def mine(secure, secret) -> ClusterSettings:
    security = Security(
        protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", username=PLAIN_USER, password=secret("password", PASSWORD)
    )
    return ClusterSettings(name="mine", bootstrap_servers=secure.address(1, SASL), security=security)


@pytest.fixture
def rights(secure) -> Iterator[Rights]:
    changed = Rights(secure)
    yield changed
    changed.revoke(PLAIN_USER, [*OF_GROUPS, *OF_TOPIC, *OF_ITS_OWN])


def standing(seen) -> list[tuple[object, object, object]]:
    return [
        (row["topic"], row["start_offset"], row["lag"])
        for row in seen.rows["share_offsets"]
        if row["group_id"] == SHARE_GROUP
    ]


def test_describe_on_group_and_topic_shows_all_and_without_the_topic_everything_of_it_is_unknown(mine, rights, watch):
    rights.grant(PLAIN_USER, [*OF_GROUPS, *OF_TOPIC])
    rounds = watch(mine)
    seen = rounds.until(lambda seen: (TOPIC, 4, 5) in standing(seen))
    assert seen.round.groups[STREAMS_GROUP] == TOPIC_REFUSED, "of its changelog"
    rights.grant(PLAIN_USER, OF_ITS_OWN)
    seen = rounds.until(lambda seen: seen.round.groups[STREAMS_GROUP] != TOPIC_REFUSED)
    assert len(seen.round.groups[SHARE_GROUP].members) == len(seen.round.groups[STREAMS_GROUP].members) == 1

    rights.revoke(PLAIN_USER, OF_TOPIC)
    without = rounds.until(lambda seen: standing(seen) == [(None, None, None)])

    assert without.round.groups[SHARE_GROUP] == TOPIC_REFUSED
    assert without.round.groups[STREAMS_GROUP] == TOPIC_REFUSED
    (row,) = (row for row in without.rows["share_offsets"] if row["group_id"] == SHARE_GROUP)
    assert "may not be described" in row["lag_unknown"]


def test_without_describe_on_the_group_it_is_left_out_and_nothing_is_made_up(mine, rights, watch):
    rights.grant(PLAIN_USER, OF_TOPIC)

    seen = watch(mine).until(lambda seen: TOPIC in {partition.topic for partition in seen.round.partitions})

    assert not {SHARE_GROUP, STREAMS_GROUP} & seen.round.groups.keys()
    assert standing(seen) == []
