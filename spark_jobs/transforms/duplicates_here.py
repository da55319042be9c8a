"""The rule of `transforms.duplicates` for few copies, which are held here: plain Python, row by row.

Both find the same; the tests hold them to it, and to SQL. Most rounds have few copies, and to plan and compile the
query of Spark costs seconds when it comes first and tenths of a second ever after.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from guarantees.audits import DuplicateCause
from spark_jobs.transforms.duplicates import EXAMPLES, GROUP_KEYS, ID_KEYS

Copy = Mapping[str, Any]


def duplicate_groups_here(
    earlier: Iterable[Copy], new: Iterable[Copy], meant: Mapping[str, int]
) -> list[dict[str, Any]]:
    """What `duplicate_groups(extra_copies(earlier, new, …))` finds; `meant` copies of an id, by topic id, else one."""
    groups: dict[tuple[object, ...], dict[object, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for first, later in _extra_copies(earlier, new, meant):
        example = {"message_id": later["message_id"], "first_copy": first, "later_copy": later}
        groups[_group_key(first, later)][later["id_hash"]].append(example)
    return [dict(zip(GROUP_KEYS, key, strict=True)) | _group(list(by_id.values())) for key, by_id in groups.items()]


def _extra_copies(
    earlier: Iterable[Copy], new: Iterable[Copy], meant: Mapping[str, int]
) -> Iterator[tuple[Copy, Copy]]:
    """Every new copy that is none of those meant to be there, after the first copy of its id."""
    copies: dict[tuple[object, ...], list[tuple[bool, Copy]]] = defaultdict(list)
    for is_new, rows in ((False, earlier), (True, new)):
        for row in rows:
            copies[tuple(row[name] for name in ID_KEYS)].append((is_new, row))
    for of_id in copies.values():
        of_id.sort(key=lambda copy: (copy[0], copy[1]["offset"], copy[1]["partition"], copy[1]["observed_at"]))
        _, first = of_id[0]
        for is_new, later in of_id[meant.get(first["topic_id"], 1) :]:
            if is_new and (later["partition"], later["offset"]) != (first["partition"], first["offset"]):
                yield first, later


def _group_key(first: Copy, later: Copy) -> tuple[object, ...]:
    """The values of GROUP_KEYS."""
    place = (later[name] for name in ("cluster_id", "topic", "topic_id", "partition"))
    producers = (first["producer_id"], later["producer_id"], later["producer_epoch"])
    return (*place, duplicate_cause(first, later).value, *(-1 if each is None else each for each in producers))


def duplicate_cause(first: Copy, later: Copy) -> DuplicateCause:
    """The first that holds."""
    if first["producer_id"] is None or later["producer_id"] is None:
        return DuplicateCause.NOT_IDEMPOTENT
    if first["producer_id"] != later["producer_id"]:
        return DuplicateCause.OTHER_PRODUCER_ID
    if first["producer_epoch"] != later["producer_epoch"]:
        return DuplicateCause.OTHER_TRANSACTION if later["is_transactional"] else DuplicateCause.OTHER_EPOCH
    if first["sequence"] != later["sequence"] or first["partition"] != later["partition"]:
        return DuplicateCause.SENT_TWICE
    return DuplicateCause.SAME_SEQUENCE


def _group(by_id: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Of the extra copies of each id, which stand in the order of their offsets."""
    extra = [len(copies) for copies in by_id]
    firsts = sorted((copies[0] for copies in by_id), key=lambda each: each["later_copy"]["offset"])
    return {
        "sampled_extra_copies": sum(extra),
        "squares": sum(number * number for number in extra),
        "largest": max(extra),
        "first_copy_offset": firsts[0]["later_copy"]["offset"],
        "last_copy_offset": max(copies[-1]["later_copy"]["offset"] for copies in by_id),
        "examples": firsts[:EXAMPLES],
    }
