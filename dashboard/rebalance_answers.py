"""What the page of rebalances asks about, put together from cached answers."""

from collections.abc import Sequence

from dashboard import cached, rebalance_costs, shapes
from dashboard.queries import Row, Rows
from dashboard.rebalance_costs import Counts
from dashboard.rebalance_questions import BUCKETS_ASKED, LAG_AROUND, REBALANCING
from dashboard.view import RAW_WINDOW_MS, View

MINUTE_MS = 60_000


def identity(row: Row) -> str:
    """A rebalance as a link names it: `group@ms`."""
    return f"{row['group_id']}@{row['observed_at_ms']}"


def identity_of_row(row: Row, number: int) -> str:
    """What a row of the table selects: a rebalance, or where it is so many the group that storms."""
    return identity(row) if number == 1 else f"{row['group_id']}@storm"


def costs(view: View, listed: Sequence[tuple[Row, int]]) -> list[dict[str, object]]:
    """Rows of the table: a rebalance with pause and lag gained, a storm with how many it is."""
    states = cached.in_window(view, REBALANCING)
    around = _by_identity(cached.recently(view, LAG_AROUND))
    return [
        rebalance_costs.row(one, states, around.get(identity(one)), view)
        if number == 1
        else rebalance_costs.storm_row(one, number, view)
        for one, number in listed
    ]


def cost_of(view: View, chosen: Row) -> dict[str, object]:
    """One rebalance, whose lag is read from the rounds around it, however long ago it was."""
    observed_ms = chosen["observed_at_ms"]
    before_ms = max((chosen["changed_after_ms"] or observed_ms) - MINUTE_MS, observed_ms + MINUTE_MS - RAW_WINDOW_MS)
    around = _by_identity(cached.between(view, before_ms, observed_ms + MINUTE_MS, LAG_AROUND))
    return rebalance_costs.row(chosen, cached.in_window(view, REBALANCING), around.get(identity(chosen)), view)


def counted(view: View, rebalances: Rows) -> Counts:
    """Rebalances of a storm by bars of the window."""
    step_ms = shapes.bucket_ms(view.length_ms, cached.step_ms(view.cluster), rebalance_costs.BARS)
    asked = cached.in_window(view, BUCKETS_ASKED, step_ms=step_ms)
    return rebalance_costs.per_bucket(rebalances, asked, (view.from_ms, view.to_ms), step_ms)


def _by_identity(rows: Rows) -> dict[str, Row]:
    return {identity(row): row for row in rows}
