"""What a finding says besides its count, compared with what is true: its grade, its evidence and its time. Pure."""

from collections.abc import Iterator

from lab.found import Found
from lab.injected import Expected


def misstated(expected: Expected, finding: Found) -> Iterator[str]:
    """A sentence for each thing the finding says otherwise, or leaves out."""
    if expected.grade not in (None, finding.grade):
        yield f"{expected.place}: graded {finding.grade}, {expected.grade} is right"
    for name, true in expected.facts.items():
        if (said := finding.evidence.get(name)) != true:
            yield f"{expected.place}: {name} is {true!r}, said {said!r}"
    if expected.happened_between_ms is not None and not _touches(expected.happened_between_ms, finding):
        yield f"{expected.place}: it happened at another time than said"


def _touches(happened_ms: tuple[int, int], finding: Found) -> bool:
    """The span between the last sample without and the first sample with it, as the evidence names them."""
    before, after = finding.evidence.get("observed_before_at_ms"), finding.evidence.get("observed_at_ms")
    if not isinstance(before, int) or not isinstance(after, int):
        return False
    return before <= happened_ms[1] and happened_ms[0] <= after
