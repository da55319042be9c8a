"""Observed values read back from the rows and intervals they were stored as."""

import json
from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Any

from collectors import committed_offsets, groups
from collectors.intervals import Interval
from collectors.kept_intervals import UNKNOWN_GROUPS
from guarantees.observations import (
    CommittedOffset,
    EpochEnd,
    GroupState,
    Member,
    OpenProducer,
    PartitionOffsets,
    PartitionState,
    ReplicaOffset,
    Task,
    Tasks,
    Transaction,
)
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.groups import ListedGroup

Intervals = Mapping[str, Sequence[Interval]]


def partition(row: Mapping[str, Any]) -> TopicPartition:
    """Names are in every row of every round, and kept once."""
    return TopicPartition(intern(row["topic"]), row["partition"])


def group_partition(row: Mapping[str, Any]) -> GroupPartition:
    return GroupPartition(intern(row["group_id"]), intern(row["topic"]), row["partition"])


def _topic_id(row: Mapping[str, Any]) -> str | None:
    """None of a topic that no longer is."""
    return None if row["topic_id"] is None else intern(row["topic_id"])


def _known(row: Mapping[str, Any], name: str) -> int | Unknown:
    value: int | None = row[name]
    return Unknown(row[f"{name}_unknown"]) if value is None else value


def offsets(row: Mapping[str, Any]) -> PartitionOffsets:
    return PartitionOffsets(
        topic_id=_topic_id(row),
        log_start_offset=_known(row, "log_start_offset"),
        last_stable_offset=_known(row, "last_stable_offset"),
        high_watermark=_known(row, "high_watermark"),
        leader_epoch=_known(row, "leader_epoch"),
        broker=row["broker"],
        log_start_observed_at_ms=row["log_start_observed_at"],
        observed_at_ms=row["observed_at"],
    )


def commit(row: Mapping[str, Any]) -> CommittedOffset:
    never = row["committed_offset"] is None and row["committed_offset_unknown"] == committed_offsets.NO_COMMIT
    return CommittedOffset(
        topic_id=_topic_id(row),
        committed_offset=None if never else _known(row, "committed_offset"),
        committed_leader_epoch=row["committed_leader_epoch"],
        is_pending=row["is_pending"],
        observed_at_ms=row["observed_at"],
    )


def replicas(rows: Iterable[Mapping[str, Any]]) -> dict[TopicPartition, tuple[ReplicaOffset, ...]]:
    found: dict[TopicPartition, list[ReplicaOffset]] = {}
    for row in rows:
        found.setdefault(partition(row), []).append(
            ReplicaOffset(
                _topic_id(row),
                row["replica"],
                _known(row, "log_end_offset"),
                _known(row, "leader_epoch"),
                row["observed_at"],
            )
        )
    return {partition: tuple(replicas) for partition, replicas in found.items()}


def epoch_ends(rows: Iterable[Mapping[str, Any]]) -> dict[TopicPartition, tuple[EpochEnd, ...]]:
    found: dict[TopicPartition, list[EpochEnd]] = {}
    for row in rows:
        found.setdefault(partition(row), []).append(
            EpochEnd(
                topic_id=_topic_id(row),
                asked_epoch=row["asked_epoch"],
                answered_epoch=_known(row, "answered_epoch"),
                end_offset=_known(row, "end_offset"),
                current_leader_epoch=row["current_leader_epoch"],
                broker=row["broker"],
                observed_at_ms=row["observed_at"],
            )
        )
    return {partition: tuple(ends) for partition, ends in found.items()}


def partition_state(each: Interval, ended_at_ms: int) -> PartitionState:
    value: Mapping[str, Any] = each.value
    eligible, last_known = value["eligible_leader_replicas"], value["last_known_eligible_leader_replicas"]
    return PartitionState(
        topic_id=str(each.key[0]),
        leader=value["leader"],
        leader_epoch=value["leader_epoch"],
        replicas=tuple(value["replicas"]),
        in_sync_replicas=tuple(value["in_sync_replicas"]),
        eligible_leader_replicas=None if eligible is None else tuple(eligible),
        last_known_eligible_leader_replicas=None if last_known is None else tuple(last_known),
        offline_replicas=tuple(value["offline_replicas"]),
        observed_at_ms=_seen_at(each, ended_at_ms),
    )


def group_states(held: Intervals, ended_at_ms: int) -> dict[str, GroupState | Unknown]:
    members: dict[str, list[Member]] = {}
    for each in held[groups.MEMBER_TABLE]:
        members.setdefault(str(each.key[0]), []).append(_member(each))
    known: dict[str, GroupState | Unknown] = {
        str(each.key[0]): group_state(each, members.get(str(each.key[0]), ()), ended_at_ms)
        for each in held[groups.STATE_TABLE]
    }
    return known | {str(each.key[0]): Unknown(str(each.value["state_unknown"])) for each in held[UNKNOWN_GROUPS]}


def group_state(each: Interval, members: Iterable[Member], ended_at_ms: int) -> GroupState:
    value: Mapping[str, Any] = each.value
    return GroupState(
        group_type=value["group_type"],
        state=value["state"],
        coordinator=value["coordinator"],
        members=tuple(sorted(members, key=lambda each: each.member_id)),
        group_epoch=value["group_epoch"],
        assignment_epoch=value["assignment_epoch"],
        observed_at_ms=_seen_at(each, ended_at_ms),
        unchanged_since_ms=each.started_at_ms,
        topology_epoch=value["topology_epoch"],
    )


def _member(each: Interval) -> Member:
    value: Mapping[str, Any] = each.value
    target = value["target_assignment"]
    return Member(
        member_id=str(each.key[1]),
        group_instance_id=value["group_instance_id"],
        client_id=value["client_id"],
        host=value["host"],
        assignment=_partitions(value["assignment"]),
        member_epoch=value["member_epoch"],
        target_assignment=None if target is None else _partitions(target),
        rack=value["rack"],
        process_id=value["process_id"],
        topology_epoch=value["topology_epoch"],
        tasks=_tasks(value["tasks"]),
        target_tasks=_tasks(value["target_tasks"]),
    )


def _tasks(text: str | None) -> Tasks | None:
    if text is None:
        return None
    kinds = {name: frozenset(Task(*each) for each in listed) for name, listed in json.loads(text).items()}
    return Tasks(**kinds)


def transaction(each: Interval, ended_at_ms: int) -> Transaction:
    transactional_id, producer_id, producer_epoch, started_at_ms = each.key
    value: Mapping[str, Any] = {**each.value, **each.detail}
    return Transaction(
        transactional_id=str(transactional_id),
        producer_id=whole(producer_id),
        producer_epoch=whole(producer_epoch),
        state=value["state"],
        timeout_ms=value["timeout_ms"],
        started_at_ms=None if started_at_ms is None else whole(started_at_ms),
        partitions=_partitions(value["partitions"]),
        coordinator=value["coordinator"],
        observed_at_ms=_seen_at(each, ended_at_ms),
    )


def producers(held: Iterable[Interval], ended_at_ms: int) -> dict[TopicPartition, tuple[OpenProducer, ...] | Unknown]:
    found: dict[TopicPartition, list[OpenProducer]] = {}
    for each in held:
        _, partition, producer_id, producer_epoch, start_offset = each.key
        detail: Mapping[str, Any] = each.detail
        found.setdefault(TopicPartition(str(each.value["topic"]), whole(partition)), []).append(
            OpenProducer(
                producer_id=whole(producer_id),
                producer_epoch=whole(producer_epoch),
                last_sequence=detail["last_sequence"],
                last_timestamp_ms=detail["last_timestamp"],
                coordinator_epoch=detail["coordinator_epoch"],
                current_transaction_start_offset=whole(start_offset),
                observed_at_ms=_seen_at(each, ended_at_ms),
            )
        )
    return {partition: tuple(producers) for partition, producers in found.items()}


def listed_group(each: Interval) -> ListedGroup:
    value: Mapping[str, Any] = each.value
    return ListedGroup(str(each.key[0]), value["group_type"], "", value["state"] or "", value["coordinator"])


def _partitions(text: str) -> frozenset[TopicPartition]:
    return frozenset(TopicPartition(topic, partition) for topic, partition in json.loads(text))


def _seen_at(each: Interval, ended_at_ms: int) -> int:
    """When a round that ended then saw it: the times of single answers are not kept."""
    return min(each.last_seen_at_ms, ended_at_ms)


def whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"not a whole number: {value!r}")
    return value
