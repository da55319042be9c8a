"""Share groups, members, brokers, controllers and log directories as rows of tables."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dashboard import wording
from dashboard.asked_seldom import ROUNDS_BACK
from dashboard.memberships import member_name, owned
from dashboard.names import cut
from dashboard.view import View

Row = Mapping[str, Any]

NO_ANSWER_TELLS = (
    "What became of a record is in no answer that Tidemark may ask for: a rejected or given-up one moves the start "
    "offset like an accepted one, and how often records were delivered is not told. Lag counts offsets up to the high "
    "watermark that are not done with."
)

MOST_NAMED = 20  # brokers, in a sentence

SHARE_HELP = {
    "Lag, offsets": "To the high watermark, over the partitions whose lag is known",
    "Unknown": "Partitions whose lag is not known: it is in no sum",
}


def share_row(row: Row, states: Mapping[str, Row]) -> dict[str, object]:
    state = states.get(row["group_id"], {})
    return {
        "Group": cut(row["group_id"]),
        "Topic": cut(row["topic"] or "–"),
        "State": state.get("state") or "unknown",
        "Members": state.get("members"),
        "Lag, offsets": row["lag"],
        "Partitions": row["partitions"],
        "Not started": row["not_started"],
        "Unknown": row["unknown"],
        "Unknown because": cut(row["unknown_reason"] or "–", 120),
    }


def member_row(row: Row) -> dict[str, object]:
    tasks, target = _tasks(row["tasks"]), _tasks(row["target_tasks"])
    return {
        "State": "▲ Not followed yet" if row["is_behind"] else row["state"],
        "Group": cut(row["group_id"]),
        "Type": row["group_type"],
        "Epochs": _epochs(row),
        "Member": member_name(row),
        "Instance": cut(row["group_instance_id"] or "–", 40),
        "Host": cut(row["host"] or "–", 40),
        "Rack": cut(row["rack"] or "–", 40),
        "Process": cut(row["process_id"] or "–", 16),
        "Holds": cut(owned(row["assignment"]), 120),
        "Is to hold": _target(row),
        "Standby": _listed(tasks, target, "standby"),
        "Warm-up": _listed(tasks, target, "warm_up"),
    }


def _epochs(row: Row) -> str:
    """`member 4 of group 5, target 5`; classic groups have none."""
    if row["group_epoch"] is None:
        return "–"
    return f"member {row['member_epoch']} of group {row['group_epoch']}, target {row['assignment_epoch']}"


def _target(row: Row) -> str:
    """Classic and share groups have no target that anybody tells."""
    if row["target_assignment"] is None:
        return "–"
    return "the same" if row["target_assignment"] == row["assignment"] else cut(owned(row["target_assignment"]), 120)


def _tasks(text: str | None) -> Mapping[str, Sequence[Sequence[object]]]:
    return {} if text is None else json.loads(text)


def _listed(
    tasks: Mapping[str, Sequence[Sequence[object]]], target: Mapping[str, Sequence[Sequence[object]]], kind: str
) -> str:
    """`0_1, 0_2` as Kafka Streams writes tasks; what it is to have instead after an arrow."""
    if not tasks:
        return "–"
    now, then = (", ".join(f"{name}_{number}" for name, number in of.get(kind, ())) for of in (tasks, target))
    return cut((now or "none") if now == then else f"{now or 'none'} → {then or 'none'}", 120)


def broker_row(row: Row) -> dict[str, object]:
    service = {False: "in service", True: "▲ fenced: registered, not in service", None: "in service"}
    return {
        "Broker": row["broker"],
        "Address": cut(f"{row['host']}:{row['port']}", 120),
        "Rack": cut(row["rack"] or "none", 40),
        "State": service[row["is_fenced"]],
    }


def quorum_row(row: Row, view: View) -> dict[str, object]:
    leads = row["replica"] == row["controller"]
    behind = _behind(row)
    return {
        "Node": row["replica"],
        "Role": "leads" if leads else "votes" if row["is_voter"] else "observes",
        "Behind, records": behind,
        "Last caught up": "–" if row["last_caught_up_at_ms"] is None else wording.age(
            row["last_caught_up_at_ms"], view.to_ms
        ),
    }  # fmt: skip


def _behind(row: Row) -> int | None:
    end, own = row["controller_log_end_offset"], row["log_end_offset"]
    return None if end is None or own is None else max(0, end - own)


def directory_row(row: Row) -> dict[str, object]:
    used = None
    if row["total_bytes"] and row["usable_bytes"] is not None:
        used = f"{100 * (1 - row['usable_bytes'] / row['total_bytes']):.0f} %"
    return {
        "State": "readable" if row["unreadable"] is None else f"▲ {cut(row['unreadable'], 120)}",
        "Broker": row["broker"],
        "Directory": cut(row["log_dir"] or "–", 120),
        "Volume used": used or "–",
        "Left, bytes": row["usable_bytes"],
        "Replicas": row["replicas"],
        "Stored, bytes": row["size_bytes"],
        "Behind": None if row["behind"] == 0 and row["behind_unknown"] else row["behind"],
        "Moving": row["moving"],
    } | ({"Behind unknown": row["behind_unknown"]} if row["behind_unknown"] else {})


def silent(assigned: Iterable[Row], directories: Iterable[Row]) -> str:
    """Of which brokers with replicas no answer is new enough to be shown, in Markdown; empty where there is none."""
    missing = sorted({row["broker"] for row in assigned} - {row["broker"] for row in directories})
    if not missing:
        return ""
    named = ", ".join(map(str, missing[:MOST_NAMED]))
    more = f" and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
    stores = f"broker {named} stores" if len(missing) == 1 else f"brokers {named}{more} store"
    return f":gray-badge[? Unknown] What {stores}: no answer of the last {ROUNDS_BACK} rounds tells of it."


def replica_row(row: Row) -> dict[str, object]:
    return {
        "Partition": cut(f"{row['topic']}-{row['partition']}"),
        "Broker": row["replica"],
        "State": "moves here from another directory" if row["is_future"] else "stored",
        "Bytes": row["size_bytes"],
        "Behind, offsets": row["offset_lag"],
        "Unknown because": cut(row["offset_lag_unknown"] or "–", 80),
        "Directory": cut(row["log_dir"], 120),
    }


def features(rows: Sequence[Row]) -> str:
    """`metadata.version 29, transaction.version 2`."""
    return ", ".join(f"{cut(row['feature'], 60)} {row['level']}" for row in rows)
