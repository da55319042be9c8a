"""A believable cluster in a store, written through the store's own API. The end of the story is an argument.

Twenty minutes of rounds: a declared pipeline that lost and duplicated records, a transactional one that waits behind an
open transaction, a quiet one, a group Tidemark may not read, and one whose names try to break the page.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.lifecycle import Change, FindingEvent
from guarantees.observations import Signal
from store.findings import append_events
from store.log import SegmentLog
from store.maintenance import roll_up
from store.metrics import METRICS_FILE, MetricsWriter
from store.segments import producer_name
from tests.dashboard import story_handling, story_replication, story_transactions

CLUSTER_ID = "tK9mXbT4Qw2hYb1Zr0abcA"
STEP_MS = 5_000
MINUTE_MS = 60_000
REFUSED = "not permitted: GROUP_AUTHORIZATION_FAILED (30)"
HOSTILE = "<img src=x onerror=alert(1)> **bold** [link](http://example.org) :red[x] $x^2$ \u202egnp " + "long " * 30


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    topic_id: str
    partitions: int
    per_tick: int


@dataclass(frozen=True, slots=True)
class Group:
    group_id: str
    topic: Topic
    members: int
    lag: int
    group_type: str = "classic"
    refused: bool = False


ORDERS = Topic("orders", "u1ZqQk3nRrO0m2l5xUoYxw", 6, 40)
PAYMENTS = Topic("payments", "h7Gd0bWcS9aVdYtJq3p1Vg", 6, 40)
INVOICES = Topic("invoices", "Zb2kNw8vT3iR6yUeLq9xPA", 3, 9)
AUDIT = Topic("audit-log", "aa4Rt6Yu8Io0Pa2Sd4Fg6H", 1, 1)
STRANGE = Topic(HOSTILE, "zz9xWv7uTs5rQp3oNm1lKj", 2, 3)
TOPICS = (ORDERS, PAYMENTS, INVOICES, AUDIT, STRANGE)
GROUPS = (
    Group("order-service", ORDERS, 3, 120),
    Group("invoice-writer", INVOICES, 2, 4, "consumer"),
    Group("audit-archiver", AUDIT, 1, 0),
    Group("reporting", ORDERS, 0, 0, refused=True),
    Group(HOSTILE, STRANGE, 1, 7),
)
BASE_OFFSET = 9_007_199_254_740_993  # above 2^53: a browser that makes it a number loses the last digit


@dataclass(frozen=True, slots=True)
class Times:
    """Rounds run from start to end; the story's last event is at `story_ms`, after which nothing happens."""

    start_ms: int
    story_ms: int
    end_ms: int

    @property
    def ticks(self) -> int:
        return (self.end_ms - self.start_ms) // STEP_MS


def build(data_dir: Path, story_ms: int, *, minutes: int = 20, quiet_minutes: int = 0) -> None:
    """Write the story and, after it, as many quiet minutes: a test that takes long still finds fresh rounds."""
    times = Times(story_ms - minutes * MINUTE_MS, story_ms, story_ms + quiet_minutes * MINUTE_MS)
    log = SegmentLog(data_dir, producer_name("host-1", "collect"))
    for table, rows in (_samples(times) | _intervals(times)).items():
        log.append(table, rows)
    story_transactions.write(log, CLUSTER_ID, times.start_ms, story_ms, times.end_ms)
    log.append("part_events", list(_parts(times.start_ms)))
    append_events(log, events(story_ms))
    story_replication.add(log, times)
    log.close()
    roll_up(data_dir, story_ms)
    _metrics(data_dir, story_ms)
    from tests.dashboard import story_audit  # which tells the story on, and so imports this module

    story_audit.extend(data_dir, times)
    story_handling.build(data_dir, rewind(story_ms), HOSTILE)


def append(data_dir: Path, table: str, rows: Sequence[dict[str, object]]) -> None:
    """More of what the story's collector saw."""
    log = SegmentLog(data_dir, producer_name("host-1", "collect"))
    log.append(table, rows)
    log.close()


def events(end_ms: int) -> list[FindingEvent]:
    """The findings of the story as events: opened, some updated, one closed."""
    opened = [FindingEvent(Change.OPENED, finding.happened_at_ms + 6_000, finding) for finding in findings(end_ms)]
    rewind = opened[3].finding
    closed = replace(rewind, closed_reason="the commit passed the old offset again", last_seen_at_ms=end_ms - 300_000)
    return [*opened, FindingEvent(Change.CLOSED, end_ms - 300_000, closed)]


def findings(end_ms: int) -> list[Finding]:
    told = [lost(end_ms), duplicates(end_ms), frozen(end_ms), rewind(end_ms), redelivery(end_ms)]
    return [*told, *story_transactions.findings(CLUSTER_ID, end_ms)]


def lost(end_ms: int) -> Finding:
    at = end_ms - 9 * MINUTE_MS
    return Finding(
        kind=Kind.LOST_WRITE,
        place=_place(ORDERS, 2, "order-service"),
        anchor=f"orders-to-payments:{BASE_OFFSET + 1200}",
        severity=4,
        title="41 message ids of orders-2 never reached payments",
        statements=(
            Statement(
                Grade.PROVEN,
                "41 sampled ids were passed by the commit of order-service and are in no partition of payments, "
                "read up to its stable offset.",
            ),
            Statement(
                Grade.PROBABLE,
                "The records were not processed: order-service committed before it produced.",
                "the pipeline writes one sink record for each source record under the same id",
            ),
        ),
        bounds=Bounds(38, 41, 44, Unit.MESSAGE_IDS),
        evidence={
            "pipeline": "orders-to-payments",
            "source": {"topic": "orders", "partition": 2, "first_lost_offset": BASE_OFFSET + 1200,
                       "last_lost_offset": BASE_OFFSET + 1262},
            "commit_passed_at_ms": at,
            "sink_read_to": [[0, BASE_OFFSET + 5000], [1, BASE_OFFSET + 5010]],
            "settle_s": 30.0,
            "sampling_rate": 1.0,
            "examples": [
                {"message_id": "order-000123", "offset": BASE_OFFSET + 1200, "observed_at_ms": at - 4000,
                 "passed_at_ms": at},
                {"message_id": HOSTILE, "offset": BASE_OFFSET + 1201, "observed_at_ms": at - 4000, "passed_at_ms": at},
            ],
        },
        happened_at_ms=at,
        last_seen_at_ms=end_ms - 8_000,
        pipeline="orders-to-payments",
    )  # fmt: skip


def duplicates(end_ms: int) -> Finding:
    at = end_ms - 6 * MINUTE_MS
    first = {"partition": 4, "offset": BASE_OFFSET + 900, "producer_id": 7001, "producer_epoch": 0, "sequence": 90,
             "timestamp_ms": at - 21_000}  # fmt: skip
    last = {"partition": 4, "offset": BASE_OFFSET + 1312, "producer_id": 7014, "producer_epoch": 0, "sequence": 0,
            "timestamp_ms": at - 1_000}  # fmt: skip
    return Finding(
        kind=Kind.DUPLICATE_WRITE,
        place=_place(ORDERS, 4, None),
        anchor="other_producer_id:7014:0",
        severity=3,
        title="128 records of orders-4 stored twice by another producer",
        statements=(
            Statement(Grade.PROVEN, "The same message ids are stored at two offsets under two producer ids."),
            Statement(
                Grade.PROBABLE,
                "A producer restarted without a transactional id and sent again what had been acknowledged.",
                "both producers are instances of one application",
            ),
        ),
        bounds=Bounds(128, 128, 128, Unit.RECORDS),
        evidence={
            "cause": "other_producer_id",
            "first_producer_ids": [7001],
            "producer_id": 7014,
            "producer_epoch": 0,
            "first_copy_offset": BASE_OFFSET + 1312,
            "last_copy_offset": BASE_OFFSET + 1439,
            "horizon_s": 3600.0,
            "sampling_rate": 1.0,
            "examples": [{"message_id": "order-000456", "first": first, "last": last}],
        },
        happened_at_ms=at,
        last_seen_at_ms=end_ms - 5_000,
    )


def frozen(end_ms: int) -> Finding:
    at = end_ms - 70_000
    return Finding(
        kind=Kind.STABLE_OFFSET_FROZEN,
        place=_place(INVOICES, 1, None),
        anchor=f"8123:4:{BASE_OFFSET + 77}",
        severity=2,
        title="The stable offset of invoices-1 has not moved for 70 s",
        statements=(
            Statement(Grade.PROVEN, "An open transaction of producer 8123 holds the last stable offset."),
        ),
        bounds=Bounds(70, 70, 70, Unit.SECONDS),
        evidence={"transactional_id": "invoice-tx-1", "producer_id": 8123, "producer_epoch": 4,
                  "current_transaction_start_offset": BASE_OFFSET + 77, "last_stable_offset": BASE_OFFSET + 77,
                  "high_watermark": BASE_OFFSET + 140, "timeout_ms": 60_000, "blocked_groups": ["invoice-writer"]},
        happened_at_ms=at,
        last_seen_at_ms=end_ms - 5_000,
    )  # fmt: skip


def rewind(end_ms: int) -> Finding:
    at = end_ms - 11 * MINUTE_MS
    return Finding(
        kind=Kind.REWIND,
        place=_place(ORDERS, 0, "order-service"),
        anchor=str(BASE_OFFSET + 640),
        severity=3,
        title="order-service went back 40 offsets on orders-0",
        statements=(
            Statement(Grade.PROVEN, "The committed offset fell; the records in between may be read again."),
            Statement(Grade.PROBABLE, "40 records are delivered again.", "the consumer did not seek forward"),
        ),
        bounds=Bounds(0, 40, 40, Unit.OFFSETS),
        evidence={"committed_offset_before": BASE_OFFSET + 640, "committed_offset_after": BASE_OFFSET + 600},
        happened_at_ms=at,
        last_seen_at_ms=at,
        pipeline="orders-to-payments",
    )


def redelivery(end_ms: int) -> Finding:
    at = end_ms - 8 * MINUTE_MS
    return Finding(
        kind=Kind.POSSIBLE_REDELIVERY,
        place=_place(ORDERS, 2, "order-service"),
        anchor="order-service-1:2",
        severity=2,
        title="A member of order-service left and orders-2 moved",
        statements=(Statement(Grade.POSSIBLE, "Up to 260 records may be delivered again."),),
        bounds=Bounds(0, None, 260, Unit.RECORDS),
        evidence={"left": ["order-service-1-9a1b"], "owner_before": "order-service-1-9a1b",
                  "owner_after": "order-service-2-77f0", "committed_offset": BASE_OFFSET + 1500},
        happened_at_ms=at,
        last_seen_at_ms=at,
        pipeline="orders-to-payments",
    )  # fmt: skip


def _place(topic: Topic, partition: int, group_id: str | None) -> Place:
    return Place(CLUSTER_ID, topic.name, topic.topic_id, partition, group_id)


def _samples(times: Times) -> dict[str, list[dict[str, object]]]:
    tables: dict[str, list[dict[str, object]]] = {
        "rounds": [], "partition_offsets": [], "committed_offsets": [], "rebalances": [],
    }  # fmt: skip
    for tick in range(times.ticks):
        at = times.start_ms + (tick + 1) * STEP_MS - 1_000
        tables["rounds"].extend(round_rows(tick, at))
        tables["partition_offsets"].extend(_offsets(tick, at))
        tables["committed_offsets"].extend(row for group in GROUPS for row in _commits(group, tick, at, times))
    tables["rebalances"] = list(_rebalances(times.story_ms))
    return tables


def round_rows(tick: int, at: int) -> Iterator[dict[str, object]]:
    for number, signal in enumerate(Signal):
        refused = 6 if signal is Signal.COMMITTED_OFFSETS else 0
        yield {
            "cluster_id": CLUSTER_ID, "cluster": "production", "tick": tick, "signal": signal.value,
            "started_at": at - 80 + 10 * number, "observed_at": at, "asked": 18, "answered": 18 - refused,
            "refused": refused, "failed": 0, "error": REFUSED if refused else None, "interval_ms": STEP_MS,
        }  # fmt: skip


def _offsets(tick: int, at: int) -> Iterator[dict[str, object]]:
    for topic in TOPICS:
        for partition in range(topic.partitions):
            high_watermark = BASE_OFFSET + topic.per_tick * tick
            is_held = topic is INVOICES and partition == 1
            stable = min(high_watermark, BASE_OFFSET + 77) if is_held else high_watermark
            yield {
                "cluster_id": CLUSTER_ID, "tick": tick, "topic": topic.name, "topic_id": topic.topic_id,
                "partition": partition, "log_start_offset": BASE_OFFSET - 4000, "last_stable_offset": stable,
                "high_watermark": high_watermark, "leader_epoch": 3, "broker": partition % 3 + 1,
                "log_start_observed_at": at - 60, "requested_at": at - 20, "observed_at": at,
            }  # fmt: skip


def lag_of(group: Group, partition: int, tick: int, minutes_left: float) -> int:
    """Mostly a little; two partitions of order-service pile up while nobody owns them."""
    if group.topic is ORDERS and partition in (2, 3) and 5 < minutes_left < 9:
        return round(1_800 * (1 - abs(minutes_left - 7) / 2)) + group.lag
    return (group.lag + 7 * partition + tick % 5) if group.lag else 0


def _commits(group: Group, tick: int, at: int, times: Times) -> Iterator[dict[str, object]]:
    minutes_left = (times.story_ms - at) / MINUTE_MS
    for partition in range(group.topic.partitions):
        committed = BASE_OFFSET + group.topic.per_tick * tick - lag_of(group, partition, tick, minutes_left)
        never = group.topic is STRANGE and partition == 1
        yield {
            "cluster_id": CLUSTER_ID, "tick": tick, "group_id": group.group_id, "topic": group.topic.name,
            "topic_id": group.topic.topic_id, "partition": partition,
            "committed_offset": None if group.refused or never else committed,
            "committed_offset_unknown": REFUSED if group.refused else "no commit" if never else None,
            "is_pending": False, "broker": 1, "requested_at": at - 50, "observed_at": at - 40,
        }  # fmt: skip


def _rebalances(story_ms: int) -> Iterator[dict[str, object]]:
    for minutes, joined, left, cause in (
        (8, [], ["order-service-1-9a1b"], "1 member left (by timeout, crash or request: not observable)"),
        (5, ["order-service-3-c0de"], [], "1 member joined"),
    ):
        at = story_ms - minutes * MINUTE_MS
        moved = [["orders", 2, *(left or ["order-service-2-77f0"]), *(joined or ["order-service-2-77f0"])]]
        yield {
            "cluster_id": CLUSTER_ID, "group_id": "order-service", "tick": 0, "changed_after": at - STEP_MS,
            "observed_at": at, "joined": json.dumps(joined), "left": json.dumps(left), "moved": json.dumps(moved),
            "cause": cause, "group_epoch": None,
        }  # fmt: skip


def _intervals(times: Times) -> dict[str, list[dict[str, object]]]:
    return {
        "partition_state": list(_states(times)),
        "group_state": list(_group_states(times)),
        "group_members": list(_members(times)),
        "open_transactions": list(_transactions(times)),
        "open_producers": list(_producers(times)),
    }


def _running(start_ms: int, end_ms: int) -> dict[str, object]:
    return {"started_at": start_ms, "last_seen_at": end_ms - 1_000}


def _states(times: Times) -> Iterator[dict[str, object]]:
    for topic in TOPICS:
        for partition in range(topic.partitions):
            leader = partition % 3 + 1
            replicas = [leader, leader % 3 + 1, (leader + 1) % 3 + 1]
            shrunk = topic is PAYMENTS and partition == 5
            state = {
                "cluster_id": CLUSTER_ID, "topic": topic.name, "topic_id": topic.topic_id, "partition": partition,
                "leader": leader, "leader_epoch": 3, "replicas": replicas,
                "in_sync_replicas": replicas[:2] if shrunk else replicas, "offline_replicas": [],
                "min_insync_replicas": 2,
            }  # fmt: skip
            if topic is ORDERS and partition == 0:
                moved_at = times.story_ms - 7 * MINUTE_MS
                yield state | {"leader": 2, "leader_epoch": 2, "started_at": times.start_ms, "last_seen_at": moved_at,
                               "ended_before": moved_at + STEP_MS, "ended_reason": "leader changed"}  # fmt: skip
                yield state | _running(moved_at + STEP_MS, times.end_ms)
            else:
                yield state | _running(times.start_ms, times.end_ms)


def _group_states(times: Times) -> Iterator[dict[str, object]]:
    for group in GROUPS:
        known = {"cluster_id": CLUSTER_ID, "group_id": group.group_id, "group_type": group.group_type, "coordinator": 1}
        if group.refused:
            yield known | {"group_type": None, "state_unknown": REFUSED, **_running(times.start_ms, times.end_ms)}
            continue
        if group.topic is not ORDERS:
            yield known | {"state": "Stable", "members": group.members, **_running(times.start_ms, times.end_ms)}
            continue
        cut_ms = times.story_ms - 8 * MINUTE_MS
        yield known | {"state": "Stable", "members": 3, "started_at": times.start_ms, "last_seen_at": cut_ms - STEP_MS,
                       "ended_before": cut_ms, "ended_reason": "state changed"}  # fmt: skip
        yield known | {"state": "PreparingRebalance", "members": 2, "started_at": cut_ms,
                       "last_seen_at": cut_ms + 3 * STEP_MS, "ended_before": cut_ms + 4 * STEP_MS,
                       "ended_reason": "state changed"}  # fmt: skip
        yield known | {"state": "Stable", "members": 3, **_running(cut_ms + 4 * STEP_MS, times.end_ms)}


def _members(times: Times) -> Iterator[dict[str, object]]:
    died, came = times.story_ms - 8 * MINUTE_MS, times.story_ms - 5 * MINUTE_MS
    yield _member("order-service", "order-service-0-11aa", [["orders", 0], ["orders", 1]]) | _running(
        times.start_ms, times.end_ms
    )
    yield _member("order-service", "order-service-1-9a1b", [["orders", 2], ["orders", 3]]) | {
        "started_at": times.start_ms, "last_seen_at": died - STEP_MS, "ended_before": died, "ended_reason": "left",
    }  # fmt: skip
    yield _member("order-service", "order-service-2-77f0", [["orders", 4], ["orders", 5]]) | {
        "started_at": times.start_ms, "last_seen_at": died - STEP_MS, "ended_before": died, "ended_reason": "changed",
    }  # fmt: skip
    yield _member("order-service", "order-service-2-77f0", [["orders", number] for number in (2, 3, 4, 5)]) | {
        "started_at": died, "last_seen_at": came - STEP_MS, "ended_before": came, "ended_reason": "changed",
    }  # fmt: skip
    yield _member("order-service", "order-service-2-77f0", [["orders", 4], ["orders", 5]]) | _running(
        came, times.end_ms
    )
    yield _member("order-service", "order-service-3-c0de", [["orders", 2], ["orders", 3]]) | _running(
        came, times.end_ms
    )
    yield _member("invoice-writer", "iw-0", [["invoices", 0], ["invoices", 1], ["invoices", 2]]) | _running(
        times.start_ms, times.end_ms
    )
    yield _member(HOSTILE, HOSTILE, [[HOSTILE, 0]]) | _running(times.start_ms, times.end_ms)


def _member(group_id: str, member_id: str, assignment: Sequence[Sequence[object]]) -> dict[str, object]:
    return {"cluster_id": CLUSTER_ID, "group_id": group_id, "member_id": member_id, "client_id": group_id[:40],
            "host": "/10.0.3.17", "assignment": json.dumps(assignment)}  # fmt: skip


def _transactions(times: Times) -> Iterator[dict[str, object]]:
    yield {
        "cluster_id": CLUSTER_ID, "transactional_id": "invoice-tx-1", "producer_id": 8123, "producer_epoch": 4,
        "state": "Ongoing", "timeout_ms": 60_000, "transaction_started_at": times.story_ms - 70_000,
        "partitions": json.dumps([["invoices", 1]]), "coordinator": 2,
        **_running(times.story_ms - 68_000, times.end_ms),
    }  # fmt: skip


def _producers(times: Times) -> Iterator[dict[str, object]]:
    yield {
        "cluster_id": CLUSTER_ID, "topic": "invoices", "topic_id": INVOICES.topic_id, "partition": 1,
        "producer_id": 8123, "producer_epoch": 4, "current_transaction_start_offset": BASE_OFFSET + 77,
        "last_sequence": 12, "last_timestamp": times.story_ms - 69_000, "coordinator_epoch": 1,
        **_running(times.story_ms - 68_000, times.end_ms),
    }  # fmt: skip


def _parts(start_ms: int) -> Iterator[dict[str, object]]:
    for number, part in enumerate(("collect", "maintain", "jobs", "page")):
        yield {"part": part, "observed_at": start_ms - 9_000 + number, "event": "started", "pid": 4000 + number,
               "restarts": 0, "message": f"{part} started"}  # fmt: skip


def _metrics(data_dir: Path, end_ms: int) -> None:
    writer = MetricsWriter(data_dir / METRICS_FILE)
    with writer.transaction() as metrics:
        metrics.replace("ledger", [_range(topic, end_ms) for topic in (ORDERS, PAYMENTS)])
        metrics.replace("losses", [{
            "pipeline": "orders-to-payments", "cluster_id": CLUSTER_ID, "topic": "orders",
            "topic_id": ORDERS.topic_id, "partition": 2, "judged_from": BASE_OFFSET, "judged_to": BASE_OFFSET + 6000,
            "ids_judged": 6000, "ids_unseen": 12, "ids_lost": 41, "ids_late": 3, "estimate": 41, "lower": 38,
            "upper": 44, "sampling_rate": 1.0, "settle_s": 30.0, "sink_read_to": "[]", "run_id": "r1",
            "observed_at": end_ms - 6_000,
        }])  # fmt: skip
        metrics.replace("job_runs", [{
            "run_id": "r1", "job": "live", "pipeline": "orders-to-payments", "started_at": end_ms - 8_000,
            "ended_at": end_ms - 6_000, "state": "done", "ranges": 12, "records": 480, "backlog": 0,
            "observed_at": end_ms - 6_000,
        }])  # fmt: skip
    writer.close()


def _range(topic: Topic, end_ms: int) -> dict[str, object]:
    return {
        "cluster_id": CLUSTER_ID, "topic": topic.name, "topic_id": topic.topic_id, "partition": 0,
        "first_offset": BASE_OFFSET, "next_offset": BASE_OFFSET + 9000, "records": 9000, "records_without_id": 0,
        "aborted_records": 0, "markers": 0, "sampled": 9000, "sampling_rate": 1.0, "state": "complete",
        "run_id": "r1", "observed_at": end_ms - 6_000,
    }  # fmt: skip


SETTINGS = """
[[clusters]]
name = "production"
bootstrap_servers = "127.0.0.1:9092"

[store]
data_dir = "data"
"""
PIPELINES = """
[[pipelines]]
name = "orders-to-payments"
cluster = "production"
source = "orders"
group = "order-service"
sink = "payments"
promise = "at_least_once"
id = { header = "message-id" }
rate = 1.0
settle_s = 30.0

[[pipelines]]
name = "invoices"
cluster = "production"
source = "invoices"
group = "invoice-writer"
promise = "exactly_once"

[[pipelines]]
name = "reports"
cluster = "production"
source = "orders"
group = "reporting"
"""


def write_settings(folder: Path, *, with_pipelines: bool = True) -> Path:
    """A settings file whose data directory is `data` beside it."""
    path = folder / "tidemark.toml"
    path.write_text(SETTINGS + (PIPELINES if with_pipelines else ""))
    (folder / "data").mkdir(exist_ok=True)
    return path
