"""The exact comparison of a closed window: Spark's workers, DuckDB's SQL and plain Python count the same."""

import random
from collections import Counter

import duckdb
import pyarrow as pa
import pytest

from settings import ClusterSettings, MessageId, PipelineSettings
from spark_jobs.audits import folders
from spark_jobs.audits.comparing import GROUP_KEYS
from spark_jobs.audits.exact import ExactAudit
from spark_jobs.audits.plans import SINK, SOURCE
from spark_jobs.audits.tallies import LOST, SURPLUS
from tests.spark_jobs.histories import history, oracle, plan, spool

pytestmark = pytest.mark.spark

PIPELINE = PipelineSettings(
    name="p", cluster="c", source="orders", group="g", sink="bills", id=MessageId(key=True), store_ids=False
)
CLUSTER = ClusterSettings(name="c", bootstrap_servers="nobody:1")


def audited(spark, tmp_path, rows, planned, run="r"):
    """All slices over files as readers leave them; nothing is read from Kafka."""
    folder = folders.run_folder(tmp_path, run)
    spool(rows, folder, planned.buckets)
    audit = ExactAudit(spark, planned, folder, PIPELINE, CLUSTER, lanes=2)
    while audit.next_slice():
        pass
    return audit.result()


def found(result):
    """As the oracle says it."""
    extra = Counter({
        (side, *(group[key] for key in GROUP_KEYS)): group["extra_copies"]
        for side, groups in result.groups.items() for group in groups
    })  # fmt: skip
    ids = {(side, p): n for side, counts in result.ids.items() for p, n in counts.items()}
    listed = {state: {(i.partition, i.offset, i.id_hash) for i in result.listed if i.state == state}
              for state in (LOST, SURPLUS)}  # fmt: skip
    return extra, ids, listed[LOST], listed[SURPLUS]


SQL = """
WITH ranked AS (
    SELECT *, row_number() OVER id AS place, first_value(pid) OVER id AS first_pid,
        first_value(epoch) OVER id AS first_epoch, first_value(seq) OVER id AS first_seq,
        first_value("partition") OVER id AS first_partition
    FROM copies WINDOW id AS (PARTITION BY side, id_hash ORDER BY "offset", "partition"))
SELECT side, "partition",
    CASE WHEN first_pid < 0 OR pid < 0 THEN 'not_idempotent'
         WHEN first_pid <> pid THEN 'other_producer_id'
         WHEN first_epoch <> epoch AND transactional THEN 'other_transaction'
         WHEN first_epoch <> epoch THEN 'other_epoch'
         WHEN first_seq <> seq OR first_partition <> "partition" THEN 'sent_twice'
         ELSE 'same_sequence' END AS cause, first_pid, pid, epoch, count(*)
FROM ranked WHERE place > (CASE side WHEN 'sink' THEN $fan_out ELSE 1 END) AND "offset" BETWEEN 10 AND 29 GROUP BY ALL
"""
IDS_SQL = """
WITH firsts AS (
    SELECT side, id_hash, min(("offset", "partition")) AS place, count(*) AS copies FROM copies GROUP BY ALL)
SELECT side, place[2], place[1], id_hash,
    EXISTS (FROM firsts AS other WHERE other.side <> firsts.side AND other.id_hash = firsts.id_hash
        AND other.copies >= CASE other.side WHEN 'sink' THEN $fan_out ELSE 1 END) AS is_there
FROM firsts WHERE place[1] BETWEEN 10 AND 29
"""


def by_duckdb(rows, fan_out):
    columns = ("side", "partition", "offset", "id_hash", "pid", "epoch", "seq", "transactional")
    table = pa.Table.from_pylist([{name: getattr(row, name) for name in columns} for row in rows])
    with duckdb.connect(":memory:") as connection:
        connection.register("copies", table)
        about = {"fan_out": fan_out}
        extra = Counter({tuple(row[:-1]): row[-1] for row in connection.execute(SQL, about).fetchall()})
        firsts = connection.execute(IDS_SQL, about).fetchall()
    ids = Counter((side, partition) for side, partition, *_ in firsts)
    lacking = {side: {(p, o, h) for s, p, o, h, there in firsts if s == side and not there} for side in (SOURCE, SINK)}
    return extra, dict(ids), lacking[SOURCE], lacking[SINK]


@pytest.mark.parametrize(("seed", "fan_out"), [(0, 1), (1, 1), (2, 2), (3, 3)])
def test_spark_duckdb_and_plain_python_count_the_same(spark, tmp_path, monkeypatch, seed, fan_out):
    monkeypatch.setattr("spark_jobs.audits.plans.IDS_AT_ONCE", 40)  # several buckets
    rows = history(random.Random(seed))

    exact = found(audited(spark, tmp_path, rows, plan(fan_out=fan_out)))

    assert exact == oracle(rows, fan_out)
    assert exact == by_duckdb(rows, fan_out)
    assert plan().buckets == 4


def test_random_histories_show_every_cause_loss_and_surplus():
    results = [oracle(history(random.Random(seed))) for seed in range(3)]

    assert len({key[2] for extra, *_ in results for key in extra}) == 6
    assert all(lost and surplus for _, _, lost, surplus in results)
