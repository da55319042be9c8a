"""Reading two topics through Spark: the official connector, a sample of the ids, and an exact audit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from benchmarks.audit_topics import Topics
from benchmarks.process_tree import Part, Used, measured
from guarantees.audits import Job
from lab.cache import cache_dir
from settings import ClusterSettings, MessageId, PipelineSettings, SparkSettings
from spark_jobs.audits import folders
from spark_jobs.audits.exact import ExactAudit
from spark_jobs.audits.planning import fetch_plan
from spark_jobs.audits.plans import SINK, SOURCE, AuditPlan
from spark_jobs.duplicates import duplicate_rows
from spark_jobs.live import warm_up
from spark_jobs.loss_comparison import Rows, judged_rows
from spark_jobs.loss_steps import Judged, Step
from spark_jobs.ranges import OffsetRange
from spark_jobs.samples import append_samples, new_samples, read_ranges
from spark_jobs.session import spark_session, tasks_at_once
from spark_jobs.sources.kafka_ranges import RangeRequest
from spark_jobs.stored_samples import sample_files, stored
from store.audit_requests import AuditRequest
from store.log import SegmentLog

CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
SETTINGS = SparkSettings(master="local[2]")
WARM_ROUNDS = 3
PART = 4  # the smaller size is a fourth
Found = dict[str, int | None]
Outcome = tuple[Used, Found, Part]


def connector(bootstrap: str, topics: Sequence[str], answer: Callable[[DataFrame], int]) -> tuple[Used, list[int]]:
    """An answer of each topic; the jars are resolved before anything is measured."""
    conf = {"spark.jars.packages": CONNECTOR, "spark.jars.ivy": str(cache_dir() / "connector")}
    with _session(replace(SETTINGS, conf=conf)) as spark, measured() as used:
        found = [answer(_connected(spark, bootstrap, topic)) for topic in topics]
    return used, found


def connector_count(bootstrap: str, topics: Sequence[str]) -> tuple[Used, Found, None]:
    used, found = connector(bootstrap, topics, DataFrame.count)
    return used, {"records": sum(found)}, None


def connector_duplicates(bootstrap: str, topics: Sequence[str]) -> tuple[Used, Found, None]:
    """Extra copies by key, and nothing of losses: what takes a shuffle of every key."""
    used, found = connector(bootstrap, topics, _extra_copies)
    return used, {"records": None, "extra_copies": sum(found)}, None


def _extra_copies(records: DataFrame) -> int:
    per_key = records.groupBy("key").count().where("count > 1")
    (row,) = per_key.agg(sf.coalesce(sf.sum(sf.col("count") - 1), sf.lit(0)).alias("extra")).collect()
    return int(row["extra"])


def sample(bootstrap: str, topics: Topics, rate: float, folder: Path) -> Outcome:
    """Both sides read and decoded, ids of the sample kept in the workers, compared as a live round compares them."""
    pipeline, cluster = _pipeline(topics, topics.alike), _cluster(bootstrap)
    plan = _plan(cluster, pipeline, topics, folder)
    with _session(SETTINGS) as spark:
        return _part_and_whole(
            plan, lambda some, name: _sampled(spark, _requests(cluster, pipeline, some, rate), pipeline, folder / name)
        )


def exact(bootstrap: str, topics: Topics, sink: str, folder: Path) -> Outcome:
    """Every id of both sides, as `tidemark jobs audit` counts them in the resident session."""
    pipeline, cluster = _pipeline(topics, sink), _cluster(bootstrap)
    plan = _plan(cluster, pipeline, topics, folder)
    with _session(SETTINGS) as spark:
        return _part_and_whole(
            plan, lambda some, name: _audited(spark, some, folders.run_folder(folder, name), pipeline, cluster)
        )


def _part_and_whole(plan: AuditPlan, read: Callable[[AuditPlan, str], Found]) -> Outcome:
    """A part first, as often as makes a session warm, as the resident one is; then measured, then all."""
    some = _part_of(plan)
    for number in range(WARM_ROUNDS):
        read(some, f"warm-{number}")
    with measured() as used_for_part:
        part = read(some, "part")
    with measured() as used:
        found = read(plan, "whole")
    return used, found, (used_for_part, part["records"] or 0)


def _part_of(plan: AuditPlan) -> AuditPlan:
    """The first offsets of each range."""
    ends = [each.read_first + (each.read_next - each.read_first) // PART for each in plan.ranges]
    ranges = (
        replace(each, window_next=end, read_next=end, search_next=end)
        for each, end in zip(plan.ranges, ends, strict=True)
    )
    return replace(plan, ranges=tuple(ranges))


def _requests(cluster: ClusterSettings, pipeline: PipelineSettings, plan: AuditPlan, rate: float) -> list[RangeRequest]:
    return [
        RangeRequest(
            range=OffsetRange(each.part, each.leader, each.read_first, each.read_next),
            bootstrap_servers=cluster.bootstrap_servers,
            security=cluster.security,
            message_id=pipeline.id,
            rate=rate,
            horizon_s=pipeline.horizon_s,
            store_ids=True,
        )
        for each in plan.ranges
    ]


def _sampled(spark: SparkSession, requests: list[RangeRequest], pipeline: PipelineSettings, folder: Path) -> Found:
    """As a live round: read, append, seek copies, and judge what the sink has not shown by the samples as stored."""
    reads = read_ranges(spark, requests, tasks_at_once(SETTINGS))
    with closing(SegmentLog(folder, "h_jobs")) as log:
        for read in reads:
            append_samples(log, read)
    rates = {read.range.part.topic_id: read.request.rate for read in reads}
    (earlier,) = stored(spark, [])
    ranges = [read.range for read in reads]
    groups = duplicate_rows(spark, earlier, new_samples(reads), ranges=ranges, rates=rates, meant={})
    judged = _judged(spark, ranges, pipeline, folder)
    return {
        "records": sum(read.account.records for read in reads),
        "extra_copies": sum(int(str(group["sampled_extra_copies"])) for group in groups),
        "lost": sum(len(row["lost"]) for row in judged),
    }


def _judged(spark: SparkSession, ranges: Sequence[OffsetRange], pipeline: PipelineSettings, folder: Path) -> Rows:
    """Every id of the source's ranges is due."""
    source, sink = ([each for each in ranges if each.part.topic == topic] for topic in (pipeline.source, pipeline.sink))
    files = (sample_files(folder, {each.part: each.next_offset for each in side}, None) for side in (source, sink))
    steps = {
        each.part.partition: Step(each.part, Judged(each.first_offset, each.first_offset), *[each.next_offset] * 2)
        for each in source
    }
    return judged_rows(*stored(spark, *files), steps, 1.0, pipeline.fan_out)


def _audited(
    spark: SparkSession, plan: AuditPlan, folder: Path, pipeline: PipelineSettings, cluster: ClusterSettings
) -> Found:
    audit = ExactAudit(spark, plan, folder, pipeline, cluster, lanes=tasks_at_once(SETTINGS))
    while audit.next_slice():
        pass
    result = audit.result()
    return {
        "records": sum(result.account(each).visible for each in plan.ranges),
        "extra_copies": result.extra_copies,
        "lost": result.total("lost"),
    }


@contextmanager
def _session(settings: SparkSettings) -> Iterator[SparkSession]:
    """Warm, as the resident one is."""
    spark = spark_session(settings)
    try:
        warm_up(spark)
        yield spark
    finally:
        spark.stop()


def _connected(spark: SparkSession, bootstrap: str, topic: str) -> DataFrame:
    return (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", topic)
        .load()
    )


def _cluster(bootstrap: str) -> ClusterSettings:
    """Read as fast as it goes: a pace would say nothing of the reading."""
    return ClusterSettings(name="lab", bootstrap_servers=bootstrap, max_bytes_per_s=10_000_000_000)


def _pipeline(topics: Topics, sink: str) -> PipelineSettings:
    return PipelineSettings(
        name="audit", cluster="lab", source=topics.source, group="none", sink=sink, id=MessageId(key=True), settle_s=1.0
    )


def _plan(cluster: ClusterSettings, pipeline: PipelineSettings, topics: Topics, folder: Path) -> AuditPlan:
    """Both topics, whole."""
    request = AuditRequest("r", topics.ended_ms, "benchmark", Job.AUDIT, "audit", topics.begun_ms, topics.ended_ms)
    plan = fetch_plan(cluster, pipeline, request, folder, topics.ended_ms + 1)
    read = sum(each.read_next - each.read_first for side in (SOURCE, SINK) for each in plan.side(side))
    if read != topics.records:
        raise RuntimeError(f"the plan reads {read} of {topics.records} records")
    return plan
