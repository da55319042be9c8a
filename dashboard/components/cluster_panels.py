"""Panels about share groups, members of every group, brokers and controllers, and what brokers store."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import (
    cached,
    cluster_questions,
    cluster_rows,
    coverage,
    memberships,
    promise_questions,
    queries,
    wording,
)
from dashboard.asked_seldom import asked_last
from dashboard.components import panel, selection, tables
from dashboard.components.panel import Panel
from dashboard.freshness import Freshness
from dashboard.names import in_markdown
from dashboard.view import View
from guarantees.cadence import SELDOM_ROUNDS
from guarantees.observations import Signal

SELDOM_ASKED = f"asked in every {SELDOM_ROUNDS}th round"


def share_groups(view: View) -> None:
    rows = [
        row for row in cached.now(view, cluster_questions.SHARE_GROUPS) if view.finds(row["group_id"], row["topic"])
    ]
    if not rows:
        panel.none_sampled(view, "No share group", "Brokers know them since Kafka 4.1; Health says what was asked for.")
        return
    now = cached.now(view, queries.GROUP_STATES)
    states = {row["group_id"]: row for row in now if row["ended_before_ms"] is None}
    shown = [cluster_rows.share_row(row, states) for row in rows[: tables.ROWS]]
    tables.plain(shown, None, "Share groups and the topics they read, most lag first", cluster_rows.SHARE_HELP)
    tables.left_out(len(rows), len(shown), "share group")
    st.caption(cluster_rows.NO_ANSWER_TELLS)


def members(view: View, followed_by: Sequence[Panel]) -> None:
    """Members of every group to choose from; `followed_by` shows the group of the chosen one."""
    rows = cached.now(view, cluster_questions.MEMBERS_NOW, search=view.search)
    if not rows:
        panel.none_now(view, "No member of a group", "Health says what was asked in the newest round.")
        return
    selection.table(
        "member",
        [memberships.identity(row) for row in rows],
        tables.coloured(pd.DataFrame([cluster_rows.member_row(row) for row in rows]), "State"),
        rerun=[one.fragment_key for one in followed_by],
        parts=("rebalance",),
        height=min(360, 38 + 35 * len(rows)),
        alt="Members of every group now",
    )
    tables.left_out(rows[0]["found"], len(rows), "member", "The search finds a group or a topic.")
    st.caption("A member has followed when it reached its group's epoch and holds what it is to hold. In a share group "
               "several members hold the same partition.")  # fmt: skip


def cluster(view: View) -> None:
    known, brokers = cached.heard(view), cached.now(view, cluster_questions.BROKERS)
    if known is None or not brokers:
        panel.empty("Nothing is known of the cluster's brokers.", "The table above says what was asked for.")
        return
    st.markdown(f"Cluster **{in_markdown(known.cluster_id)}**")
    tables.plain([cluster_rows.broker_row(row) for row in brokers], None, "Registered brokers")
    in_force = cluster_rows.features(cached.now(view, promise_questions.FEATURES))
    st.caption(f"In force: {in_force}." if in_force else "Which features are in force is not known.")


def controllers(view: View) -> None:
    rows = cached.now(view, cluster_questions.QUORUM)
    if not rows:
        panel.unsampled(view, "Nobody told who the controllers are.", "That needs DESCRIBE on the cluster.")
        return
    leader = rows[0]["controller"]
    word = "An election of the controllers is under way" if leader is None else f"Controller **{leader}** leads"
    st.markdown(f"{word}, epoch {rows[0]['controller_epoch']}")
    tables.plain(
        [cluster_rows.quorum_row(row, view) for row in rows], None, "Who has read the cluster's metadata how far"
    )


def stored_age(view: View) -> Freshness:
    return coverage.age_of_seldom(view, Signal.LOG_DIRS)


def stored(view: View) -> None:
    directories = asked_last(view, cluster_questions.LOG_DIRS)
    if not directories:
        remedy = f"That needs DESCRIBE on the cluster; it is {SELDOM_ASKED}."
        panel.unsampled(view, "No broker told what it stores.", remedy)
        return
    tables.plain([cluster_rows.directory_row(row) for row in directories], None, "Log directories of the brokers")
    if unheard := cluster_rows.silent(cached.now(view, cluster_questions.ASSIGNED), directories):
        st.markdown(unheard)
    rows = asked_last(view, cluster_questions.REPLICA_SIZES, search=view.search)
    if rows:
        shown = [cluster_rows.replica_row(row) for row in rows]
        tables.plain(shown, None, "Replicas that move or are behind, then the largest")
        tables.left_out(rows[0]["found"], len(rows), "replica", "The search finds a topic.")
    newest = min(row["observed_at_ms"] for row in directories)
    st.caption(f"{SELDOM_ASKED.capitalize()}; the oldest answer came {wording.age(newest, view.to_ms)}. A replica is "
               "behind against the high watermark its own broker knows.")  # fmt: skip
