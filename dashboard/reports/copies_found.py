"""Duplicates of a report's window: how many were found in it, and when."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dashboard import audit_questions, copies_in_window
from dashboard.copies_in_window import Copies, Group, Span
from dashboard.queries import Rows
from dashboard.reports import questions
from dashboard.reports.look import Look
from guarantees.findings import Finding, Kind


@dataclass(frozen=True, slots=True)
class CopiesFound:
    """`minutes`: when live rounds found copies in the window, by group."""

    known: Copies
    minutes: dict[Group, list[int]] = field(default_factory=dict)

    def narrowed(self, findings: Sequence[Finding]) -> list[Finding]:
        """With what they count of the window; those of duplicates of which nothing is in it are left out."""
        own = (copies_in_window.narrowed(one, self.known) for one in findings)
        return [one for one in own if one is not None]

    def beyond(self, findings: Sequence[Finding]) -> list[Finding]:
        """Those that count copies of other times too."""
        ends = self.known.from_ms, self.known.to_ms
        return [one for one in findings if copies_in_window.reaches_beyond(one, *ends)]

    def times(self, finding: Finding) -> list[Span]:
        """When copies of the finding were found; where that is not stored, all the time it lasted.

        An exact audit knows the window in which they were written, where live rounds saw none of them come.
        """
        minutes = self.minutes.get(copies_in_window.group_of_finding(finding), [])
        audits = copies_in_window.audits(finding, self.known)
        unseen = [one for one in audits if not any(one[0] <= at_ms < one[1] for at_ms in minutes)]
        if minutes or unseen or copies_in_window.narrowed(finding, self.known) is None:
            return [*((at_ms, at_ms) for at_ms in minutes), *unseen]
        return [(finding.happened_at_ms, finding.last_seen_at_ms)]


def copies_found(look: Look, findings: Sequence[Finding], read: Rows) -> CopiesFound:
    """`read`: what was read of the topics in the window. Asks nothing where no finding is of duplicates."""
    topics = frozenset(row["topic"] for row in read)
    own = {str(one.place.topic) for one in findings if one.kind is Kind.DUPLICATE_WRITE}
    if not own:
        return CopiesFound(copies_in_window.copies(look.from_ms, look.to_ms, (), (), topics))
    found, audited = look.ask(audit_questions.EXTRA_COPIES), look.ask(audit_questions.AUDITED_COPIES)
    known = CopiesFound(copies_in_window.copies(look.from_ms, look.to_ms, found, audited, topics))
    for row in look.ask(questions.COPY_MINUTES, topics=sorted(own)):
        known.minutes.setdefault(copies_in_window.group_of(row), []).append(row["at_ms"])
    return known
