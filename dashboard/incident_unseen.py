"""What the findings of an incident leave open: what nobody can know, and the causes that nobody observed."""

from collections.abc import Iterator, Mapping, Sequence

from guarantees.amounts import counted
from guarantees.findings import Finding, Grade
from guarantees.links import Cause
from guarantees.unknown import Unknown


def left_open(findings: Sequence[Finding], explained: Mapping[str, Sequence[Cause]]) -> Iterator[Unknown]:
    """What the findings themselves say aloud that nobody can know; then how many of them nothing explains."""
    for finding in findings:
        for said in finding.statements:
            if said.grade is Grade.NOT_OBSERVABLE:
                yield Unknown(said.text)
    number = sum(not explained.get(finding.finding_id) for finding in findings)
    if number:
        cause, them = ("cause", "it") if number == 1 else ("causes", "them")
        of = f"{number:,} of {counted(len(findings), 'finding')}"
        yield Unknown(f"the {cause} of {of}: nothing that was observed explains {them}")
