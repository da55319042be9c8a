"""C2, a topic gets more partitions; its group comes back and reads the new one from its start."""

import time

from confluent_kafka.admin import NewPartitions

from guarantees.findings import Kind
from lab.controls.stated import control, may_be_said
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Injected
from lab.records import read_until
from lab.truth import now_ms

CODE = "C2"
TITLE = "partitions added to a topic"
BREAKS = "nothing"
SILENT = "everything but the added partitions themselves"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns when the group has read the new partition."""
    topic, group_id = ground.create_topic("carts"), ground.name("pricing")
    ground.produce(topic, 300)
    ground.read_as_members(topic, {group_id: 300})
    injected_at_ms = now_ms()
    ground.admin.create_partitions([NewPartitions(topic, 2, replica_assignment=[[2, 1, 3]])])[topic].result(timeout=30)
    ground.await_state(topic, 1, lambda seen: seen.in_sync == seen.replicas)
    ground.produce(topic, 200, partition=1)
    member = ground.consumer(group_id)
    member.subscribe([topic])
    member.commit(message=read_until(member, 199), asynchronous=False)
    time.sleep(SEEN_AFTER_S)
    ground.leave(group_id, member)
    return control(
        CODE,
        injected_at_ms,
        may_be_said(Kind.PARTITIONS_ADDED, topic),
        # From outside a group that reads fast looks like one that began at the end: nothing was skipped.
        may_be_said(Kind.NEW_PARTITION_SKIPPED, topic, partition=1, group_id=group_id, count=0),
    )
