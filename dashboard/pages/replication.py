"""Is what was written durable, and can it be read: partitions at risk, one of them in full, and elections."""

import streamlit as st

from dashboard import coverage, replication
from dashboard import replication_answers as answers
from dashboard.components import cluster_panels, overview, panel, replication_figure, replication_tables, tables
from dashboard.components.panel import Panel
from dashboard.view import View
from guarantees.observations import Signal

STATES = (Signal.PARTITION_STATES,)


def at_risk(view: View) -> None:
    counted = answers.totals(view)
    if not counted:
        panel.empty("No partition was seen.", "Health says what was asked for, and what was refused.")
        return
    st.markdown(replication.totals(counted[0]))
    known, left_out = answers.at_risk(view)
    if not known:
        panel.none_seen(view, "No partition", "is in danger, or was", signal=STATES[0])
        return
    unharmed = coverage.age(view, STATES).verdict(view.to_ms)
    replication_tables.at_risk(known, view, answers.gap_ms(view), unharmed, ONE)
    tables.left_out(left_out, 0, "partition")


def one_partition(view: View) -> None:
    replication_figure.draw(view, st.query_params.get("partition"))


def elections(view: View) -> None:
    rows, left_out = answers.elections(view)
    overview.listed(answers.unclean(view), view)
    if not rows:
        panel.none_seen(view, "No partition", "got another leader", panel.look_wider(view), signal=STATES[0])
        return
    replication_tables.elections(rows, left_out, view)
    tables.left_out(left_out, 0, "election")


ONE = Panel("One partition", one_partition, (Signal.PARTITION_STATES, Signal.END_OFFSETS, Signal.REPLICA_OFFSETS))

st.title("Replication", anchor=False)
panel.show(Panel("Partitions at risk, worst first", at_risk, STATES))
panel.show(ONE)
panel.show(Panel("Elections in the window", elections, STATES))
panel.show(Panel("What brokers store", cluster_panels.stored, age_of=cluster_panels.stored_age))
