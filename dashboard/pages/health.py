"""How Tidemark itself is: its parts, what was asked for and got, promises and their needs, the jobs, and the store."""

import streamlit as st

from dashboard import answers, cached, coverage, health, queries, wording
from dashboard.components import cluster_panels, panel, parts, promises, tables
from dashboard.components.panel import Panel
from dashboard.view import View
from guarantees.observations import Signal

NEEDS = Panel("What the promise needs", promises.needs, shows_age=False)


def last_round(view: View) -> None:
    rows, newest = cached.in_window(view, queries.COVERAGE_OF_WINDOW), coverage.age(view, ()).verdict(view.to_ms)
    if not rows:
        panel.empty("No round was stored in this window.", "Start the collector: tidemark up, or tidemark collect.")
        return
    tables.plain(
        [health.coverage_row(row, view, newest) for row in rows], "Verdict", "Coverage of the last round by signal"
    )
    st.caption(f"In the window: {wording.rounds(answers.rounds_seen(view))}.")


def jobs(view: View) -> None:
    rows = cached.of_tidemark(view, queries.JOB_RUNS)
    if not rows:
        panel.empty("No run of the record jobs is known.", "Duplicates and losses stay unknown until they run.")
        return
    tables.plain([health.run_row(row, view) for row in rows], "State", "Newest runs of the record jobs")


def sampling(view: View) -> None:
    rows = cached.last_day(view, queries.SAMPLED)
    if not rows:
        panel.empty("No topic's records were read in the last day.", "They are read for the topics of pipelines.")
        return
    tables.plain([health.sampled_row(row, view) for row in rows], None, "Topics whose ids are sampled")


st.title("Health", anchor=False)
panel.show(Panel("Parts", parts.draw, shows_age=False, of_cluster=False))
panel.show(Panel("Last round, by signal", last_round))
panel.show(Panel("Brokers", cluster_panels.cluster))
panel.show(Panel("Controllers", cluster_panels.controllers, (Signal.QUORUM,)))
panel.show(Panel("Promises", lambda view: promises.draw(view, shown_by=NEEDS)))
panel.show(NEEDS)
panel.show(Panel("Record jobs", jobs, shows_age=False, of_cluster=False))
panel.show(Panel("Topics read, 24 h", sampling, shows_age=False))
panel.show(Panel("Store", parts.store, shows_age=False, of_cluster=False))
