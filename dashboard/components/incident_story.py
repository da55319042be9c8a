"""An incident told: how it stands, the chain of causes, what it did to records, whom it touched, what nobody saw."""

from collections.abc import Sequence

import streamlit as st

from dashboard import incident_answers, incident_chain, incident_links, incident_rows, wording
from dashboard.components import grid, incident_choice, incident_handling, local_time, overview, panel, tables, toolbar
from dashboard.components.grades import grade
from dashboard.components.story import link
from dashboard.incident_chain import ChainLink
from dashboard.incident_rows import Judged
from dashboard.incident_story import Told, Total
from dashboard.names import in_markdown
from dashboard.view import View
from guarantees.causes import NOT_OBSERVED
from guarantees.incidents import Incident
from guarantees.promises import Verdict

NO_EFFECT = ":gray[None of its findings says that records were lost, duplicated or re-delivered.]"
REPORTS = "dashboard/pages/reports.py"
LINKS, ROWS, UNSEEN, OTHERS = 12, 100, 20, 3


def head(view: View, incident: Incident) -> None:
    """What it is, how it stands, and what people made of it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        incident_choice.way_back()
        asked = {"report": "incident", "of": incident.incident_id}
        st.page_link(REPORTS, label=":blue[Report of it →]", query_params=asked, icon="")
    one, story = incident_answers.judged(view, incident), incident_answers.story(view, incident)
    st.markdown(f"#### {in_markdown(incident.title, 200)}", anchors=False)
    st.markdown(f"{_verdict(one)} {incident_handling.badge(incident)}")
    _of_what(one, view)
    until = "now" if incident.to_ms is None else wording.utc(incident.to_ms)
    st.markdown(
        f"From {wording.utc(incident.from_ms)} to {until}. {incident_rows.standing(one)}",
        help=local_time.hover(("from", incident.from_ms), ("to", incident.to_ms)),
    )
    _whole(incident, view)
    st.markdown("  \n".join(_total(total) for total in story.totals) or NO_EFFECT)
    incident_handling.said(view, one)


def causes(view: View, incident: Incident) -> None:
    """The chain, from the first cause to the last consequence."""
    links = incident_chain.chain(incident_answers.story(view, incident).told)
    for number, found in enumerate(links[:LINKS], 1):
        _link(number, found)
    tables.left_out(len(links), LINKS, "link", "The findings below lead to them.")


def effects(view: View, incident: Incident) -> None:
    """What was lost, duplicated or re-delivered, offset by offset."""
    losses = incident_answers.story(view, incident).losses
    if not losses:
        panel.empty("No finding of it lost, duplicated or re-delivered records.", "It delayed or endangered them.")
        return
    _table([incident_chain.loss_row(one) for one in losses[:ROWS]], "Lost, duplicated and re-delivered, by finding")
    tables.left_out(len(losses), ROWS, "finding", "A report holds all of them.")
    st.caption("Offsets are not records: markers and aborted data use offsets. Kinds are not added to one another: one "
               "record may be counted by several.")  # fmt: skip


def touched(view: View, incident: Incident) -> None:
    """Which consumers and downstream topics, from which offset to which."""
    found = incident_answers.story(view, incident).touched
    st.markdown(incident_chain.who_is_touched(found, incident.pipeline))
    if found:
        _table([incident_chain.touched_row(one) for one in found[:ROWS]], "Consumers and downstream topics touched")
    tables.left_out(len(found), ROWS, "row", "A report holds all of them.")


def unseen(view: View, incident: Incident) -> None:
    """What could not be seen, and why."""
    reasons = incident_answers.story(view, incident, incident_answers.unseen(view, incident)).not_seen
    if not reasons:
        panel.empty("Nothing that was asked for in this window is missing, and no finding names what it cannot know.")
    for reason in reasons[:UNSEEN]:
        st.markdown(f"- {in_markdown(reason.reason, 300)}")
    tables.left_out(len(reasons), UNSEEN, "reason", "Health has the rest.")


def findings(view: View, incident: Incident) -> None:
    """The findings of the incident as events, each with its evidence."""
    overview.listed(incident_answers.judged(view, incident).concerns, view, leads_to_incident=False)


def _verdict(one: Judged) -> str:
    """The verdict with the grade of the finding that makes it, which is named where it is not the first cause."""
    look = wording.LOOKS[one.verdict].badge if one.verdict else f":gray-badge[{wording.INFORMATION}]"
    made_by = one.decisive
    is_first = made_by.finding_id == one.incident.first_cause.finding_id
    return f"{look} {grade(made_by.grade)}" + ("" if is_first else f" {in_markdown(made_by.title, 160)}")


def _total(total: Total) -> str:
    what, number = wording.KINDS[total.kind].lower(), wording.plural(total.findings, "finding")
    amount = in_markdown(incident_rows.amount(total.amount), 200)
    return f"**{total.effect.capitalize()}:** {amount} :gray[({what}, {number})]"


def _link(number: int, found: ChainLink) -> None:
    first = found.first
    grades = " to ".join(dict.fromkeys(grade(one) for one in (found.grades[0], found.grades[-1])))
    more = f" :gray[{found.where}]" if found.where else ""
    st.markdown(f"{number}. {found.when} {grades} **{in_markdown(first.finding.title, 200)}**{more}{_means(first)}  \n"
                f"{_because(first)}")  # fmt: skip
    if first.causes and first.causes[0].finding_id is not None:
        link("The finding that explains it", first.causes[0].finding_id)


def _because(told: Told) -> str:
    if not told.causes:
        return f":gray[{NOT_OBSERVED.capitalize()}.]"
    said = told.causes[0].statement
    assumed = f" :gray[Assuming that {in_markdown(said.assumption, 300)}.]" if said.assumption else ""
    return f"Because: {grade(said.grade)} {in_markdown(said.text, 400)}{assumed}"


def _means(told: Told) -> str:
    if told.means in (Verdict.OK, Verdict.UNKNOWN):
        return ""
    return f" {wording.LOOKS[told.means].badge}"


def _of_what(one: Judged, view: View) -> None:
    """Its pipeline and promise, and the other pipelines that the same first cause is an incident of."""
    incident = one.incident
    if incident.pipeline is None:
        st.markdown(":gray[No pipeline reads or writes here: what it means for a promise is not known.]")
        return
    own = next((known for known in incident_answers.known(view).pipelines if known.name == incident.pipeline), None)
    made = f": {wording.promise(own.promise, own.is_inferred)}" if own else ""
    st.markdown(f"Pipeline **{in_markdown(incident.pipeline)}**{made}")
    found = incident_answers.of_finding(view, incident.first_cause.finding_id)
    others = [other for other in found if other.incident_id != incident.incident_id]
    with st.container(horizontal=True):
        for other in others[:OTHERS]:
            label = f":blue[Also an incident of {in_markdown(str(other.pipeline), 60)} →]"
            st.page_link(incident_links.PAGE, label=label, query_params=incident_links.query(other, view), icon="")
    tables.left_out(len(others), OTHERS, "other pipeline", "The search of the list finds them.")


def _whole(incident: Incident, view: View) -> None:
    """A window that holds all of it, where the one on screen does not."""
    if not incident_links.holds(view, incident):
        start, end = incident_links.window(incident.from_ms, incident_links.newest_ms(incident), view.to_ms)
        st.caption("The window on screen does not hold all of it.")
        st.button("Show all of its time", on_click=toolbar.freeze, args=(start, end), icon=":material/fit_width:")


def _table(rows: Sequence[dict[str, object]], alt: str) -> None:
    columns = {name: tables.digits(name) for name in ("First offset", "Last offset")}
    shown = incident_chain.with_reasons(rows)
    grid.draw(shown, column_config=columns, height=min(420, 38 + 35 * len(rows)), alt=alt)
