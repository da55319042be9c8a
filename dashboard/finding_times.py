"""When what a finding counts came to be."""

from guarantees.findings import Finding, Kind


def newest_ms(finding: Finding) -> int:
    """When the newest of it was found. What came late since then is evidence too, and makes no loss a newer one."""
    decided_ms = finding.evidence.get("decided_at_ms") if finding.kind is Kind.LOST_WRITE else None
    return decided_ms if isinstance(decided_ms, int) else finding.last_seen_at_ms
