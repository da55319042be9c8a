"""StreamsGroupDescribe: groups of Kafka Streams applications whose tasks the broker assigns (KIP-1071).

kafka-python does not bundle the schema: it is Apache Kafka's own, in `schemas`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from kafka.protocol.api_message import ApiMessage

from guarantees.observations import GroupState, Member, Task, Tasks
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader import schemas
from kafka_reader.answer import Answer
from kafka_reader.errors import CollectionError
from kafka_reader.group_descriptions import by_member_id, parsed
from kafka_reader.groups import STREAMS


class StreamsGroupDescribeRequest(ApiMessage, load_json=schemas):
    pass


class StreamsGroupDescribeResponse(ApiMessage, load_json=schemas):
    pass


def describe_request(group_ids: Iterable[str]) -> StreamsGroupDescribeRequest:
    return StreamsGroupDescribeRequest(group_ids=sorted(group_ids), include_authorized_operations=False)


def parse_descriptions(
    request: StreamsGroupDescribeRequest, answer: Answer | CollectionError, broker: int
) -> dict[str, GroupState | Unknown]:
    """One entry per group asked about. Error 29: a topic of its topology may not be described."""
    return parsed(request.group_ids, answer, partial(_state, broker))


def _state(broker: int, group: Any, observed_at_ms: int) -> GroupState:
    sources = _sources(group.topology)
    return GroupState(
        group_type=STREAMS,
        state=group.group_state,
        coordinator=broker,
        members=tuple(_member(member, sources) for member in by_member_id(group.members)),
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        observed_at_ms=observed_at_ms,
        topology_epoch=None if group.topology is None else group.topology.epoch,
    )


def _sources(topology: Any) -> dict[str, tuple[str, ...]]:
    """What each subtopology reads; nothing while source topics are missing or the group is not initialized."""
    if topology is None or topology.subtopologies is None:
        return {}
    return {
        each.subtopology_id: (*each.source_topics, *(topic.name for topic in each.repartition_source_topics))
        for each in topology.subtopologies
    }


def _member(member: Any, sources: Mapping[str, Sequence[str]]) -> Member:
    tasks, target = _tasks(member.assignment), _tasks(member.target_assignment)
    return Member(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=_partitions(tasks.active, sources),
        member_epoch=member.member_epoch,
        target_assignment=_partitions(target.active, sources),
        rack=member.rack_id,
        process_id=member.process_id,
        topology_epoch=member.topology_epoch,
        tasks=tasks,
        target_tasks=target,
    )


def _tasks(assignment: Any) -> Tasks:
    return Tasks(
        active=_task_ids(assignment.active_tasks),
        standby=_task_ids(assignment.standby_tasks),
        warm_up=_task_ids(assignment.warmup_tasks),
    )


def _task_ids(given: Iterable[Any]) -> frozenset[Task]:
    return frozenset(Task(each.subtopology_id, partition) for each in given for partition in each.partitions)


def _partitions(active: Iterable[Task], sources: Mapping[str, Sequence[str]]) -> frozenset[TopicPartition]:
    """An active task reads its partition of each topic of its subtopology (TaskId); standby and warm-up tasks none."""
    return frozenset(
        TopicPartition(topic, task.partition) for task in active for topic in sources.get(task.subtopology_id, ())
    )
