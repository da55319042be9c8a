"""Before and after a finding: what explains it, and what it explains, each a link to its evidence."""

from collections.abc import Sequence

import streamlit as st

from dashboard import incident_links, wording
from dashboard.components.grades import grade
from dashboard.names import in_markdown
from dashboard.view import View
from guarantees.causes import NOT_OBSERVED
from guarantees.findings import Finding
from guarantees.links import Cause
from guarantees.unknown import Unknown

VIOLATIONS = "dashboard/pages/violations.py"
SHOWN = 5


def draw(causes: Sequence[Cause], consequences: Sequence[Finding], unsought: Sequence[Unknown]) -> None:
    """The surest cause first. Nothing is said to follow where nothing does: it may follow yet.

    `unsought`: where none could be looked for.
    """
    none = "; ".join((NOT_OBSERVED, *(in_markdown(one.reason, 200) for one in unsought)))
    st.markdown("**Cause**" if causes else f"**Cause** :gray[{none}]")
    for cause in causes[:SHOWN]:
        statement = cause.statement
        assumed = f" :gray[Assuming that {in_markdown(statement.assumption, 300)}.]" if statement.assumption else ""
        st.markdown(f"{grade(statement.grade)} {in_markdown(statement.text, 400)}{assumed}")
        if cause.finding_id is not None:
            link("The finding that explains it", cause.finding_id)
    if consequences:
        st.markdown(f"**Followed by** {wording.plural(len(consequences), 'finding')}")
    for finding in consequences[:SHOWN]:
        link(in_markdown(finding.title, 120), finding.finding_id)


def link(label: str, finding_id: str) -> None:
    """To the evidence of a finding; `label` is Markdown."""
    st.page_link(VIOLATIONS, label=f":blue[{label} →]", query_params={"finding": finding_id}, icon="")


def incident_link(label: str, finding: Finding, view: View) -> None:
    """To the incident of a finding, at the moment it happened."""
    asked = incident_links.query_of(finding, view)
    st.page_link(incident_links.PAGE, label=f":blue[{label} →]", query_params=asked, icon="")
