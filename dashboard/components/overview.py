"""What the overview draws: the answer, the tiles, what broke when, and what needs attention."""

from collections.abc import Sequence
from math import nan

import streamlit as st

from dashboard import answers, expired, finding_groups, proposals, shapes, standing, wording
from dashboard.charts.small_strip import height_px, small_strip
from dashboard.components import acting, evidence, local_time, panel, story
from dashboard.components.grades import grade
from dashboard.concerns import Concern
from dashboard.finding_groups import Event
from dashboard.names import in_markdown
from dashboard.standing import Standing
from dashboard.view import View
from guarantees.promises import Pipeline

VIOLATIONS = "dashboard/pages/violations.py"
ATTENTION_ROWS = 8


def answer(standings: Sequence[Standing], note: str, newest_ms: int | None) -> None:
    """One sentence: is delivery safe; under it how fresh this answer is, on hover in the reader's own time."""
    verdict, sentence = standing.headline(standings)
    head, colon, rest = sentence.partition(":")
    look = wording.LOOKS[verdict]
    st.markdown(f"## :{look.tone}[{look.icon} {head}{colon}]{rest}", anchors=False)
    st.caption(note, help=local_time.hover(("data up to", newest_ms)))


def no_pipeline(view: View) -> None:
    """Why the table has no row, and what to do."""
    if view.search.strip():
        panel.empty("No pipeline matches the search.", "Clear it to see all.")
        return
    if not_kept := expired.now(view):
        panel.empty(f"No pipeline is declared, and none can be proposed: {not_kept.reason}.", expired.REMEDY)
        return
    panel.empty(
        "No pipeline is known: none is declared, and no group's commits were seen to propose one from.",
        "Settings says which rights are missing; a group is seen once it has committed.",
    )


def draw_tiles(view: View) -> None:
    """How much, each figure with what it leaves open."""
    with st.grid(5, min_column_width=165, key="tiles"):
        for tile in answers.overview_tiles(view):
            with st.container(border=True, height="stretch", gap=None):
                st.metric(
                    tile.label,
                    tile.value,
                    chart_data=[nan if value is None else value for value in tile.series]
                    if _is_drawable(tile.series)
                    else None,
                    chart_type="area",
                )
                look = wording.LOOKS[tile.verdict] if tile.verdict else None
                note = f":{look.tone}[{look.icon} {tile.note}]" if look else f":gray[{tile.note}]"
                st.markdown(f":small[{note}]")


def attention(view: View) -> None:
    """What breaks or weakens a promise now."""
    concerns = answers.urgent(view)
    if not concerns:
        panel.none_seen(view, "No finding", "that breaks or weakens a promise is open")
    listed(concerns, view)


def listed(concerns: Sequence[Concern], view: View, *, leads_to_incident: bool = True) -> None:
    """Findings as lines, one for each event, with links to the evidence of its worst finding and to its incident."""
    events = finding_groups.events(concerns)
    for event in events[:ATTENTION_ROWS]:
        finding_id = event.worst.finding.finding_id
        with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"attention-{finding_id}"):
            st.markdown(_line(event, view), width="stretch")
            st.page_link(VIOLATIONS, label=":blue[Evidence →]", query_params={"finding": finding_id}, icon="")
            if leads_to_incident:
                story.incident_link("Incident", event.worst.finding, view)
    if len(events) > ATTENTION_ROWS:
        st.page_link(VIOLATIONS, label=f":blue[All {wording.count(len(concerns))} findings →]", icon="")


def _line(event: Event, view: View) -> str:
    worst = event.worst
    acknowledged = acting.mark(worst.handling) if event.acknowledged_count == len(event.concerns) else ""
    where = f"{in_markdown(worst.where, 60)} · " if len(event.concerns) == 1 else ""
    return (
        f"{evidence.verdict(worst)} {acknowledged}{grade(worst.finding.grade)} **{in_markdown(event.title, 120)}** "
        f":gray[{where}since {wording.since(event.since_ms, view.to_ms)} UTC]"
    )


def strip(view: View) -> None:
    """What broke when, by kind: small, the whole of it is on the page of violations."""
    marks = answers.marks(view)
    if not marks:
        panel.none_seen(view, "No finding", "was open")
        return
    st.echarts_chart(
        small_strip(marks, view),
        height=height_px(marks),
        key="strip",
        alt="Findings by kind and time, the worst kinds first; the list below and the page of violations name them",
    )
    said = "Crosses violate a promise, triangles weaken one, bars are information."
    st.caption(" ".join([said, *shapes.before_note(marks, view.from_ms)]))


def proposed(known: Sequence[Pipeline], cluster: str) -> None:
    """What to copy into tidemark.toml where nothing is declared yet."""
    st.markdown(
        "No pipeline is configured. These were proposed from the groups and topics seen; "
        "their promise is *inferred*. Copy them into tidemark.toml, correct the promise, add the sink."
    )
    with st.expander("tidemark.toml"):
        # Colouring it would take the browser longer than the table above, at every refresh, closed as it is.
        st.code(proposals.snippet(known[:20], cluster), language=None)


def _is_drawable(series: Sequence[int | None]) -> bool:
    return sum(value is not None for value in series) > 1
