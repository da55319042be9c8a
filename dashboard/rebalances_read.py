"""The rebalances that findings are explained by: read for all the time the findings need, whatever the window."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from dashboard import kept, queries
from dashboard.queries import Rows
from dashboard.rebalance_questions import REBALANCES_OF
from guarantees.cause_links import LINKS
from guarantees.causes import by_rebalances, wanted_from_ms, wanted_rebalances
from guarantees.findings import Finding
from guarantees.links import Cause
from guarantees.times import utc
from guarantees.unknown import Unknown


def rebalances(data_dir: Path, cluster_id: str, findings: Iterable[Finding], until_ms: int) -> Rows:
    """Those of the findings' groups, observed no later than `until_ms`; nothing is read where none can explain them."""
    wanted = wanted_rebalances(findings, LINKS)
    if wanted is None:
        return []
    about = {"cluster_id": cluster_id, "groups": list(wanted.group_ids)}
    return queries.ask(data_dir, wanted.from_ms, min(wanted.to_ms, until_ms) + 1, REBALANCES_OF, about)


def not_looked_for(
    data_dir: Path, findings: Iterable[Finding], explained: Mapping[str, tuple[Cause, ...]]
) -> list[Unknown]:
    """Of how many findings without a cause the rebalances are not kept any more; empty where there is none."""
    open_ones = [one for one in by_rebalances(findings, LINKS) if not explained.get(one.finding_id)]
    if not open_ones:
        return []
    kept_ms = kept.oldest_history_ms(data_dir)
    missed = sum(kept_ms is None or wanted_from_ms(one) < kept_ms for one in open_ones)
    since = "none is kept" if kept_ms is None else f"none was looked for before {utc(kept_ms)}: none is kept of then"
    which = f"{missed:,} finding{'s' if missed > 1 else ''}"
    return [Unknown(f"whether a rebalance caused {which}: {since}")] if missed else []
