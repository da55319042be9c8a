"""How duplicates came to be, and lost against late: rows and amounts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dashboard import audit_words, extra_copies, wording
from guarantees.audits import DuplicateCause
from guarantees.findings import Bounds, Unit

Row = Mapping[str, Any]
Amount = tuple[str, Bounds]
CAUSE_ROWS = 50
PRODUCERS = 5


def by_cause(groups: Iterable[Row]) -> list[Amount]:
    """Extra copies of each cause that occurs, most first."""
    found: dict[DuplicateCause, list[Row]] = {}
    for row in groups:
        found.setdefault(DuplicateCause(row["cause"]), []).append(row)
    amounts = [(audit_words.CAUSES[cause], extra_copies.total(rows)) for cause, rows in found.items()]
    return sorted(amounts, key=lambda amount: -(amount[1].estimate or 0))


def cause_row(row: Row) -> dict[str, object]:
    """One partition, cause and producer of the later copies."""
    cause, bounds = DuplicateCause(row["cause"]), extra_copies.of_group(row)
    return {
        "Cause": audit_words.CAUSES[cause],
        "Partition": row["partition"],
        "Extra copies": wording.amount(bounds.lower, bounds.estimate, bounds.upper),
        "First producer → later": f"{_producers(row['first_producer_ids'])} → {_later(row)}",
        "Later copies from": str(row["first_copy_offset"]),
        "To": str(row["last_copy_offset"]),
        "What it means": audit_words.meaning(cause),
    }


def of_comparison(row: Row) -> list[Amount]:
    """Lost with its interval; late ones are counted in the sample, ids that wait are neither yet."""
    return [
        ("Lost", Bounds(row["lower"], row["estimate"], row["upper"], Unit.MESSAGE_IDS)),
        ("Late, in the sample", _exact(row["late"])),
        ("Waiting, in the sample", _exact(row["unseen"])),
    ]


def _exact(count: int) -> Bounds:
    return Bounds(count, count, count, Unit.MESSAGE_IDS)


def _producers(ids: Sequence[int]) -> str:
    """−1 stands for a batch without a producer id."""
    words = ["none" if known < 0 else str(known) for known in ids[:PRODUCERS]]
    return ", ".join(words) + (f" and {len(ids) - PRODUCERS} more" if len(ids) > PRODUCERS else "")


def _later(row: Row) -> str:
    return "none" if row["producer_id"] < 0 else f"{row['producer_id']} (epoch {row['producer_epoch']})"
