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


def happened_then(expected: Expected, finding: Found) -> bool:
    """What happened lies between the last sample without and the first sample with it, as the evidence names them."""
    if expected.happened_between_ms is None:
        return True
    first_ms, last_ms = expected.happened_between_ms
    before, after = finding.evidence.get("observed_before_at_ms"), finding.evidence.get("observed_at_ms")
    return isinstance(before, int) and isinstance(after, int) and before <= last_ms and first_ms <= after
