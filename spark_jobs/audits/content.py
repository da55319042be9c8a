"""One audit of content: whether all replicas hold the same batches of a window, and as they were read earlier."""

from pathlib import Path
from typing import Any

from spark_jobs.audits import blocks, folders
from spark_jobs.audits.content_reading import pieces
from spark_jobs.audits.exact import READING, ExactAudit, Steps
from spark_jobs.audits.plans import AuditPlan, AuditRange
from spark_jobs.audits.tallies import Tally
from spark_jobs.audits.tasks import ContentTask, ReadTask
from spark_jobs.stored_samples import overlapping
from store.reading import Window, segments

AROUND_MS = 3_600_000  # the collectors read a batch soon after it was written: so far around the window
LISTED = 200  # differing batches kept; all are counted


class ContentAudit(ExactAudit):
    """`next_slice` until it returns False; then `result`."""

    def result(self) -> Tally:
        return content_tally(self.plan, self._folder)

    def _steps(self, until_ms: int) -> Steps:
        return ((READING, lambda: self._to_read(until_ms)),)

    def _reading(self, task: ReadTask) -> ContentTask:
        each = next(each for each in self.plan.ranges if each.name == task.name)
        replicas = () if each.is_compacted else tuple(r for r in each.replicas if r != each.leader)
        known = {name: getattr(task, name) for name in ReadTask.__dataclass_fields__}
        return ContentTask(**known, replicas=replicas, earlier=() if each.is_compacted else self._earlier(each))

    def _earlier(self, each: AuditRange) -> tuple[Path, ...]:
        begin_ms, end_ms = self.plan.times
        window = Window(max(0, begin_ms - AROUND_MS), end_ms + AROUND_MS)
        listed = segments(folders.data_dir(self._folder), "batch_headers", window)
        return tuple(overlapping(listed, {each.part: (each.read_first, each.read_next)}))


def content_tally(plan: AuditPlan, folder: Path) -> Tally:
    """The pieces of each partition as one."""
    found = pieces(folder / folders.READ)
    content: dict[tuple[str, int], dict[str, int | None]] = {}
    differing: list[dict[str, Any]] = []
    for each in plan.ranges:
        own: list[dict[str, Any]] = found.get(each.name, [])
        content[each.side, each.part.partition] = _counts(each, own)
        differing += [
            {"side": each.side, "partition": each.part.partition, "copy": copy["copy"], **batch}
            for piece in own
            for copy in piece["copies"]
            for batch in copy["differing"]
        ]
    differing.sort(key=lambda batch: (batch["side"], batch["partition"], batch["base_offset"], batch["copy"]))
    return Tally(plan, blocks.accounts(folder / folders.READ), content=content, differing=differing[:LISTED])


def _counts(each: AuditRange, own: list[dict[str, Any]]) -> dict[str, int | None]:
    """Compaction writes batches anew on each replica, at its own time: there is nothing to compare."""
    copies = [copy for piece in own for copy in piece["copies"]]
    silent = {copy["copy"] for copy in copies if copy["error"] is not None}
    if each.is_compacted:
        return {"batches": sum(piece["batches"] for piece in own), "batches_compared": None, "batches_differing": None,
                "copies_silent": None}  # fmt: skip
    return {
        "batches": sum(piece["batches"] for piece in own),
        "batches_compared": sum(copy["compared"] for copy in copies),
        "batches_differing": sum(copy["count"] for copy in copies),
        "copies_silent": len(silent),
    }
