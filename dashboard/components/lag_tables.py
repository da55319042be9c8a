"""Tables of lag: groups to choose from, and the partitions of one group."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import answers, lag_answers, partition_answers, partitions, wording
from dashboard.components import selection, tables
from dashboard.components.panel import Panel
from dashboard.names import cut
from dashboard.view import View
from guarantees.unknown import Unknown

Row = Mapping[str, Any]
PARTITION_ROWS = 300


def groups(
    rows: Sequence[Row],
    found: int,
    trend: Mapping[str, Sequence[int | None]],
    unread_for: Mapping[tuple[str, str], int | None],
    shown_by: Sequence[Panel],
) -> None:
    """One row for each group and topic, of so many found; the sparkline is the group's total over the window."""
    selection.table(
        "group",
        [f"{row['group_id']}" for row in rows],
        _of_groups(rows, trend, unread_for),
        rerun=[one.fragment_key for one in shown_by],
        parts=("partition",),
        height=min(290, 38 + 35 * len(rows)),
        placeholder="–",
        column_config=GROUP_COLUMNS,
        alt="Consumer groups and the topics they read, most lag first",
    )
    _cut(len(rows), found, "groups and topics")


def group_partitions(view: View, group_id: str, shown_by: Panel) -> None:
    """Every offset of each partition, both lags, its owner, and why a number is missing."""
    found, state = answers.found_partitions(view, group_id), partition_answers.newest_state(view, group_id)
    rows, owner = partitions.worst(found, PARTITION_ROWS), partitions.owners(lag_answers.owners(view, group_id), state)
    selection.table(
        "partition",
        [f"{row['topic']}-{row['partition']}" for row in rows],
        _of_partitions(rows, owner, partitions.without_owner(state), answers.unread_by_partition(view, group_id)),
        rerun=shown_by.fragment_key,
        within={"group": group_id},
        placeholder="–",
        column_config=PARTITION_COLUMNS,
        alt="Partitions of the group with every offset",
    )
    _cut(len(rows), len(found), "partitions")


def _of_groups(
    rows: Sequence[Row],
    trend: Mapping[str, Sequence[int | None]],
    unread_for: Mapping[tuple[str, str], int | None],
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Group": [cut(row["group_id"]) for row in rows],
            "Topic": [cut(row["topic"]) for row in rows],
            "Lag": pd.array([row["lag"] for row in rows], dtype="Int64"),
            "Behind": _seconds([unread_for.get((row["group_id"], row["topic"])) for row in rows]),
            "Trend": [trend.get(row["group_id"], []) for row in rows],
            "Partitions": [row["partitions"] for row in rows],
            "No commit": [row["without_commit"] for row in rows],
            "Unknown": [row["unknown"] for row in rows],
            "Unknown because": [cut(row["unknown_reason"] or "") for row in rows],
        }
    )


def _of_partitions(
    rows: Sequence[Row],
    owner: Mapping[tuple[str, int], str],
    nobody: str,
    unread_for: Mapping[tuple[str, int], int | None],
) -> pd.DataFrame:
    """Why a number is missing has a column where one is; `nobody`: what is said where no owner is seen."""
    lags = [partitions.shown_lag(row) for row in rows]
    reasons = [cut(partitions.gaps(row, lag)) for row, lag in zip(rows, lags, strict=True)]
    shown = pd.DataFrame(
        {
            "Partition": [cut(f"{row['topic']}-{row['partition']}") for row in rows],
            "Owner": [cut(owner.get((row["topic"], row["partition"]), nobody)) for row in rows],
        }
    )
    if any(reasons):
        shown["Unknown because"] = reasons
    for label, name in LAGS.items():
        shown[label] = pd.array([_number(getattr(lag, name)) for lag in lags], dtype="Int64")
    waits_ms = [None if row["is_left"] else unread_for.get((row["topic"], row["partition"])) for row in rows]
    behind = _seconds(waits_ms)
    shown.insert(list(shown.columns).index("Ahead"), "Behind", behind)
    for label, name in OFFSETS.items():
        shown[label] = ["–" if row[name] is None else str(row[name]) for row in rows]
    return shown


def _cut(shown: int, every: int, what: str) -> None:
    if shown < every:
        st.caption(
            wording.cut_note(
                shown, every, what, "those of unknown lag, then those with most", "The search finds the others."
            )
        )


LAGS = {"Lag": "lag_hw", "Readable": "lag_lso", "Blocked": "blocked", "Ahead": "ahead", "Purged": "purged"}
OFFSETS = {
    "Committed": "committed_offset",
    "Log start": "log_start_offset",
    "Last stable": "last_stable_offset",
    "High watermark": "high_watermark",
}
GROUP_COLUMNS = {
    "Lag": tables.number("Lag, offsets", "To the high watermark, over the partitions whose lag is known"),
    "Behind": tables.behind("the worst"),
    "Trend": st.column_config.AreaChartColumn("Trend of the group", y_min=0, width=150, help=tables.TREND),
    "Group": st.column_config.TextColumn(width=180),
    "Topic": st.column_config.TextColumn(width=150),
    "Unknown because": st.column_config.TextColumn(width="large"),
}
PARTITION_COLUMNS = {
    "Behind": tables.behind("the"),
    "Lag": tables.number("Lag to high watermark", "What a read_uncommitted consumer can still read"),
    "Readable": tables.number("Lag to last stable", "What a read_committed consumer can read now"),
    "Blocked": tables.number("Blocked", "Offsets held back by an open transaction"),
    "Ahead": tables.number("Ahead", "Committed beyond the end of the log: 0 in every healthy cluster"),
    "Purged": tables.number("Purged", "Offsets removed before the group read them"),
    **{label: tables.digits(label) for label in OFFSETS},
    "Owner": st.column_config.TextColumn(width=210),
    "Unknown because": st.column_config.TextColumn(width=230),
}


def _number(value: int | Unknown) -> int | None:
    return None if isinstance(value, Unknown) else value


def _seconds(waits_ms: Sequence[int | None]) -> Any:
    """Whole seconds; a gap where nothing is known."""
    return pd.array([None if wait_ms is None else wait_ms // 1000 for wait_ms in waits_ms], dtype="Int64")
