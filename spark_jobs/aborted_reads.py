"""Job: ids at a pipeline's sink whose records in the source were aborted (G1a: a reader was given what never was).

A sink record is judged once everything that was written to the source before it was read is decided and read, and the
settle delay is over, in which a retried transaction may commit the id after all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from guarantees.unknown import Unknown
from settings import PipelineSettings
from spark_jobs.commits import JUDGE_EVERY, Reading, read_on, read_through
from spark_jobs.ledger import Coverage
from spark_jobs.offsets import ClusterNow
from spark_jobs.ranges import Part
from spark_jobs.samples import RangeRead
from spark_jobs.sampling import is_kept_column
from spark_jobs.stored_samples import as_frame, sample_files
from spark_jobs.transforms.aborted_reads import committed_among, shown_although_aborted
from store.metrics import Transaction
from store.reading import Window


@dataclass(frozen=True, slots=True)
class AbortedRound:
    """The outcome of a pipeline's round: sink records read before `judged_to_ms` are judged.

    `rows` are new ones of aborted_at_sink.
    """

    judged_to_ms: int
    rows: tuple[dict[str, Any], ...] = ()


class AbortedWatch:
    """One pipeline's sink beside the aborted records of its source; only pipelines with a sink have one.

    `judge_round` computes, `accept` remembers: the latter is called when the rows are committed. After a restart the
    horizon is judged again: what was found is known by its id.
    """

    def __init__(self, pipeline: PipelineSettings, data_dir: Path, transaction: Transaction, now_ms: int) -> None:
        self.pipeline = pipeline
        self._data_dir = data_dir
        self._horizon_ms = round(pipeline.horizon_s * 1000)
        self._settle_ms = round(pipeline.settle_s * 1000)
        self._next_judgement_ms = 0
        self._judged_to_ms = max(0, now_ms - self._horizon_ms)
        self._sink_read_at_ms = now_ms  # when an id of the sink was read last, at the latest
        self._source: Mapping[int, Reading] = {}
        known = transaction.query("SELECT id_hash FROM aborted_at_sink WHERE pipeline = ?", [pipeline.name])
        self._known: set[int] = set(known["id_hash"].to_pylist())

    def judge_round(
        self,
        spark: SparkSession,
        cluster: ClusterNow,
        coverage: Mapping[Part, Coverage],
        reads: Iterable[RangeRead],
        now_ms: int,
    ) -> AbortedRound:
        """Judge the sink records that have become due; `coverage` includes this round's reads.

        Starts Spark only where the source holds aborted records and the sink new ones.
        """
        self._sink_read_at_ms = max([self._sink_read_at_ms, *_read_at_ms(reads, self.pipeline.sink)])
        sources, sinks = (cluster.partitions(topic) for topic in (self.pipeline.source, self.pipeline.sink or ""))
        covered_to = {part: covered.next_offset for part, covered in coverage.items()}
        self._source = read_on(self._source, sources, covered_to)
        through = read_through(self._source, [now.part.partition for now in sources])
        if isinstance(through, Unknown) or now_ms < self._next_judgement_ms:
            return AbortedRound(self._judged_to_ms)
        self._next_judgement_ms = now_ms + round(self._settle_ms * JUDGE_EVERY)
        due = Window(self._judged_to_ms, max(self._judged_to_ms, through - self._settle_ms))
        parts = [{now.part for now in nows if now.part in coverage} for nows in (sources, sinks)]
        found = self._found(spark, coverage, *parts, due, now_ms)
        return AbortedRound(due.to_ms, tuple(row for row in found if row["id_hash"] not in self._known))

    def accept(self, found: AbortedRound) -> None:
        """The rows are committed: go on from there."""
        self._judged_to_ms = found.judged_to_ms
        self._known.update(row["id_hash"] for row in found.rows)

    def _found(
        self,
        spark: SparkSession,
        coverage: Mapping[Part, Coverage],
        sources: set[Part],
        sinks: set[Part],
        due: Window,
        now_ms: int,
    ) -> list[dict[str, Any]]:
        of_source, of_sink = ({part: coverage[part].next_offset for part in parts} for parts in (sources, sinks))
        horizon = Window(max(0, due.from_ms - self._horizon_ms), now_ms + 1)
        aborted = sample_files(self._data_dir, of_source, horizon, "aborted_ids")
        shown = sample_files(self._data_dir, of_sink, due) if due.to_ms > due.from_ms else []
        if not aborted or not shown or due.from_ms > self._sink_read_at_ms:
            return []
        rate = self._rate(coverage, sources, sinks, due.from_ms)
        ids = aborted_reads(
            as_frame(spark, aborted).where(is_kept_column(sf.col("id_hash"), rate)),
            as_frame(spark, shown).where(_read_within(due)),
            as_frame(spark, sample_files(self._data_dir, of_source, None)),
        )
        parts = {(part.topic_id, part.partition): part for part in sources}
        # All that is kept is searched; older than this some may have expired.
        since_ms = max(horizon.from_ms, *(coverage[part].since_ms for part in sources))
        fixed = {"pipeline": self.pipeline.name, "sought_since": since_ms, "sampling_rate": rate}
        return [_row(each, parts[each["topic_id"], each["partition"]], now_ms) | fixed for each in ids]

    def _rate(
        self, coverage: Mapping[Part, Coverage], sources: Iterable[Part], sinks: Iterable[Part], since_ms: int
    ) -> float:
        """The lowest of all that is kept of the source, where a committed record is sought, and of the sink since."""
        of_source = [coverage[part].lowest_rate_since(0) for part in sources]
        return min([self.pipeline.rate, *of_source, *(coverage[part].lowest_rate_since(since_ms) for part in sinks)])


def aborted_reads(aborted: DataFrame, sink: DataFrame, committed: DataFrame) -> list[dict[str, Any]]:
    """Ids the sink shows of which the source holds aborted records only.

    Of most rounds no id is left after the first query; the second, over all that was committed, is asked for few.
    """
    shown = shown_although_aborted(aborted, sink).toArrow()
    if not shown.num_rows:
        return []
    ids = aborted.sparkSession.createDataFrame(shown.select(["id_hash"]))
    excused = set(committed_among(committed, ids).toArrow()["id_hash"].to_pylist())
    return [row for row in shown.to_pylist() if row["id_hash"] not in excused]


def _read_at_ms(reads: Iterable[RangeRead], topic: str | None) -> list[int]:
    return [read.account.observed_at_ms for read in reads if read.range.part.topic == topic and read.samples.num_rows]


def _read_within(window: Window) -> Column:
    read_at = sf.col("observed_at")
    return (read_at >= sf.timestamp_millis(sf.lit(window.from_ms))) & (
        read_at < sf.timestamp_millis(sf.lit(window.to_ms))
    )


def _row(found: Mapping[str, Any], part: Part, now_ms: int) -> dict[str, Any]:
    shown = found["shown"]
    return {
        "cluster_id": part.cluster_id,
        "topic": part.topic,
        "topic_id": part.topic_id,
        "partition": part.partition,
        **{name: found[name] for name in ("offset", "id_hash", "message_id", "producer_id", "producer_epoch")},
        "found_at": f"{shown['topic']}-{shown['partition']}:{shown['offset']}",
        "sink_observed_at": round(shown["observed_at"].timestamp() * 1000),
        "decided_at": now_ms,
        "observed_at": now_ms,
    }
