"""The incident on one time axis, with a cursor, and what held at the moment it points to."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pandas as pd
import streamlit as st

from dashboard import cached, expired, incident_answers, incident_evidence, incident_notes, incident_series, wording
from dashboard import view as views
from dashboard.charts.frame import STILL
from dashboard.charts.incident import incident_over_time
from dashboard.components import grid, local_time, panel
from dashboard.incident_lanes import IncidentLanes
from dashboard.incident_places import Places
from dashboard.incident_series import IncidentLines
from dashboard.names import cut, in_markdown
from dashboard.view import View
from guarantees.incidents import Incident
from guarantees.observations import Signal

SIGNALS = (
    Signal.COMMITTED_OFFSETS, Signal.END_OFFSETS, Signal.REPLICA_OFFSETS, Signal.PARTITION_STATES, Signal.GROUPS,
    Signal.PRODUCERS,
)  # fmt: skip
SLIDER = "incident-cursor"
PARTITION = "incident-partition"
TABLE_ROWS = 200
ALT = (
    "Lag, what is not replicated, what a transaction holds, elections, ISR below min, rebalances, transactions and "
    "findings on one time axis; tables follow"
)


def draw(view: View, incident: Incident, rerun: Sequence[str]) -> None:
    """`rerun`: the fragment that shows the figure."""
    at_ms, note = _at(view, incident)
    touched = incident_answers.places(view, incident)
    lines = incident_evidence.lines(view, touched, at_ms)
    lanes = incident_evidence.lanes(view, incident, touched)
    left, right = st.columns([2, 1], gap="medium")
    with left:
        figure = incident_over_time(lines, lanes, at_ms, view)
        st.plotly_chart(figure, config=STILL, alt=ALT)
        _cursor(view, at_ms, lanes, rerun)
        for said in incident_notes.of_figure(view, touched, lines, lanes, expired.samples_since_ms()):
            st.caption(said)
    with right:
        _moment(view, touched, at_ms, note, rerun)
    _twins(lines, lanes)


def _at(view: View, incident: Incident) -> tuple[int, str]:
    """The moment of the link; without one that of the first cause. Outside the window: its nearer end, and said so."""
    linked = st.query_params.get("at")
    asked = views.parse_time(linked) if linked else incident.first_cause.happened_at_ms
    if asked is None:
        return _at_default(view, incident), "The link names no time that can be read: the first cause is shown."
    inside = min(max(asked, view.from_ms), view.to_ms)
    moved = "" if inside == asked else f"The moment asked for, {wording.utc(asked)}, lies outside the window."
    return inside, moved


def _at_default(view: View, incident: Incident) -> int:
    return min(max(incident.first_cause.happened_at_ms, view.from_ms), view.to_ms)


def _cursor(view: View, at_ms: int, lanes: IncidentLanes, rerun: Sequence[str]) -> None:
    """A slider to drag or move by arrow keys, a step at a time; buttons lead from event to event."""
    step_ms = cached.step_ms(view.cluster)
    moments = sorted({mark.at_ms for mark in lanes.marks if mark.at_ms >= view.from_ms})
    st.session_state[SLIDER] = _moment_of(at_ms)  # the URL is the truth, also after Back
    st.slider(
        "Cursor (UTC)", _moment_of(view.from_ms), _moment_of(view.to_ms), key=SLIDER, format="HH:mm:ss",
        step=timedelta(milliseconds=step_ms), on_change=lambda: _write(_ms(st.session_state[SLIDER]), rerun),
    )  # fmt: skip
    with st.container(horizontal=True, key="incident-steps"):
        before = next((one for one in reversed(moments) if one < at_ms), None)
        after = next((one for one in moments if one > at_ms), None)
        _step("Event before", "arrow_back", before, rerun)
        _step("Event after", "arrow_forward", after, rerun)


def _step(label: str, icon: str, to_ms: int | None, rerun: Sequence[str]) -> None:
    st.button(label, icon=f":material/{icon}:", key=f"cursor-{icon}", disabled=to_ms is None, type="tertiary",
              on_click=lambda: _write(to_ms, rerun))  # fmt: skip


def _write(at_ms: int | None, rerun: Sequence[str]) -> None:
    if at_ms is not None:
        st.query_params["at"] = views.format_time(at_ms)
    st.rerun(list(rerun))


def _moment(view: View, touched: Places, at_ms: int, note: str, rerun: Sequence[str]) -> None:
    st.markdown(f"**What held at** {wording.utc(at_ms)}", help=local_time.hover(("the moment", at_ms)))
    if note:
        st.caption(note)
    one = touched.chosen(st.query_params.get("partition"))
    if one is None:
        panel.empty("The findings of this incident name no partition.", "The pages of its group and topic show more.")
        return
    labels = [place.label for place in touched.partitions]
    st.session_state[PARTITION] = one.label
    st.selectbox("Partition", labels, key=PARTITION, format_func=cut, on_change=lambda: _choose(rerun))
    held = incident_evidence.held(view, touched, one, at_ms)
    shown = {"": [in_markdown(name) for name, _ in held], " ": [in_markdown(text, 240) for _, text in held]}
    st.table(shown, border="horizontal", hide_index=True, hide_header=True, alt="What held at this moment")


def _choose(rerun: Sequence[str]) -> None:
    st.query_params["partition"] = st.session_state[PARTITION]
    st.rerun(list(rerun))


def _twins(lines: IncidentLines, lanes: IncidentLanes) -> None:
    with st.expander("The figure as tables", on_change="rerun", key="incident-twins") as opened:
        if not opened.open:
            return
        rows = incident_series.table_rows(lines)
        shown = [incident_notes.line_row(row) for row in rows[:TABLE_ROWS]]
        if shown:
            grid.draw(pd.DataFrame(shown).convert_dtypes(), placeholder="–",
                         alt="Lag and distances between offsets over time, the newest first")  # fmt: skip
        if len(rows) > TABLE_ROWS:
            st.caption(wording.cut_note(TABLE_ROWS, len(rows), "rows", "the newest", "A shorter window shows others."))
        happened = incident_notes.lane_rows(lanes)
        if happened:
            grid.draw(happened[:TABLE_ROWS], alt="What happened, in the order of time")


def _moment_of(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC).replace(tzinfo=None)


def _ms(moment: datetime) -> int:
    return round(moment.replace(tzinfo=UTC).timestamp() * 1000)
