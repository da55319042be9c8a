"""The evidence panel: what happened, where, when, how sure, what it breaks, and the proof in full digits."""

from collections.abc import Sequence

import streamlit as st

from dashboard import answers, cause_answers, durations, facts, finding_groups, wording
from dashboard.components import acting, finding_table, grid, local_time, panel, raw_answers, story
from dashboard.components.grades import grade
from dashboard.concerns import Concern
from dashboard.names import cut, in_markdown, is_cut
from dashboard.view import View
from guarantees.findings import Finding
from guarantees.links import Cause
from guarantees.promises import Verdict
from guarantees.unknown import Unknown


def show(view: View, chosen: str | None, rerun: Sequence[str]) -> None:
    """The finding a link or a click asks for, after those of the same event. `rerun`: fragments that show either."""
    if chosen is None:
        panel.empty("Select a finding in the table to see its evidence.")
        return
    found = answers.found(view)
    concern = next((known for known in found if known.finding.finding_id == chosen), None)
    if concern is None:
        panel.empty(
            "This finding is not known at the end of this window.", "It may be newer: move the window, or go live."
        )
        return
    event = next(event for event in finding_groups.events(found) if event.holds(chosen))
    if len(event.concerns) > 1:
        finding_table.of_event(event, view, rerun)
    draw(concern, *cause_answers.story(view, concern.finding))
    story.incident_link("Its incident on one time axis", concern.finding, view)
    acting.draw(concern.finding.finding_id, concern.handling, rerun)
    raw_answers.draw(concern.finding, view)


def draw(
    concern: Concern, causes: Sequence[Cause], consequences: Sequence[Finding], unsought: Sequence[Unknown]
) -> None:
    """Everything that is known about one finding, with what explains it and what it explains."""
    finding = concern.finding
    st.markdown(f"#### {in_markdown(finding.title, 160)}", anchors=False)
    st.markdown(
        f"{verdict(concern)} {grade(finding.grade)} :gray-badge[{wording.KINDS[finding.kind]}] {_life(concern)}"
    )
    _promises(concern)
    _statements(finding)
    story.draw(causes, consequences, unsought)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _table("Evidence", facts.facts(finding.evidence))
    with right:
        _table("Where", facts.places(finding))
        _table("When (UTC)", _times(concern), local_time.hover(*_moments(concern)))
    _examples(finding)
    with st.expander("Raw evidence (JSON)"):
        st.code(facts.raw(finding), language="json", wrap_lines=True)
    st.caption(f"Finding `{finding.finding_id}` · severity {finding.severity}: {wording.SEVERITIES[finding.severity]}")


def verdict(concern: Concern) -> str:
    return wording.LOOKS[concern.verdict].badge if concern.verdict else ":gray-badge[• Information]"


def _life(concern: Concern) -> str:
    reason = concern.finding.closed_reason
    return ":gray-badge[Open]" if reason is None else f":gray-badge[Closed] {in_markdown(reason, 120)}"


def _promises(concern: Concern) -> None:
    if concern.finding.bounds is not None:
        st.markdown(f"**How much:** {durations.how_much(concern.finding.bounds)}")
    if not concern.broken:
        st.markdown(":gray[No pipeline with a promise is known here: this is information.]")
    for pipeline, judged in concern.broken:
        made = wording.promise(pipeline.promise, pipeline.is_inferred)
        outcome = "does not break" if judged is Verdict.OK else "breaks" if judged is Verdict.VIOLATED else "weakens"
        allowed = ". What a promise allows is shown, not alarmed." if judged is Verdict.OK else ""
        name = in_markdown(pipeline.name)
        st.markdown(f"{wording.LOOKS[judged].badge} {outcome} the promise of **{name}**: {made}{allowed}")


def _statements(finding: Finding) -> None:
    lines = []
    for statement in finding.statements:
        line = f"{grade(statement.grade)} {in_markdown(statement.text, 400)}"
        if statement.assumption:
            line += f" :gray[Assuming that {in_markdown(statement.assumption, 300)}.]"
        lines.append(line)
    st.markdown("\n\n".join(lines))


def _times(concern: Concern) -> list[tuple[str, str]]:
    return [(name, wording.utc(moment).removesuffix(" UTC")) for name, moment in _moments(concern)]


def _moments(concern: Concern) -> list[tuple[str, int]]:
    finding, history = concern.finding, concern.history
    closed = [] if finding.closed_reason is None else [("Closed", history.updated_at_ms)]
    return [
        ("Happened", finding.happened_at_ms),
        ("Last evidence", finding.last_seen_at_ms),
        ("Opened", history.opened_at_ms),
        ("Updated", history.updated_at_ms),
        *closed,
    ]


def _table(title: str, pairs: Sequence[tuple[str, str]], on_hover: str | None = None) -> None:
    """Names and values; a value that had to be cut follows in full."""
    st.markdown(f"**{title}**", help=on_hover)
    if not pairs:
        st.markdown(":gray[Nothing beyond the statements.]")
        return
    shown = {"": [in_markdown(name) for name, _ in pairs], " ": [in_markdown(text) for _, text in pairs]}
    st.table(shown, border="horizontal", hide_index=True, hide_header=True, alt=title)
    for name, text in pairs:
        if is_cut(text):
            st.caption(f"{in_markdown(name)} in full")
            st.code(text, language=None, wrap_lines=True)


def _examples(finding: Finding) -> None:
    rows = facts.examples(finding.evidence)
    if rows:
        st.markdown("**Examples**")
        shown = [{name: cut(text) for name, text in row.items()} for row in rows]
        grid.draw(shown, alt=f"Examples of {wording.KINDS[finding.kind]}")
