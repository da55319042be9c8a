"""What the files of an audit add up to: every offset by what it is, extra copies, missing and surplus ids."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spark_jobs.audits import blocks, folders
from spark_jobs.audits.blocks import Account, Copies
from spark_jobs.audits.comparing import merged_groups, per_partition
from spark_jobs.audits.plans import SINK, SOURCE, AuditPlan, AuditRange

LISTED = 200  # single ids kept of each state, shared out over the partitions; all are counted
FEWEST_LISTED = 5  # of each partition, however many there are
LOST, LATE, WAITING, SURPLUS = "lost", "late", "waiting", "surplus"
Counts = dict[int, int]  # by partition


@dataclass(slots=True)
class ListedId:
    """One id that a side lacks, at its first copy; `found_at` is where the sink has a late one."""

    state: str
    side: str
    partition: int
    offset: int
    id_hash: int
    timestamp_ms: int
    found_at: str | None = None
    message_id: str | None = None


@dataclass(slots=True)
class Tally:
    """The result of an audit. Counts are exact over what was read; a state that was not counted is not in `counts`."""

    plan: AuditPlan
    accounts: Mapping[str, Account]
    groups: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    ids: dict[str, Counts] = field(default_factory=dict)
    counts: dict[str, Counts] = field(default_factory=dict)
    listed: list[ListedId] = field(default_factory=list)
    order: Mapping[tuple[str, int], Mapping[str, int | None]] | None = None  # by side and partition
    order_groups: list[dict[str, Any]] = field(default_factory=list)
    content: Mapping[tuple[str, int], Mapping[str, int | None]] | None = None  # by side and partition
    differing: list[dict[str, Any]] = field(default_factory=list)

    def total(self, state: str) -> int | None:
        """Of all partitions; None where it was not counted."""
        return sum(self.counts[state].values()) if state in self.counts else None

    @property
    def extra_copies(self) -> int | None:
        if not self.plan.job.counts_copies:
            return None
        return sum(group["extra_copies"] for groups in self.groups.values() for group in groups)

    def account(self, each: AuditRange) -> Account:
        return self.accounts.get(each.name, Account())

    def gaps(self, each: AuditRange) -> int:
        """Offsets of the window that hold no record and were not purged."""
        account = self.account(each)
        held = account.visible + account.aborted + account.markers + account.purged
        return each.window_next - each.window_first - held

    @property
    def is_whole(self) -> bool:
        """Nothing of the window was purged, is undecided, or is missing without an explanation; every copy answered."""
        silent = any(counts["copies_silent"] for counts in (self.content or {}).values())
        return not silent and not any(
            each.undecided or each.begins_at_log_start or self.account(each).purged
            or (self.gaps(each) and not each.is_compacted)
            for each in self.plan.ranges
        )  # fmt: skip

    def listed_offsets(self) -> dict[AuditRange, list[int]]:
        """The records whose ids are shown, by range."""
        wanted: dict[tuple[str, int], set[int]] = {}
        for one in self.listed:
            wanted.setdefault((one.side, one.partition), set()).add(one.offset)
        for side, groups in self.groups.items():
            for copy in (example["last"] for group in groups for example in group["examples"]):
                wanted.setdefault((side, copy["partition"]), set()).add(copy["offset"])
        ranges = {(each.side, each.part.partition): each for each in self.plan.ranges}
        return {ranges[place]: sorted(offsets) for place, offsets in sorted(wanted.items())}

    def named(self, folder: Path) -> "Tally":
        """With the texts of the ids, as far as they were read again."""
        known = texts(folder)
        for one in self.listed:
            one.message_id = known.get((f"{one.side}-{one.partition}", one.offset))
        for side, groups in self.groups.items():
            for example in (example for group in groups for example in group["examples"]):
                last = example["last"]
                example["message_id"] = known.get((f"{side}-{last['partition']}", last["offset"]))
        return self


def tally(plan: AuditPlan, folder: Path) -> Tally:
    """Everything but the texts of ids. Only after all buckets were compared."""
    found = Tally(plan, blocks.accounts(folder / folders.READ))
    summaries = [json.loads(folders.compared_path(folder, bucket).read_text()) for bucket in range(plan.buckets)]
    for side in (SOURCE, SINK):
        found.ids[side] = _added(summary["ids"][side] for summary in summaries)
        groups = [group for summary in summaries for group in summary.get("duplicates", {}).get(side, [])]
        found.groups[side] = merged_groups(groups)
    if plan.has_sink and plan.job.counts_losses:
        _add_surplus(found, summaries)
        for bucket in range(plan.buckets):
            _add_missing(found, folder, bucket, summaries[bucket]["shown"])
    found.listed = _first_listed(found.listed, _listed_of_each(found.plan))
    return found


def _add_surplus(found: Tally, summaries: Iterable[Mapping[str, Any]]) -> None:
    own = [summary["surplus"] for summary in summaries]
    found.counts[SURPLUS] = _added(each["counts"] for each in own)
    found.listed += [
        ListedId(SURPLUS, SINK, partition, offset, id_hash, timestamp_ms)
        for each in own
        for id_hash, partition, offset, timestamp_ms in each["listed"]
    ]


def _add_missing(found: Tally, folder: Path, bucket: int, shown: list[int] | None) -> None:
    """Missing ids are late where the search has met all that was missing of them, else lost or not due yet.

    `shown`: how many of an id the sink had before the search; None where one is all there is.
    """
    missing = blocks.read_copies(folders.missing_path(folder, bucket))
    later = blocks.read_bucket(folder / folders.FOUND, SINK, bucket)
    later = later.taken(np.lexsort((later.partition, later.offset, later.id_hash)))
    met = np.searchsorted(later.id_hash, missing.id_hash, "right") - np.searchsorted(later.id_hash, missing.id_hash)
    late = met + np.array(shown or 0) >= found.plan.fan_out
    passed = _is_passed(missing, found.plan.side(SOURCE))
    sink = found.plan.side(SINK)[0].part.topic
    for state, rows in ((LATE, late), (LOST, ~late & passed), (WAITING, ~late & ~passed)):
        own = missing.taken(np.flatnonzero(rows))
        counts = found.counts.setdefault(state, {})
        for partition, number in per_partition(own.partition).items():
            counts[partition] = counts.get(partition, 0) + number
        first = own.taken(_first_of_each(own, _listed_of_each(found.plan)))
        found.listed += _as_listed(first, state, later if state == LATE else None, sink)
    found.listed = _first_listed(found.listed, _listed_of_each(found.plan))


def _as_listed(own: Copies, state: str, later: Copies | None, sink: str) -> list[ListedId]:
    return [
        ListedId(
            state=state,
            side=SOURCE,
            partition=int(own.partition[row]),
            offset=int(own.offset[row]),
            id_hash=int(own.id_hash[row]),
            timestamp_ms=int(own.timestamp_ms[row]),
            found_at=None
            if later is None
            else _place(later, int(np.searchsorted(later.id_hash, own.id_hash[row])), sink),
        )
        for row in range(len(own))
    ]


def _place(copies: Copies, row: int, topic: str) -> str:
    return f"{topic}-{copies.partition[row]}:{copies.offset[row]}"


def _is_passed(missing: Copies, ranges: Iterable[AuditRange]) -> np.ndarray:
    """Where it is not known how far the group came, it is taken to have passed the window: the result says so."""
    passed = np.ones(len(missing), dtype=np.bool_)
    for each in ranges:
        if each.committed_to is not None:
            passed[(missing.partition == each.part.partition) & (missing.offset >= each.committed_to)] = False
    return passed


def _listed_of_each(plan: AuditPlan) -> int:
    """How many ids of a state and partition: no partition is left without any."""
    return max(FEWEST_LISTED, LISTED // max(1, len(plan.side(SOURCE))))


def _first_of_each(own: Copies, most: int) -> np.ndarray:
    """The rows of the first ones of each partition, in order."""
    order = np.lexsort((own.offset, own.partition))
    partitions = own.partition[order]
    return order[np.arange(len(order)) - np.searchsorted(partitions, partitions) < most]


def _first_listed(ids: list[ListedId], most: int) -> list[ListedId]:
    """Of each state and partition the first ones."""
    kept: list[ListedId] = []
    seen: dict[tuple[str, int], int] = {}
    for one in sorted(ids, key=lambda one: (one.state, one.partition, one.offset)):
        place = one.state, one.partition
        seen[place] = seen.get(place, 0) + 1
        if seen[place] <= most:
            kept.append(one)
    return kept


def _added(counts: Iterable[Mapping[str, int]]) -> Counts:
    found: Counts = {}
    for each in counts:
        for partition, number in each.items():
            found[int(partition)] = found.get(int(partition), 0) + number
    return found


def texts(folder: Path) -> dict[tuple[str, int], str | None]:
    """Of the records that were read again, by the name of their range and their offset."""
    found: dict[tuple[str, int], str | None] = {}
    for path in (folder / folders.NAMED).glob("*.json"):
        name = path.name.split(".")[0]
        found |= {(name, int(offset)): text for offset, text in json.loads(path.read_text()).items()}
    return found
