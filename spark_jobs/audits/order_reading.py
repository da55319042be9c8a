"""Reading records for their order, in a worker: what is kept of a record is its key and its place."""

import time

import numpy as np
import pyarrow as pa

from kafka_reader.ordered_records import OrderedRecords, decode_ordered
from spark_jobs.audits import order_files
from spark_jobs.audits.blocks import Account
from spark_jobs.audits.folders import READ
from spark_jobs.audits.reading import MOST_IDS, Reading
from spark_jobs.audits.tasks import OrderTask, Outcome
from spark_jobs.sources.open_clusters import OpenClusters


def read_order(task: OrderTask, clusters: OpenClusters) -> Outcome:
    """One answer at least, else a slice that starts late would never come forward."""
    reading = Reading(
        task.request,
        clusters,
        lambda fetched: decode_ordered(fetched.blob, fetched.aborted, task.order, fetched.headers),
    )
    kept: list[pa.Table] = []
    account = Account()
    for records, in_range in reading:
        rows = np.flatnonzero(in_range & records.is_visible & records.has_id & records.has_place)
        kept.append(order_files.rows_of(records, rows, task.name, task.window, task.buckets))
        account = account.plus(_account(records, in_range, task.window, len(rows)))
        if reading.offsets and (time.time_ns() // 1_000_000 >= task.until_ms or account.compared >= MOST_IDS):
            break
    account = account.plus(Account(purged=reading.pass_purged(task.window)))
    if reading.offsets:
        order_files.write(task.folder / READ, task.name, reading.first, reading.reached, kept, account)
    return Outcome(offsets=reading.offsets, compared=account.compared, error=reading.error)


def _account(records: OrderedRecords, in_range: np.ndarray, window: tuple[int, int], compared: int) -> Account:
    here = in_range & (records.offset >= window[0]) & (records.offset < window[1])
    visible = here & records.is_visible
    return Account(
        visible=int(visible.sum()),
        without_key=int((visible & ~records.has_id).sum()),
        without_place=int((visible & records.has_id & ~records.has_place).sum()),
        aborted=int((here & records.is_aborted).sum()),
        markers=int((here & records.is_control).sum()),
        compared=compared,
    )
