"""The rebalances that findings are explained by: read for all the time the findings need, whatever the window."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from dashboard import kept, queries
from dashboard.queries import Rows
from dashboard.rebalance_questions import REBALANCES_OF
from guarantees.cause_links import LINKS
from guarantees.causes import by_rebalances, wanted_from_ms, wanted_rebalances
from guarantees.findings import Finding
from guarantees.links import Cause, WantedRebalances
from guarantees.times import utc
from guarantees.unknown import Unknown


def rebalances(data_dir: Path, cluster_id: str, findings: Iterable[Finding], until_ms: int) -> Rows:
    """Those observed no later than `until_ms`; nothing is read where none can explain a finding."""
    wanted = wanted_rebalances(findings, LINKS)
    wanted = wanted and wanted.within(wanted.from_ms, until_ms)
    return read(str(data_dir), cluster_id, wanted) if wanted else []


def read(data_dir: str, cluster_id: str, wanted: WantedRebalances) -> Rows:
    return queries.ask(Path(data_dir), wanted.from_ms, wanted.to_ms + 1, REBALANCES_OF, asked(cluster_id, wanted))


def asked(cluster_id: str, wanted: WantedRebalances) -> dict[str, object]:
    """The parameters of REBALANCES_OF."""
    groups, since, until = (list(column) for column in zip(*wanted.spans, strict=True))
    return {"cluster_id": cluster_id, "groups": groups, "since": since, "until": until}


def not_looked_for(
    data_dir: Path, findings: Iterable[Finding], explained: Mapping[str, tuple[Cause, ...]]
) -> list[Unknown]:
    """Of how many findings without a cause the rebalances are not kept any more; empty where there is none."""
    missed = list(missed_by(data_dir, findings, explained).values())
    which = f"{len(missed):,} finding{'s' if len(missed) > 1 else ''}"
    return [Unknown(f"whether a rebalance caused {which}: {missed[0].reason}")] if missed else []


def missed_by(
    data_dir: Path, findings: Iterable[Finding], explained: Mapping[str, tuple[Cause, ...]]
) -> dict[str, Unknown]:
    """By finding id, those without a cause of whose time no rebalance is kept any more, and since when they are."""
    open_ones = [one for one in by_rebalances(findings, LINKS) if not explained.get(one.finding_id)]
    if not open_ones:
        return {}
    kept_ms = kept.oldest_history_ms(data_dir)
    since = "none is kept" if kept_ms is None else f"none was looked for before {utc(kept_ms)}: none is kept of then"
    missed = [one for one in open_ones if kept_ms is None or wanted_from_ms(one) < kept_ms]
    return {one.finding_id: Unknown(since) for one in missed}
