"""The result of an exact audit as the page shows it: what was counted, how exactly, and what proves it. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import audit_words, wording
from dashboard.audit_examples import message_id, place, producer
from dashboard.names import cut
from guarantees.audits import DuplicateCause, Job
from guarantees.findings import Grade
from settings import PipelineSettings

Row = Mapping[str, Any]

STATES_OF_IDS = {"lost": "✕ Lost", "late": "◷ Late", "waiting": "◷ Waiting", "surplus": "＋ Surplus"}
ACCOUNTED = {
    "visible": "Visible", "without_id": "Without id", "not_json": "Not JSON", "aborted": "Aborted",
    "markers": "Markers", "compacted": "Compacted", "unexplained": "Unexplained", "below_log_start": "Below log start",
    "undecided": "Undecided",
}  # fmt: skip
COUNTED = {
    "ids": "Ids", "extra_copies": "Extra copies", "lost": "Lost", "late": "Late", "waiting": "Waiting",
    "surplus": "Surplus",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Labels:
    """Which columns of `audit_ranges` a job fills, and their names on the page: every offset, and what was counted."""

    accounted: Mapping[str, str]
    counted: Mapping[str, str]


OF_IDS = Labels(ACCOUNTED, COUNTED)


def summary(
    row: Row, ranges: Sequence[Row], groups: Sequence[Row], pipeline: PipelineSettings
) -> list[tuple[str, Grade | None]]:
    """What was counted, in sentences, with the grade of each; that nothing was counted needs none."""
    found: list[tuple[str, Grade | None]] = []
    for side in ("source", "sink"):
        own = [each for each in ranges if each["side"] == side]
        copies = total(own, "extra_copies")
        if copies is not None and own:
            topic, ids = own[0]["topic"], wording.plural(total(own, "ids") or 0, "id")
            said = f"{topic}: {amount(copies, 'extra copy', 'extra copies')} among {ids}"
            found.append((said, _grade_of_copies([group for group in groups if group["topic"] == topic])))
    source = [each for each in ranges if each["side"] == "source"]
    lost = total(source, "lost")
    if lost is not None:
        found.append((_losses(source, lost), _grade(pipeline, source) if lost else None))
        surplus = total([each for each in ranges if each["side"] == "sink"], "surplus") or 0
        said = f"{wording.plural(surplus, 'id')} of the sink without a record of the source"
        found.append((said, Grade.PROBABLE if surplus else None))
    elif Job(row["job"]).counts_losses:
        found.append(("losses: no sink is declared", Grade.NOT_OBSERVABLE))
    return found


def exactness(row: Row, ranges: Sequence[Row]) -> str:
    """How far the figures are exact."""
    if row["is_whole"]:
        return f"Counted, not estimated: {_compared(row['job'], ranges)}, and every offset is accounted for."
    kinds = {"unexplained": "unexplained", "below_log_start": "purged before they were read", "undecided": "undecided"}
    sums = {words: sum(each[name] for each in ranges) for name, words in kinds.items()}
    said = [f"{wording.plural(offsets, 'offset')} {words}" for words, offsets in sums.items() if offsets]
    cut_off = sum(each["begins_at_log_start"] for each in ranges)
    said += [f"{wording.plural(cut_off, 'partition')} whose window begins at the log start"] if cut_off else []
    return f"Counted, not estimated, but the window is not whole: {'; '.join(said)}."


def _compared(job: str, ranges: Sequence[Row]) -> str:
    """Of what is in the window; a compacted topic is not compared, nor a batch of which there is one copy alone."""
    if job != Job.CONTENT:
        what = "record with a key and a place" if job == Job.ORDER else "id"
        return f"every {what} in the window was compared"
    with_batches = [each for each in ranges if each["batches"]]
    if with_batches and not any(each["batches_compared"] for each in with_batches):
        return "none of the batches in the window was compared"
    return "every batch in the window that is not compacted, and has another copy, was compared"


def cost(row: Row) -> str:
    """What the audit took."""
    return (
        f"{wording.count(row['records'])} records compared in {wording.plural(row['slices_done'], 'slice')}, "
        f"{row['busy_s']:.1f} s of work, {row['cpu_s']:.1f} s of the workers' processors."
    )


def topic_rows(ranges: Sequence[Row], labels: Labels) -> list[dict[str, object]]:
    """One row for each topic: its offsets by what they are, and what was counted."""
    rows = []
    for side in ("source", "sink"):
        own = [each for each in ranges if each["side"] == side]
        if own:
            head: dict[str, object] = {"Topic": cut(own[0]["topic"]), "Side": side}
            rows.append(head | {"Offsets": sum(e["next_offset"] - e["first_offset"] for e in own)} | _sums(own, labels))
    return rows


def partition_row(each: Row, labels: Labels) -> dict[str, object]:
    """One partition; offsets as text, in full."""
    committed = each["committed_to"]
    return {
        "Partition": cut(f"{each['topic']}-{each['partition']}"),
        "From": str(each["first_offset"]),
        "To": str(each["next_offset"]),
        "Read from": str(each["read_from"]),
        "Read to": str(each["read_to"]),
        "Log start": str(each["log_start_offset"]),
        "Last stable": str(each["last_stable_offset"]),
        "Group past": "–" if each["side"] == "sink" else "unknown" if committed is None else str(committed),
    } | _sums([each], labels)


def cause_row(row: Row) -> dict[str, object]:
    """Extra copies of one partition, cause and pair of producers."""
    cause = DuplicateCause(row["cause"])
    return {
        "Cause": audit_words.CAUSES[cause],
        "Partition": cut(f"{row['topic']}-{row['partition']}"),
        "Extra copies": row["extra_copies"],
        "First producer → later": f"{named_producer(row['first_producer_id'])} → {named_producer(row['producer_id'])}",
        "Offsets apart": span(row["nearest_offsets"], row["farthest_offsets"], "other partition"),
        "Time apart": span(row["nearest_ms"], row["farthest_ms"], "–", " ms"),
        "Later copies from": str(row["first_copy_offset"]),
        "To": str(row["last_copy_offset"]),
        "What it means": audit_words.meaning(cause),
    }


def example_rows(groups: Iterable[Row]) -> list[dict[str, object]]:
    """Both copies of single ids, in full."""
    return [
        {
            "Message id": message_id(example["message_id"]),
            "Cause": audit_words.CAUSES[DuplicateCause(row["cause"])],
            "First copy": place(row["topic"], example["first"]),
            "Later copy": place(row["topic"], example["last"]),
            "First producer": producer(example["first"]),
            "Later producer": producer(example["last"]),
        }
        for row in groups
        for example in json.loads(row["examples"])
    ]


def id_row(row: Row) -> dict[str, object]:
    """One id that a side lacks, in full."""
    return {
        "State": STATES_OF_IDS[row["state"]],
        "Message id": message_id(row["message_id"]),
        "Record": f"{row['topic']}-{row['partition']}:{row['offset']}",
        "Written (UTC)": wording.utc(row["timestamp_ms"]).removesuffix(" UTC"),
        "Found in the sink at": row["found_at"] or "nowhere",
    }


def total(ranges: Sequence[Row], name: str) -> int | None:
    """Over partitions; None where it was not counted on one of them."""
    values = [each[name] for each in ranges]
    return None if not values or None in values else sum(values)


def _losses(source: Sequence[Row], lost: int) -> str:
    """An id that waits is not judged: it is none of those of which so many are lost."""
    late, waiting, ids = total(source, "late") or 0, total(source, "waiting") or 0, total(source, "ids") or 0
    if waiting and waiting >= ids:
        return f"losses: none of {wording.plural(ids, 'id')} is judged, the group had not passed them for long enough"
    said = f"{wording.plural(lost, 'id')} lost of {wording.count(ids - waiting)}"
    return said + (f", {wording.count(late)} late" if late else "") + (
        f"; {wording.count(waiting)} more not judged, the group had not passed them for long enough" if waiting else ""
    )  # fmt: skip


def _grade_of_copies(groups: Sequence[Row]) -> Grade | None:
    """That a broker wrote one sequence twice is proven; that other copies are one message rests on unique ids."""
    causes = {group["cause"] for group in groups}
    if not causes:
        return None
    return Grade.PROVEN if causes == {DuplicateCause.SAME_SEQUENCE} else Grade.PROBABLE


def _grade(pipeline: PipelineSettings, source: Sequence[Row]) -> Grade:
    """A missing id is proven lost where every record must have one sink record and the group had passed it."""
    is_passed = all(each["committed_to"] is not None for each in source)
    return Grade.PROVEN if pipeline.one_to_one and is_passed else Grade.PROBABLE


def amount(number: int, one: str, several: str) -> str:
    return f"{wording.count(number)} {one if number == 1 else several}"


def _sums(ranges: Sequence[Row], labels: Labels) -> dict[str, object]:
    # A range that was counted before there was such a column had nothing of it: it is null.
    accounted = {label: sum(each[name] or 0 for each in ranges) for name, label in labels.accounted.items()}
    counted = {label: total(ranges, name) for name, label in labels.counted.items()}
    return accounted | counted


def named_producer(producer_id: int) -> str:
    return "none" if producer_id < 0 else str(producer_id)


def span(low: int | None, high: int | None, none: str, unit: str = "") -> str:
    if low is None or high is None:
        return none
    return f"{wording.count(low)}{unit}" if low == high else f"{wording.count(low)} to {wording.count(high)}{unit}"
