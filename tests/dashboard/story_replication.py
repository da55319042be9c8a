"""Replicas that fall behind, leaders that fall, and one partition nobody leads: two topics beside the others.

`shipments`: 0 elects another leader in order; 1 is below min ISR for 35 to 45 s; 2 elects uncleanly; 3 is offline with
eligible replicas (KIP-966); 4 has a follower behind, one that stops answering, and a missing round; 5 is well.
`returns`: its settings may not be read, and a replica is missing.
"""

from collections.abc import Iterator

from guarantees.findings import Finding, Grade, Kind, Place, Statement
from guarantees.lifecycle import Change, FindingEvent
from store.log import SegmentLog
from tests.dashboard import fixture_store as cluster  # which calls this module: its names are looked up when it runs

SHIPMENTS, SHIPMENTS_ID, PARTITIONS = "shipments", "sH1-MeNtS_qWe8rTy7uIoQ", 6
RETURNS, RETURNS_ID = "returns", "rE7uRnS5dFg6hJk8lZx9cV"
NO_ANSWER = "the broker did not answer within 5 s"
NO_LEADER = "LEADER_NOT_AVAILABLE (5)"
Phases = list[tuple[int | None, dict[str, object]]]
BEHIND, NOT_REPLICATED, HELD = 2_400, 17, 6


def sampled_at(story_ms: int, minutes: float) -> int:
    """The moment of a round, so many minutes before the story ends."""
    return story_ms - round(minutes * cluster.MINUTE_MS) - 1_000


def samples(times: "cluster.Times") -> dict[str, list[dict[str, object]]]:
    tables: dict[str, list[dict[str, object]]] = {"partition_offsets": [], "replica_offsets": []}
    for tick in range(times.ticks):
        at = times.start_ms + (tick + 1) * cluster.STEP_MS - 1_000
        for partition in range(PARTITIONS):
            if partition == 4 and at == sampled_at(times.story_ms, 6):
                continue
            tables["partition_offsets"].append(_offsets(partition, tick, at, times.story_ms))
            tables["replica_offsets"].extend(_log_ends(partition, tick, at, times.story_ms))
    return tables


def _offsets(partition: int, tick: int, at: int, story_ms: int) -> dict[str, object]:
    row = {
        "cluster_id": cluster.CLUSTER_ID, "tick": tick, "topic": SHIPMENTS, "topic_id": SHIPMENTS_ID,
        "partition": partition, "log_start_observed_at": at - 60, "requested_at": at - 20, "observed_at": at,
    }  # fmt: skip
    state = _state_at(partition, at, story_ms)
    if state["leader"] is None:
        names = ("log_start_offset", "last_stable_offset", "high_watermark", "leader_epoch")
        return row | {f"{name}_unknown": NO_LEADER for name in names}
    high_watermark = cluster.BASE_OFFSET + 10 * tick
    return row | {
        "log_start_offset": cluster.BASE_OFFSET - 100,
        "last_stable_offset": high_watermark - (HELD if partition == 4 else 0), "high_watermark": high_watermark,
        "leader_epoch": state["leader_epoch"], "broker": state["leader"],
    }  # fmt: skip


def _log_ends(partition: int, tick: int, at: int, story_ms: int) -> Iterator[dict[str, object]]:
    state = _state_at(partition, at, story_ms)
    for replica in (1, 2, 3):
        end = cluster.BASE_OFFSET + 10 * tick + NOT_REPLICATED
        is_behind = partition == 4 and replica == 1
        is_silent = partition == 4 and replica == 3 and at > sampled_at(story_ms, 2)
        is_silent |= replica in state.get("offline_replicas", ())
        yield {
            "cluster_id": cluster.CLUSTER_ID, "tick": tick, "topic": SHIPMENTS, "topic_id": SHIPMENTS_ID,
            "partition": partition, "replica": replica,
            "log_end_offset": None if is_silent else end - BEHIND if is_behind else end,
            "log_end_offset_unknown": NO_ANSWER if is_silent else None,
            "leader_epoch": None if is_silent else state["leader_epoch"],
            "leader_epoch_unknown": NO_ANSWER if is_silent else None,
            "requested_at": at + 10, "observed_at": at + 20 + replica,
        }  # fmt: skip


def states(times: "cluster.Times") -> Iterator[dict[str, object]]:
    for partition in range(PARTITIONS):
        yield from _intervals(_phases(partition, times.story_ms), times, SHIPMENTS, SHIPMENTS_ID, partition)
    missing = {"leader": 1, "leader_epoch": 2, "in_sync_replicas": [1, 2], "min_insync_replicas": None}
    yield from _intervals([(None, missing)], times, RETURNS, RETURNS_ID, 0)


def _phases(partition: int, story_ms: int) -> Phases:
    """(first sample, what differs) of each state; the first one has lasted since before."""

    def since(minutes: float) -> int:
        return sampled_at(story_ms, minutes)

    well = {"leader": 1, "leader_epoch": 3, "in_sync_replicas": [1, 2, 3]}
    eligible = {"eligible_leader_replicas": [3], "last_known_eligible_leader_replicas": []}
    return {
        0: [(None, well), (since(7), well | {"leader": 2, "leader_epoch": 4})],
        1: [(None, well), (since(4), well | {"in_sync_replicas": [1]}), (since(4) + 40_000, well)],
        2: [
            (None, well | {"leader": 3, "leader_epoch": 5}),
            (since(7), {"leader": 3, "leader_epoch": 5, "in_sync_replicas": [3]}),
            (since(6), {"leader": None, "leader_epoch": 6, "in_sync_replicas": [3]}),
            (since(6) + 20_000, {"leader": 1, "leader_epoch": 7, "in_sync_replicas": [1]}),
            (since(2), {"leader": 1, "leader_epoch": 7, "in_sync_replicas": [1, 2]}),
        ],
        3: [
            (None, well),
            (since(5), well | {"in_sync_replicas": [1]} | eligible),
            (since(3), {"leader": None, "leader_epoch": 4, "in_sync_replicas": [], "offline_replicas": [1, 3],
                        "eligible_leader_replicas": [1, 3], "last_known_eligible_leader_replicas": [1]}),
        ],
        4: [(None, {"leader": 2, "leader_epoch": 3, "in_sync_replicas": [2, 3]})],
        5: [(None, well)],
    }[partition]  # fmt: skip


def _intervals(
    phases: Phases, times: "cluster.Times", topic: str, topic_id: str, partition: int
) -> Iterator[dict[str, object]]:
    starts = [times.start_ms if at is None else at for at, _ in phases] + [None]
    for number, (_, state) in enumerate(phases):
        start, end = starts[number], starts[number + 1]
        ended = {}
        if end is not None:
            ended = {"last_seen_at": end - cluster.STEP_MS, "ended_before": end, "ended_reason": "changed"}
        yield {
            "cluster_id": cluster.CLUSTER_ID, "topic": topic, "topic_id": topic_id, "partition": partition,
            "replicas": [1, 2, 3], "offline_replicas": [], "min_insync_replicas": 2, **state, "started_at": start,
            "started_after": start - cluster.STEP_MS if number else None, "last_seen_at": times.end_ms - 1_000, **ended,
        }  # fmt: skip


def _state_at(partition: int, at: int, story_ms: int) -> dict[str, object]:
    return [state for start, state in _phases(partition, story_ms) if start is None or start <= at][-1]


def events(story_ms: int) -> list[FindingEvent]:
    finding = unclean(story_ms)
    return [FindingEvent(Change.OPENED, finding.happened_at_ms + 1_000, finding)]


def unclean(story_ms: int) -> Finding:
    at = sampled_at(story_ms, 6) + 20_000
    return Finding(
        kind=Kind.UNCLEAN_ELECTION,
        place=Place(cluster.CLUSTER_ID, SHIPMENTS, SHIPMENTS_ID, 2, None),
        anchor="leader epoch 7",
        severity=2,
        title="Broker 1 became leader of shipments-2, not in sync when last seen",
        statements=(
            Statement(
                Grade.PROBABLE,
                "Broker 1 leads shipments-2 in epoch 7; in epoch 6 the in-sync replicas were [3]: an unclean election.",
                "the in-sync replicas did not change between that sample and the election",
            ),
        ),
        bounds=None,
        evidence={"leader_before": None, "leader": 1, "leader_epoch_before": 6, "leader_epoch": 7,
                  "in_sync_replicas_before": [3], "in_sync_replicas": [1], "is_cut": None},
        happened_at_ms=at,
        last_seen_at_ms=story_ms - 5_000,
    )  # fmt: skip


def add(log: SegmentLog, times: "cluster.Times") -> None:
    """Write the story."""
    for table, rows in samples(times).items():
        log.append(table, rows)
    log.append("partition_state", list(states(times)))
    cluster.append_events(log, events(times.story_ms))
