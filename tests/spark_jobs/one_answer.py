"""A live round and an exact audit of a scripted pipeline, as rows that say nothing of when and where they were made.

`python -m tests.spark_jobs.one_answer SPEC` runs it in a session that the JSON of SPEC describes, and prints the rows.
"""

import json
import logging
import socket
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import functions as sf

from guarantees.audits import Job
from settings import MessageId, SparkSettings
from spark_jobs.audited import audited_topics
from spark_jobs.audits import folders
from spark_jobs.audits.exact import ExactAudit
from spark_jobs.audits.planning import fetch_plan
from spark_jobs.clusters import AuditedCluster
from spark_jobs.live import warm_up
from spark_jobs.preflight import NEEDED, ExecutorLacksError, check_executors
from spark_jobs.rounds import LiveRounds
from spark_jobs.session import spark_session, tasks_at_once
from spark_jobs.stored_samples import as_frame
from spark_jobs.transforms.losses import judged_ids
from store.audit_requests import AuditRequest
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter, snapshot
from store.reading import segments
from store.rows import python_rows
from store.segments import producer_name
from tests.spark_jobs.scripted import Script

_OF_THE_RUN = ("run_id", "observed_at", "segment")


def answer(spark, script, data_dir, window, lanes):
    """What a round, the judging of its samples and an audit of the window find."""
    settings = script.settings(data_dir)
    _run_rounds(spark, settings, data_dir)
    tables = snapshot(data_dir / METRICS_FILE, ["ledger", "duplicates"])
    return {
        **{name: _in_order(python_rows(name, tables[name])) for name in tables},
        "judged": _judged(spark, script, data_dir),
        "audit": _audited(spark, settings, data_dir, window, lanes),
    }


def decoded(spark, script, data_dir, tasks):
    """A round whose ids a decoder of the executors makes, one for which they have none, and what is said of that."""
    recorder = Recorder()
    logging.getLogger("spark_jobs.preflight").addHandler(recorder)
    check_executors(spark, tasks, ["shouted", "nowhere"])
    found = {"said": recorder.said}
    for name in ("shouted", "nowhere"):
        folder = data_dir / name
        folder.mkdir(parents=True)
        _run_rounds(spark, script.settings(folder, id=MessageId(decoder=name)), folder, 2)
        messages = [row["message"] for row in python_rows("job_runs", snapshot(folder / METRICS_FILE)["job_runs"])]
        ids = {each for path in segments(folder, "id_samples", None) for each in _message_ids(path)}
        found[name] = {"ids": sorted(ids), "waits": [message for message in messages if message]}
    return found


def _run_rounds(spark, settings, data_dir, rounds=1):
    topics = audited_topics(settings.pipelines)
    with (
        closing(SegmentLog(data_dir, producer_name(socket.gethostname(), "jobs"))) as log,
        MetricsWriter(data_dir / METRICS_FILE) as metrics,
        AuditedCluster(settings.clusters[0], topics, settings.spark.round_s) as cluster,
    ):
        live = LiveRounds(spark, settings, [cluster], log, metrics, _now_ms())
        for _ in range(rounds):
            live.run_round(_now_ms())


def _message_ids(path):
    return pq.read_table(path)["message_id"].to_pylist()


class Recorder(logging.Handler):
    """Keeps what is logged."""

    def __init__(self):
        super().__init__()
        self.said = []

    def emit(self, record):
        self.said.append(record.getMessage())


def _judged(spark, script, data_dir):
    samples = as_frame(spark, segments(data_dir, "id_samples", None))
    source, sink = (samples.where(sf.col("topic") == topic) for topic in (script.source, script.sink))
    rows = judged_ids(source.withColumn("is_due", sf.lit(True)), sink).toArrow().to_pylist()
    lost = [{**row, "lost": [(one["offset"], one["message_id"]) for one in row["lost"]]} for row in rows]
    return _in_order(lost)


def _audited(spark, settings, data_dir, window, lanes):
    request = AuditRequest("r", _now_ms(), "Ada", Job.AUDIT, "billing", *window)
    plan = fetch_plan(settings.clusters[0], settings.pipelines[0], request, data_dir, _now_ms())
    folder = folders.run_folder(data_dir, "r")
    audit = ExactAudit(spark, plan, folder, settings.pipelines[0], settings.clusters[0], lanes=lanes)
    while audit.next_slice():
        pass
    found = audit.result()
    return json.loads(json.dumps({
        "groups": found.groups, "counts": found.counts, "ids": found.ids,
        "accounts": {name: asdict(account) for name, account in found.accounts.items()},
        "listed": [asdict(one) for one in found.listed],
    }))  # fmt: skip


def _in_order(rows: Iterable[Mapping[str, object]]) -> list[str]:
    kept = ({name: value for name, value in row.items() if name not in _OF_THE_RUN} for row in rows)
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in kept)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def main() -> None:
    spec = json.loads(sys.argv[1])
    settings = SparkSettings(**spec["spark"])
    spark = spark_session(settings)
    warm_up(spark)
    script = Script(**spec["script"])
    rows = answer(spark, script, Path(spec["data_dir"]), spec["window"], tasks_at_once(settings))
    try:
        check_executors(spark, tasks_at_once(settings), needed=(*NEEDED, "no_such_module"))
    except ExecutorLacksError as exc:
        rows["preflight"] = str(exc)
    rows["decoded"] = decoded(spark, script, Path(spec["data_dir"]) / "decoded", tasks_at_once(settings))
    spark.stop()
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
