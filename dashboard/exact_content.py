"""The result of an audit of content as the page shows it. Pure."""

from collections.abc import Sequence

from dashboard import wording
from dashboard.exact_audits import Labels, Row, amount, total
from dashboard.names import cut
from guarantees.findings import Grade

OF_CONTENT = Labels(
    {
        "visible": "Visible", "aborted": "Aborted", "markers": "Markers", "compacted": "Compacted",
        "unexplained": "Unexplained", "below_log_start": "Below log start", "undecided": "Undecided",
    },
    {
        "batches": "Batches", "batches_compared": "Copies compared", "batches_differing": "Copies that differ",
        "copies_silent": "Replicas not read",
    },
)  # fmt: skip


def summary(ranges: Sequence[Row]) -> list[tuple[str, Grade | None]]:
    """What was compared on each topic."""
    found: list[tuple[str, Grade | None]] = []
    for side in ("source", "sink"):
        own = [each for each in ranges if each["side"] == side]
        if own:
            differing = total(own, "batches_differing")
            is_seen = differing is not None and not _is_alone(own)
            known = Grade.NOT_OBSERVABLE if not is_seen else Grade.PROVEN if differing else None
            found.append((_said(own, differing), known))
    return found


def batch_row(row: Row) -> dict[str, object]:
    """One batch and the copy that has another content, in full."""
    return {
        "Batch": f"{row['topic']}-{row['partition']}:{row['base_offset']}",
        "Copy": "as read earlier" if row["copy"] < 0 else f"replica {row['copy']}",
        "CRC on the leader": f"{row['crc']:08x}",
        "CRC of the copy": f"{row['copy_crc']:08x}",
        "Leader epoch": str(row["leader_epoch"]),
        "Leader epoch of the copy": str(row["copy_leader_epoch"]),
    }


def _said(own: Sequence[Row], differing: int | None) -> str:
    topic, batches = cut(own[0]["topic"]), total(own, "batches") or 0
    if differing is None:
        return f"{topic}: compacted, {amount(batches, 'batch', 'batches')} not compared"
    if _is_alone(own):
        return f"{topic}: no other copy of {amount(batches, 'batch', 'batches')} was read, none is compared"
    said = (
        f"{topic}: {wording.count(differing)} of {wording.count(total(own, 'batches_compared'))} copies of "
        f"{amount(batches, 'batch', 'batches')} have another content than the leader"
    )
    silent = total(own, "copies_silent") or 0
    return said + (f"; {wording.plural(silent, 'replica')} of partitions could not be read" if silent else "")


def _is_alone(own: Sequence[Row]) -> bool:
    """Nothing was there to compare its batches with."""
    return bool(total(own, "batches")) and total(own, "batches_compared") == 0
