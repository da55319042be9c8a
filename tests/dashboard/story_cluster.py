"""What the believable cluster tells about itself: share and Streams groups, brokers, controllers, log directories."""

import json
from pathlib import Path
from typing import Any

from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard.fixture_store import CLUSTER_ID, STEP_MS

SHARE_GROUP, STREAMS_GROUP = "packing-queue", "order-totals"
TOPIC, TOPIC_ID = "orders", "u1ZqQk3nRrO0m2l5xUoYxw"
NOT_STARTED = "not started: no record of the partition is acknowledged yet"
SILENT = "broker 3 did not answer in time"

Row = dict[str, Any]


def samples(cluster_id: str, tick: int, at_ms: int) -> dict[str, list[Row]]:
    """Of the newest round."""
    sampled = {"cluster_id": cluster_id, "tick": tick, "requested_at": at_ms - 5, "observed_at": at_ms}
    shared = sampled | {"group_id": SHARE_GROUP, "topic": TOPIC, "topic_id": TOPIC_ID, "broker": 1}
    stored = sampled | {"topic": TOPIC, "topic_id": TOPIC_ID, "log_dir": "/data/a", "is_future": False}
    voter = sampled | {"controller": 100, "controller_epoch": 7, "high_watermark": 5000, "last_fetch_at": at_ms}
    return {
        "share_offsets": [
            shared | {"partition": 0, "start_offset": 95, "lag": 12},
            shared | {"partition": 1, "start_offset_unknown": NOT_STARTED, "lag_unknown": NOT_STARTED},
            shared | {"partition": 2, "start_offset_unknown": SILENT, "lag_unknown": SILENT},
            shared | {"group_id": "lost-queue", "topic": None, "topic_id": None, "partition": None, "broker": None,
                      "start_offset_unknown": SILENT, "lag_unknown": SILENT},
        ],
        "log_dirs": [
            sampled | {"broker": 1, "log_dir": "/data/a", "total_bytes": 1000, "usable_bytes": 100},
            sampled | {"broker": 2, "log_dir": "/data/a", "unreadable": "the log directory is offline",
                       "total_bytes_unknown": "offline", "usable_bytes_unknown": "offline"},
        ],
        "replica_sizes": [
            stored | {"partition": 0, "replica": 1, "size_bytes": 700, "offset_lag": 0},
            stored | {"partition": 1, "replica": 1, "size_bytes": 200, "offset_lag": 31},
            stored | {"partition": 1, "replica": 1, "size_bytes": 50, "offset_lag": 900, "is_future": True},
        ],
        "controller_quorum": [
            voter | {"replica": 100, "is_voter": True, "log_end_offset": 5000, "last_caught_up_at": at_ms},
            voter | {"replica": 1, "is_voter": False, "log_end_offset": 4990, "last_caught_up_at": at_ms - 9_000},
        ],
    }  # fmt: skip


def intervals(cluster_id: str, start_ms: int, end_ms: int) -> dict[str, list[Row]]:
    lasting = {"cluster_id": cluster_id, "started_at": start_ms, "last_seen_at": end_ms - 1_000}
    group = lasting | {"state": "Stable", "coordinator": 1, "group_epoch": 5, "assignment_epoch": 5}
    member = lasting | {"client_id": "app", "host": "/10.0.0.9", "member_epoch": 5}
    tasks = {"active": [["0", 0]], "standby": [["0", 1]], "warm_up": []}
    return {
        "group_state": [
            group | {"group_id": SHARE_GROUP, "group_type": "share", "members": 2},
            group | {"group_id": STREAMS_GROUP, "group_type": "streams", "members": 1, "topology_epoch": 1},
        ],
        "group_members": [
            member | {"group_id": SHARE_GROUP, "member_id": "share-a", "assignment": '[["orders", 0]]'},
            member | {"group_id": SHARE_GROUP, "member_id": "share-b", "assignment": '[["orders", 0]]'},
            member | {"group_id": STREAMS_GROUP, "member_id": "streams-a", "assignment": '[["orders", 0]]',
                      "target_assignment": '[["orders", 0], ["orders", 1]]', "process_id": "process-a",
                      "member_epoch": 4, "topology_epoch": 1, "tasks": json.dumps(tasks),
                      "target_tasks": json.dumps(tasks | {"active": [["0", 0], ["0", 1]], "standby": []})},
        ],
        "brokers": [
            lasting | {"broker": broker, "host": f"broker-{broker}", "port": 9092, "rack": f"rack-{broker}",
                       "is_fenced": broker == 3}
            for broker in (1, 2, 3)
        ],
        "cluster_features": [
            lasting | {"feature": "transaction.version", "level": 2},
            lasting | {"feature": "metadata.version", "level": 29},
        ],
        "controllers": [lasting | {"controller": 100, "controller_epoch": 7}],
    }  # fmt: skip


def write(data_dir: Path, story_ms: int, end_ms: int) -> None:
    """From a minute before the story ends: samples in every round, intervals that last."""
    log = SegmentLog(data_dir, producer_name("host-1", "cluster"))
    start_ms = story_ms - 60_000
    rounds = [samples(CLUSTER_ID, tick, at_ms) for tick, at_ms in enumerate(range(start_ms, end_ms, STEP_MS))]
    for table in rounds[0]:
        log.append(table, [row for one in rounds for row in one[table]])
    for table, rows in intervals(CLUSTER_ID, start_ms, end_ms).items():
        log.append(table, rows)
    log.close()
