"""Which transactions hang or abort, and who waits for them."""

import streamlit as st

from dashboard import transaction_answers, transaction_facts
from dashboard.components import fencing_table, outcome_chart, panel, timeline_table, transaction_tables
from dashboard.components.panel import Panel
from dashboard.view import View
from guarantees.observations import Signal

SIGNALS = (Signal.TRANSACTIONS, Signal.PRODUCERS, Signal.END_OFFSETS)


def open_ones(view: View) -> None:
    if found := transaction_answers.searched(view):
        transaction_tables.open_ones(found, transaction_answers.would_wait(view, found), view, shown_by=CHOSEN)
    else:
        panel.empty(*transaction_answers.why_none(view))


def chosen(view: View) -> None:
    asked = st.query_params.get("transaction")
    if (one := transaction_answers.chosen(view, asked)) is None:
        panel.empty(*transaction_facts.none_chosen(asked, transaction_answers.asked(view)))
        return
    parts = transaction_answers.parts(view, one)
    transaction_tables.headline(one)
    transaction_tables.partitions(parts, one, view)
    transaction_tables.readers(transaction_answers.readers(view, one), transaction_answers.has_commits(view), view)
    transaction_tables.findings(transaction_answers.findings(view, one))
    transaction_tables.commands(parts, one, view)


def fenced(view: View) -> None:
    fencing_table.draw(transaction_answers.events(view), view, rerun=FENCED.fragment_key)


def timeline(view: View) -> None:
    timeline_table.draw(transaction_answers.steps(view), transaction_answers.marker_view(view), view)


FENCED = Panel("Fencing and time-outs", fenced)
CHOSEN = Panel("The chosen transaction", chosen, SIGNALS)

st.title("Transactions", anchor=False)
panel.show(Panel("Open transactions, worst first", open_ones, SIGNALS))
panel.show(CHOSEN)
panel.show(Panel("How transactions ended", outcome_chart.draw, (Signal.END_OFFSETS,)))
panel.show(Panel("What happened to transactional ids", timeline, (Signal.TRANSACTION_LOG,)))
panel.show(FENCED)
