"""How complete each signal of a round was, so a page can say when a source last answered."""

from collectors.rows import Row
from guarantees.observations import Round

TABLE = "rounds"


def rows(cluster: str, interval_s: float, observed: Round) -> list[Row]:
    return [
        {
            # A cluster that was never reached has no id yet.
            "cluster_id": observed.cluster_id or None,
            "cluster": cluster,
            "tick": observed.tick,
            "signal": str(coverage.signal),
            "started_at": coverage.started_at_ms,
            "observed_at": coverage.ended_at_ms,
            "asked": coverage.asked,
            "answered": coverage.answered,
            "refused": coverage.refused,
            "failed": coverage.failed,
            "error": coverage.error,
            "interval_ms": round(interval_s * 1000),
        }
        for coverage in observed.coverage
    ]
