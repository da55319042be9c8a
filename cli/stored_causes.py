"""What explains stored findings: their evidence, the rebalances that are kept, and the declared pipelines."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from dashboard import explained, queries, rebalances_read
from guarantees.findings import Finding
from guarantees.links import Cause
from guarantees.promises import Pipeline
from settings import Settings

DAY_MS = 86_400_000


def stored_causes(settings: Settings, findings: Iterable[Finding], now_ms: int) -> dict[str, tuple[Cause, ...]]:
    """By finding id; findings of one cluster never explain those of another."""
    data_dir, known = Path(settings.store.data_dir), list(findings)
    heard = queries.ask(data_dir, *queries.clusters_heard(now_ms, DAY_MS))
    names = {row["cluster_id"]: row["cluster"] for row in heard}
    found: dict[str, tuple[Cause, ...]] = {}
    for cluster_id in {finding.place.cluster_id for finding in known}:
        own = [finding for finding in known if finding.place.cluster_id == cluster_id]
        rebalances = rebalances_read.rebalances(data_dir, cluster_id, own, now_ms)
        pipelines = list(_pipelines(settings, names.get(cluster_id)))
        found |= explained.causes_of(own, rebalances, cluster_id, pipelines)
    return found


def _pipelines(settings: Settings, cluster: str | None) -> Iterator[Pipeline]:
    """Those of the cluster; one that was not heard in the last day can only be told where it is the only one."""
    for declared in settings.pipelines:
        if declared.cluster == cluster or (cluster is None and len(settings.clusters) == 1):
            yield declared.pipeline
