"""The work of a task, in a Spark worker: read and keep ids, compare a bucket, look for missing ids, read ids again."""

import time
from dataclasses import dataclass, field, replace
from functools import singledispatch

import numpy as np

from kafka_reader.batches import Records
from spark_jobs.audits import blocks, comparing, order_comparing, order_files
from spark_jobs.audits.blocks import Account, Copies
from spark_jobs.audits.content_reading import read_content
from spark_jobs.audits.folders import FOUND, MISSING, READ, compared_path, missing_path
from spark_jobs.audits.order_reading import read_order
from spark_jobs.audits.plans import SINK, SOURCE
from spark_jobs.audits.reading import MOST_IDS, account_of, of_ids
from spark_jobs.audits.tasks import (
    CompareTask,
    ContentTask,
    Lane,
    NameTask,
    OrderCompareTask,
    OrderTask,
    Outcome,
    ReadTask,
    SearchTask,
)
from spark_jobs.id_hashes import counted, is_among
from spark_jobs.sources.open_clusters import OpenClusters
from spark_jobs.sources.range_reading import id_texts

LISTED = 200  # ids listed for each state and bucket; all are counted


def work_lane(lane: Lane) -> Outcome:
    """One task after another while there is time."""
    started, done = time.process_time(), Outcome()
    with OpenClusters() as clusters:
        for task in lane.tasks:
            outcome = work(task, clusters)
            done = done.plus(replace(outcome, done=int(outcome.error is None)))
            if _now_ms() >= lane.until_ms:
                break
    return replace(done, cpu_s=time.process_time() - started)


@singledispatch
def work(task: object, clusters: OpenClusters) -> Outcome:
    """Do it; what fails because of the cluster is an error in the outcome, and the rest of the slice stands."""
    raise TypeError(f"no task: {task!r}")


@work.register
def _read(task: ReadTask, clusters: OpenClusters) -> Outcome:
    """One answer at least, else a slice that starts late would never come forward."""
    reading = of_ids(task.request, clusters)
    kept = Kept(task, reading.first)
    for records, in_range in reading:
        kept.add(records, in_range)
        if reading.offsets and _now_ms() >= task.until_ms:
            break
        if kept.account.compared >= MOST_IDS:
            kept.write(reading.reached)
    kept.account = kept.account.plus(Account(purged=reading.pass_purged(task.window)))
    kept.write(reading.reached)
    return Outcome(offsets=reading.offsets, compared=kept.written, error=reading.error)


@dataclass(slots=True)
class Kept:
    """Ids that were read and are not written yet, of the offsets from `first` on; `written` ids were before."""

    task: ReadTask
    first: int
    copies: list[Copies] = field(default_factory=list)
    account: Account = field(default_factory=Account)
    written: int = 0

    def add(self, records: Records, in_range: np.ndarray) -> None:
        rows = np.flatnonzero(in_range & records.is_visible & records.has_id)
        self.copies.append(copies_of(records, rows, self.task.request.range.part.partition))
        self.account = self.account.plus(account_of(records, in_range, self.task.window, len(rows)))

    def write(self, following: int) -> None:
        """A file of all up to there, if that is further than the last one."""
        if following <= self.first:
            return
        copies, account, task = Copies.joined(self.copies), self.account, self.task
        self.copies.clear()  # or they would be there twice while they are written
        blocks.write_block(task.folder / READ, task.name, self.first, following, copies, account, task.buckets)
        self.first, self.account, self.written = following, Account(), self.written + account.compared


work.register(OrderTask, read_order)
work.register(ContentTask, read_content)


@work.register
def _search(task: SearchTask, clusters: OpenClusters) -> Outcome:
    missing = [blocks.read_copies(path).id_hash for path in sorted((task.folder / MISSING).glob("*.arrow"))]
    wanted = np.unique(np.concatenate(missing))
    reading = of_ids(task.request, clusters)
    found: list[Copies] = []
    for records, in_range in reading:
        rows = np.flatnonzero(in_range & records.is_visible & records.has_id)
        rows = rows[is_among(records.id_hash[rows], wanted)]
        found.append(copies_of(records, rows, task.request.range.part.partition))
        if reading.offsets and _now_ms() >= task.until_ms:
            break
    reading.reached = reading.purged_to or reading.reached
    if reading.offsets:
        copies = Copies.joined(found)
        blocks.write_block(
            task.folder / FOUND, task.name, reading.first, reading.reached, copies, Account(), task.buckets
        )
    return Outcome(offsets=reading.offsets, error=reading.error)


@work.register
def _compare(task: CompareTask, _clusters: OpenClusters) -> Outcome:
    """Sums and examples go to a small file; missing ids, which the search needs, to one of their own."""
    source, sink = (
        comparing.grouped(
            blocks.read_bucket(task.folder / READ, side, task.bucket),
            comparing.windows(tuple(each for each in task.ranges if each.side == side)),
        )
        for side in (SOURCE, SINK)
    )
    summary: dict[str, object] = {}
    if task.job.counts_copies:
        summary["duplicates"] = {
            SOURCE: comparing.duplicate_groups(source),
            SINK: comparing.duplicate_groups(sink, task.fan_out),
        }
    summary["ids"] = {
        side: comparing.per_partition(each.partitions(each.judged)) for side, each in ((SOURCE, source), (SINK, sink))
    }
    if task.job.counts_losses and any(each.side == SINK for each in task.ranges):
        missing = comparing.missing(source, sink.ids[sink.counts >= task.fan_out])
        surplus = comparing.missing(sink, source.ids)
        summary["surplus"] = {"counts": comparing.per_partition(surplus.partition), "listed": listed(surplus)}
        summary["missing"] = len(missing)
        summary["shown"] = counted(missing.id_hash, sink.ids, sink.counts).tolist() if task.fan_out > 1 else None
        blocks.write_copies(missing_path(task.folder, task.bucket), [missing], Account())
    blocks.write_json(compared_path(task.folder, task.bucket), summary)
    return Outcome(compared=len(source.copies) + len(sink.copies))


@work.register
def _compare_order(task: OrderCompareTask, _clusters: OpenClusters) -> Outcome:
    found = order_comparing.compare(
        order_files.read_bucket(task.folder / READ, task.bucket), is_numbered=task.is_numbered
    )
    blocks.write_json(compared_path(task.folder, task.bucket), found)
    return Outcome()


@work.register
def _name(task: NameTask, clusters: OpenClusters) -> Outcome:
    """One batch a time; an offset that is gone by now stays without a text."""
    texts: dict[int, str | None] = {}
    error = None
    left = sorted(task.offsets)
    while left:
        wanted = replace(task.request.range, first_offset=left[0], next_offset=left[0] + 1)
        reading = of_ids(replace(task.request, range=wanted), clusters, max_bytes=1)
        for records, _ in reading:
            rows = np.flatnonzero(np.isin(records.offset, left) & records.has_id)
            found = id_texts(task.request, records, rows).to_pylist()
            texts |= dict(zip(records.offset[rows].tolist(), found, strict=True))
        error = error or reading.error
        left = [offset for offset in left[1:] if offset not in texts]
    blocks.write_json(task.path, {str(offset): text for offset, text in texts.items()})
    return Outcome(error=error)


def copies_of(records: Records, rows: np.ndarray, partition: int) -> Copies:
    producer_id = records.producer_id[rows]
    return Copies(
        id_hash=records.id_hash[rows],
        partition=np.full(len(rows), partition, dtype=np.int32),
        offset=records.offset[rows],
        timestamp_ms=records.timestamp_ms[rows],
        producer_id=producer_id,
        producer_epoch=np.where(producer_id < 0, -1, records.producer_epoch[rows]).astype(np.int32),
        sequence=records.sequence[rows].astype(np.int32),
        is_transactional=records.is_transactional[rows],
    )


def listed(copies: Copies) -> list[list[int]]:
    """The first ones by partition and offset: hash, partition, offset, time."""
    first = copies.taken(np.lexsort((copies.offset, copies.partition))[:LISTED])
    return np.stack([first.id_hash, first.partition, first.offset, first.timestamp_ms], axis=1).tolist()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
