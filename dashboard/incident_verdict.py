"""What makes an incident's verdict: of the findings that mean the worst for the promise, the surest."""

from collections.abc import Iterable

from dashboard import wording
from guarantees.findings import Finding, Grade
from guarantees.promises import Verdict

BREAKS_NONE = (None, Verdict.OK, Verdict.UNKNOWN)
SUREST_FIRST = tuple(Grade)


def decisive(told: Iterable[tuple[Verdict | None, Finding]]) -> Finding:
    """The finding whose grade stands beside the verdict, in the list, on the page and in the report.

    `told`: findings with what each means for the promise, at least one; None, OK or of no known promise: information.
    Of equally sure ones the first counts.
    """
    return min(told, key=lambda one: (_rank(one[0]), SUREST_FIRST.index(one[1].grade)))[1]


def _rank(means: Verdict | None) -> int:
    ranks = (*(one for one in wording.WORST_FIRST if one not in BREAKS_NONE), None)
    return ranks.index(None if means in BREAKS_NONE else means)
