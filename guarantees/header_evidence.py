"""How findings read from batch headers grow: by batches further on in the log, each counted once."""

from dataclasses import replace

from guarantees.amounts import counted
from guarantees.findings import Bounds, Finding, Place
from guarantees.view import number


def where(place: Place) -> str:
    return f"{place.topic}-{place.partition}"


def is_further(before: Finding, now: Finding) -> bool:
    """A batch seen again, after a restart or in a second evaluation, adds nothing."""
    return number(now.evidence, "last_offset") > number(before.evidence, "last_offset")


def joined_counts(before: Finding, now: Finding, what: str) -> Finding:
    """The counts of both; the evidence of the first, which the later ones only repeat."""
    if not is_further(before, now):
        return before
    total = _sum(before.bounds, now.bounds)
    return replace(
        before,
        bounds=total,
        title=f"{where(before.place)}: {counted(total.lower, 'record')} {what}",
        evidence={**before.evidence, "last_offset": now.evidence["last_offset"]},
        last_seen_at_ms=max(before.last_seen_at_ms, now.last_seen_at_ms),
        closed_reason=None,
    )


def _sum(before: Bounds | None, now: Bounds | None) -> Bounds:
    if before is None or now is None:
        raise TypeError("a finding that counts has bounds")
    known = before.estimate is not None and now.estimate is not None
    return Bounds(
        before.lower + now.lower,
        (before.estimate or 0) + (now.estimate or 0) if known else None,
        None if before.upper is None or now.upper is None else before.upper + now.upper,
        now.unit,
    )
