"""What lasts and what happened in the large cluster: states, members, transactions, rebalances, findings, jobs."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

import numpy as np
import pyarrow as pa

from benchmarks.large_cluster import BASE_OFFSET, BROKERS, CLUSTER_ID, Cluster
from benchmarks.large_samples import named, repeated, times
from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.lifecycle import Change, FindingEvent
from store.rows import Row, arrow_table

MINUTE_MS, DAY_MS = 60_000, 86_400_000
FINDINGS, REBALANCES, TRANSACTIONS, SAMPLED_TOPICS = 2_000, 3_000, 40, 40
MEMBERS = 5  # of each group

# kind → (of a group, severity, title); the most common ones of a large cluster first.
KINDS = (
    (Kind.POSSIBLE_REDELIVERY, True, 2, "{group} may have read records of {where} twice after a rebalance"),
    (Kind.FALLING_BEHIND, True, 2, "{group} falls behind on {where}"),
    (Kind.BELOW_MIN_ISR, False, 3, "{where} was below min.insync.replicas"),
    (Kind.AT_MIN_ISR, False, 1, "{where} has no replica to spare"),
    (Kind.REWIND, True, 3, "{group} went back on {where}"),
    (Kind.GROUP_STALLED, True, 3, "{group} stands still on {where}"),
    (Kind.EXPIRED_UNREAD, True, 4, "retention removed unread records of {where} before {group} read them"),
)


def intervals(at_ms: int, started_ms: int, cluster: Cluster) -> dict[str, pa.Table]:
    """What runs at that time: states of partitions and groups, members, open transactions."""
    running = {"cluster_id": CLUSTER_ID, "started_at": started_ms, "last_seen_at": at_ms}
    rows = {
        "group_state": [running | state for state in _group_states(cluster)],
        "group_members": [running | member for member in _members(cluster)],
        "open_transactions": [running | one for one in _transactions(at_ms, cluster)],
    }
    tables = {table: arrow_table(table, of_table) for table, of_table in rows.items()}
    return tables | {"partition_state": _partition_states(at_ms, started_ms, cluster)}


def seen_again(running: pa.Table, at_ms: int) -> pa.Table:
    """The same intervals as a later round states them."""
    position = running.schema.get_field_index("last_seen_at")
    return running.set_column(position, "last_seen_at", times(np.full(running.num_rows, at_ms)))


def _partition_states(at_ms: int, started_ms: int, cluster: Cluster) -> pa.Table:
    """Of every partition; one in a hundred lacks a replica."""
    size = cluster.size
    number = size.topics * size.partitions
    index = np.arange(number)
    first = (index * 7 + index // size.partitions) % BROKERS + 1
    replicas = [[int(one), int(one) % BROKERS + 1, (int(one) + 1) % BROKERS + 1] for one in first]
    return pa.table(
        {
            "cluster_id": repeated(CLUSTER_ID, number),
            "topic": named(cluster.topics, index // size.partitions),
            "topic_id": named(cluster.topic_ids, index // size.partitions),
            "partition": pa.array(index % size.partitions, pa.int32()),
            "leader": pa.array(first, pa.int32()),
            "leader_epoch": pa.array(np.full(number, 7), pa.int32()),
            "replicas": pa.array(replicas, pa.list_(pa.int32())),
            "in_sync_replicas": pa.array(
                [all_of if n % 100 else all_of[:2] for n, all_of in enumerate(replicas)], pa.list_(pa.int32())
            ),
            "offline_replicas": pa.array([[]] * number, pa.list_(pa.int32())),
            "min_insync_replicas": pa.array(np.full(number, 2), pa.int32()),
            "started_at": times(np.full(number, started_ms)),
            "last_seen_at": times(np.full(number, at_ms)),
        }
    )


def configurations(at_ms: int, started_ms: int, cluster: Cluster) -> list[Row]:
    settings = json.dumps(
        {
            "cleanup.policy": "delete",
            "min.insync.replicas": "2",
            "retention.ms": "604800000",
            "unclean.leader.election.enable": "false",
        }
    )
    return [
        {"cluster_id": CLUSTER_ID, "topic": topic, "topic_id": topic_id, "configuration": settings,
         "started_at": started_ms, "last_seen_at": at_ms}
        for topic, topic_id in zip(cluster.topics, cluster.topic_ids, strict=True)
    ]  # fmt: skip


def rebalances(cluster: Cluster) -> list[Row]:
    """Over the last day; every tenth is part of one group's storm."""
    found: list[Row] = []
    for number in range(REBALANCES):
        group, topic = cluster.pairs[0 if number % 10 == 0 else number * 13 % len(cluster.pairs)]
        at_ms = cluster.end_ms - int((number / REBALANCES) ** 2 * DAY_MS) - 1
        before, after = _member_id(cluster.groups[group], number % MEMBERS), _member_id(cluster.groups[group], 7)
        found.append({
            "cluster_id": CLUSTER_ID, "group_id": cluster.groups[group], "tick": number, "changed_after": at_ms - 5_000,
            "observed_at": at_ms, "joined": json.dumps([after]), "left": json.dumps([before]),
            "moved": json.dumps([[cluster.topics[topic], partition, before, after] for partition in range(10)]),
            "cause": "1 member left (by timeout, crash or request: not observable), 1 member joined",
        })  # fmt: skip
    return found


def events(cluster: Cluster) -> Iterator[FindingEvent]:
    """Findings over the last day, opened, updated and most of them closed."""
    for number in range(FINDINGS):
        kind, is_of_group, severity, title = KINDS[number * number % len(KINDS)]
        group, topic = cluster.pairs[number * 7 % len(cluster.pairs)]
        partition = number % cluster.size.partitions
        at_ms = cluster.end_ms - 60_000 - int((number / FINDINGS) ** 2 * DAY_MS)
        where = f"{cluster.topics[topic]}-{partition}"
        finding = Finding(
            kind=kind,
            place=Place(
                CLUSTER_ID, cluster.topics[topic], cluster.topic_ids[topic], partition,
                cluster.groups[group] if is_of_group else None,
            ),
            anchor=f"{number}",
            severity=severity,
            title=title.format(group=cluster.groups[group], where=where),
            statements=(
                Statement(Grade.PROVEN, f"Two samples of {where}, five seconds apart, show it."),
                Statement(Grade.POSSIBLE, "How many records it touched is bounded by the offsets between them."),
            ),
            bounds=Bounds(0, None, 40 + number, Unit.OFFSETS),
            evidence={
                "committed_offset_before": BASE_OFFSET + number, "committed_offset": BASE_OFFSET + 40 + number,
                "observed_at_ms": at_ms, "broker": number % BROKERS + 1, "leader_epoch": 7,
            },
            happened_at_ms=at_ms,
            last_seen_at_ms=at_ms,
        )  # fmt: skip
        yield from _life(finding, at_ms, is_closed=number % 10 > 1)


def ledger(cluster: Cluster, at_ms: int) -> list[Row]:
    return [
        {"cluster_id": CLUSTER_ID, "topic": cluster.topics[n], "topic_id": cluster.topic_ids[n], "partition": 0,
         "first_offset": BASE_OFFSET, "next_offset": BASE_OFFSET + 90_000, "records": 90_000, "records_without_id": 0,
         "aborted_records": 0, "markers": 0, "sampled": 1_400, "sampling_rate": 1 / 64, "state": "complete",
         "run_id": "r1", "observed_at": at_ms}
        for n in range(SAMPLED_TOPICS)
    ]  # fmt: skip


def parts(at_ms: int) -> list[Row]:
    return [
        {"part": part, "observed_at": at_ms, "event": "started", "pid": 4_000 + number, "restarts": 0,
         "message": f"{part} started"}
        for number, part in enumerate(("collect", "maintain", "jobs", "page"))
    ]  # fmt: skip


def _life(finding: Finding, at_ms: int, *, is_closed: bool) -> Iterator[FindingEvent]:
    yield FindingEvent(Change.OPENED, at_ms, finding)
    later = replace(finding, last_seen_at_ms=at_ms + 30_000)
    yield FindingEvent(Change.UPDATED, at_ms + 30_000, later)
    if is_closed:
        closed = replace(later, closed_reason="it was read again from there", last_seen_at_ms=at_ms + 50_000)
        yield FindingEvent(Change.CLOSED, at_ms + 50_000, closed)


def _group_states(cluster: Cluster) -> Iterator[Row]:
    for number, group_id in enumerate(cluster.groups):
        yield {"group_id": group_id, "group_type": "consumer" if number % 3 == 0 else "classic", "state": "Stable",
               "coordinator": number % BROKERS + 1, "members": MEMBERS}  # fmt: skip


def _members(cluster: Cluster) -> Iterator[Row]:
    for group, pairs in groupby(cluster.pairs, key=lambda pair: pair[0]):
        group_id, topics = cluster.groups[group], [cluster.topics[topic] for _, topic in pairs]
        for number in range(MEMBERS):
            owned = [[topic, p] for topic in sorted(topics) for p in range(number, cluster.size.partitions, MEMBERS)]
            yield {"group_id": group_id, "member_id": _member_id(group_id, number), "client_id": f"{group_id}-{number}",
                   "host": f"/10.0.{group % 250}.{number + 10}", "assignment": json.dumps(owned)}  # fmt: skip


def _transactions(at_ms: int, cluster: Cluster) -> Iterator[Row]:
    for number in range(TRANSACTIONS):
        topics = [[cluster.topics[number * 3 % cluster.size.topics], p] for p in range(4)]
        yield {"transactional_id": f"ledger-writer-{number}", "producer_id": 9_000 + number, "producer_epoch": 3,
               "state": "Ongoing", "timeout_ms": 60_000, "transaction_started_at": at_ms - at_ms % 60_000 - 1_000,
               "partitions": json.dumps(topics), "coordinator": number % BROKERS + 1}  # fmt: skip


def _member_id(group_id: str, number: int) -> str:
    return f"{group_id}-{number}-3f2b9c1e-77aa-4d0e-8a51-{number:012d}"
