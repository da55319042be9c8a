"""The chart of outcomes with its table twins, and what of the batch headers was not read."""

import pandas as pd
import streamlit as st

from dashboard import cached, expired, outcomes, transaction_answers, wording
from dashboard.charts.frame import STILL
from dashboard.charts.outcomes import outcomes_over_lanes
from dashboard.components import grid, panel, tables
from dashboard.names import in_markdown
from dashboard.outcomes import Lanes, Outcomes
from dashboard.queries import Rows
from dashboard.view import View

COUNTED = (
    "A transaction leaves a COMMIT or ABORT marker on each partition it wrote to. Counted are transactions with a "
    "marker in the bar's time, at least so many: of each producer id and epoch the markers of the partition that has "
    "most of them. Grey: nobody looked, or not all headers were read and none was seen, never zero. The newest bar "
    "still grows."
)
REMEDY = (
    "Set `header_topics` of the cluster in tidemark.toml to patterns of topics that transactions write to (needs "
    "READ); markers are then read from the end of the log on."
)
SHOWN_PROBLEMS = 3


def draw(asked: View) -> None:
    """As much of the window as markers are kept of, and what of the headers was read in the last day."""
    read, view = transaction_answers.headers_read(asked), transaction_answers.marker_view(asked)
    since_ms = min((row["first_ms"] for row in read if row["problem"] is None), default=None)
    _not_read(read)
    if since_ms is None:
        panel.empty("Outcomes are not observed: no batch header was read in the last day.", _remedy(view))
        return
    kept_ms = expired.samples_since_ms()
    if kept_ms is None or kept_ms >= view.to_ms:
        panel.empty("Outcomes of this time are not known any more: batch headers are raw samples and have expired.")
        return
    since_ms = max(since_ms, kept_ms)
    shown, lanes = transaction_answers.ended(view, since_ms), transaction_answers.lanes(view)
    figure = outcomes_over_lanes(shown, lanes, view)
    st.plotly_chart(figure, config=STILL, alt=f"Committed and aborted transactions per {shown.bucket}, over lanes")
    st.caption(" ".join(_notes(shown, lanes, since_ms, view, asked)))
    _as_tables(shown, lanes)


def _remedy(view: View) -> str:
    patterns = next(known.header_topics for known in cached.settings().clusters if known.name == view.cluster)
    if not patterns:
        return REMEDY
    named = in_markdown(", ".join(patterns), 200)
    return f"`header_topics` is {named}: no watched topic matches it, or none was written to."


def _not_read(read: Rows) -> None:
    """Ranges of headers that were asked for and not read, with the broker's reason."""
    problems = [row for row in read if row["problem"] is not None]
    for row in problems[:SHOWN_PROBLEMS]:
        where = f"{wording.plural(row['partitions'], 'partition')} of {in_markdown(row['topic'])}"
        st.markdown(
            f":gray-badge[? Not read] Headers of {where}: {in_markdown(row['problem'], 160)} "
            f":gray[last {wording.utc(row['last_ms'])}]"
        )
    if len(problems) > SHOWN_PROBLEMS:
        st.caption(f"{wording.count(len(problems) - SHOWN_PROBLEMS)} more reasons are left out.")


def _notes(shown: Outcomes, lanes: Lanes, since_ms: int, view: View, asked: View) -> list[str]:
    notes = [COUNTED]
    if view.from_ms > asked.from_ms:
        notes.append("Only the last 24 h of the window are drawn: markers are raw samples.")
    if since_ms > view.from_ms:
        notes.append(f"Headers are read, and kept, since {wording.utc(since_ms)}.")
    if lanes.found > len(lanes.names):
        notes.append(
            f"{wording.count(len(lanes.names))} of {wording.count(lanes.found)} transactions have a lane, the worst "
            "and newest; search for the others."
        )
    return notes


def _as_tables(shown: Outcomes, lanes: Lanes) -> None:
    with st.expander("As tables", on_change="rerun", key="outcomes-as-tables") as box:
        if not box.open:
            return
        counts = pd.DataFrame(outcomes.bucket_rows(shown)).convert_dtypes()
        config = {name: tables.number(name) for name in ("Committed", "Aborted", "Markers")}
        grid.draw(counts, placeholder="not observed", column_config=config, alt="Outcomes by time")
        if lanes.names:
            grid.draw(outcomes.lane_rows(lanes), placeholder="–", alt="Lanes of transactions")
