"""The result of an audit of the order within keys as the page shows it. Pure."""

import json
from collections.abc import Iterable, Sequence

from dashboard import wording
from dashboard.audit_examples import message_id, place, producer
from dashboard.exact_audits import Labels, Row, named_producer, span, total
from dashboard.names import cut
from guarantees.findings import Grade

ACCOUNTED = {
    "visible": "Visible", "without_key": "Without key", "without_place": "Without place", "aborted": "Aborted",
    "markers": "Markers", "compacted": "Compacted", "unexplained": "Unexplained", "below_log_start": "Below log start",
    "undecided": "Undecided",
}  # fmt: skip
COUNTED = {
    "ordered": "Judged", "keys": "Keys", "keys_elsewhere": "On several partitions", "out_of_order": "Out of order",
    "repeated": "Repeated", "numbers_missing": "Numbers missing",
}  # fmt: skip

OF_ORDER = Labels(ACCOUNTED, COUNTED)


def summary(ranges: Sequence[Row]) -> list[tuple[str, Grade | None]]:
    """What was counted on each topic. That a place is lower is proven; that it should not be is the declaration."""
    found: list[tuple[str, Grade | None]] = []
    for side in ("source", "sink"):
        own = [each for each in ranges if each["side"] == side]
        if own:
            broken = total(own, "out_of_order") or 0
            found.append((_said(own, broken), Grade.PROBABLE if broken else None))
    return found


def group_row(row: Row) -> dict[str, object]:
    """Records out of order on one partition by the producers of both."""
    producers = (named_producer(row[name]) for name in ("first_producer_id", "producer_id"))
    return {
        "Partition": cut(f"{row['topic']}-{row['partition']}"),
        "Out of order": row["out_of_order"],
        "Keys": row["keys"],
        "Earlier producer → later": " → ".join(producers),
        "Offsets apart": span(row["nearest_offsets"], row["farthest_offsets"], "–"),
        "From": str(row["first_offset"]),
        "To": str(row["last_offset"]),
    }


def example_rows(groups: Iterable[Row]) -> list[dict[str, object]]:
    """Both records of single violations, in full."""
    return [
        {
            "Key": message_id(example["key"]),
            "Earlier record": place(row["topic"], example["earlier"] | {"partition": row["partition"]}),
            "Its place": str(example["earlier"]["place"]),
            "Later record": place(row["topic"], example["later"] | {"partition": row["partition"]}),
            "Its place, lower": str(example["later"]["place"]),
            "Earlier producer": producer(example["earlier"]),
            "Later producer": producer(example["later"]),
        }
        for row in groups
        for example in json.loads(row["examples"])
    ]


def _said(own: Sequence[Row], broken: int) -> str:
    judged, keys = total(own, "ordered") or 0, total(own, "keys") or 0
    said = (
        f"{own[0]['topic']}: {wording.count(broken)} of {wording.plural(judged, 'record')} stored behind one that "
        f"should follow it in its key, among {wording.plural(keys, 'key')}"
    )
    missing = total(own, "numbers_missing")
    parts = {
        "repeated, which is no matter of order": total(own, "repeated") or 0,
        "numbers missing between those of a key": missing or 0,
        "keys on several partitions, each compared alone": total(own, "keys_elsewhere") or 0,
        "records without a key": total(own, "without_key") or 0,
        "records without a place": total(own, "without_place") or 0,
    }
    return said + "".join(f"; {wording.count(number)} {what}" for what, number in parts.items() if number)
