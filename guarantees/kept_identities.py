"""A finding keeps the identity under which it was first told, whoever told it: a live round or an exact audit.

An anchor that rests on the first offset seen moves when somebody sees more. Only such findings are looked up.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from guarantees.findings import Evidence, Finding, Kind
from guarantees.lifecycle import FindingHistory


def with_kept_identities(found: Iterable[Finding], known: Mapping[str, FindingHistory]) -> list[Finding]:
    """The same findings; one that is new by its anchor, but not by its evidence, has the anchor of the oldest known."""
    findings = list(found)
    taken = {finding.finding_id for finding in findings}
    oldest_first = sorted(known.values(), key=lambda history: history.opened_at_ms)
    kept: list[Finding] = []
    for finding in findings:
        told = None
        if finding.finding_id not in known:
            told = next((each.finding for each in oldest_first if _is_same(finding, each.finding, taken)), None)
        kept.append(finding if told is None else replace(finding, anchor=told.anchor))
        taken.add(kept[-1].finding_id)
    return kept


def _is_same(finding: Finding, told: Finding, taken: set[str]) -> bool:
    if told.finding_id in taken or (finding.kind, finding.place) != (told.kind, told.place):
        return False
    if finding.kind is Kind.LOST_WRITE:
        return finding.pipeline == told.pipeline and _spans_meet(finding.evidence, told.evidence)
    is_by_offset = finding.evidence.get("producer_id") is None
    return finding.kind is Kind.DUPLICATE_WRITE and is_by_offset and _cause(finding) == _cause(told)


def _cause(finding: Finding) -> tuple[object, object]:
    return finding.evidence.get("cause"), finding.evidence.get("producer_id")


def _spans_meet(one: Evidence, other: Evidence) -> bool:
    mine, others = _span(one), _span(other)
    return mine is not None and others is not None and mine[0] <= others[1] and others[0] <= mine[1]


def _span(evidence: Evidence) -> tuple[int, int] | None:
    """First and last offset of the ids that are shown."""
    shown = [one for name in ("lost", "late") for one in _listed(evidence.get(name))]
    offsets = [int(one["offset"]) for one in shown]
    return (min(offsets), max(offsets)) if offsets else None


def _listed(value: object) -> list[Mapping[str, int]]:
    return list(value) if isinstance(value, list | tuple) else []
