"""The pipelines with a sink, judged round by round: what their sinks lack, and what they should not have."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from settings import PipelineSettings
from spark_jobs.aborted_reads import AbortedRound, AbortedWatch
from spark_jobs.ledger import Coverage
from spark_jobs.loss_watch import LossWatch
from spark_jobs.losses import LossRound
from spark_jobs.offsets import ClusterNow
from spark_jobs.ranges import Part
from spark_jobs.samples import RangeRead
from store.metrics import Transaction

Rows = list[dict[str, Any]]


@dataclass(slots=True)
class Judgements:
    """A round's outcome by pipeline, and the rows it is about to commit."""

    losses: dict[str, LossRound] = field(default_factory=dict)
    aborted: dict[str, AbortedRound] = field(default_factory=dict)
    loss_rows: Rows = field(default_factory=list)

    @property
    def lost_id_rows(self) -> Rows:
        return [row for found in self.losses.values() for row in found.lost_ids]

    @property
    def aborted_rows(self) -> Rows:
        return [row for found in self.aborted.values() for row in found.rows]

    @property
    def pipelines_with_losses(self) -> list[str]:
        return [name for name, found in self.losses.items() if found.lost_ids]


class PipelineWatches:
    """`judge` computes, `accept` remembers: the latter is called when the rows are committed."""

    def __init__(
        self,
        pipelines: Iterable[PipelineSettings],
        data_dir: Path,
        transaction: Transaction,
        retention_ms: int,
        now_ms: int,
    ) -> None:
        with_sink = [pipeline for pipeline in pipelines if pipeline.sink is not None]
        self._losses = [LossWatch(pipeline, data_dir, transaction, retention_ms) for pipeline in with_sink]
        self._aborted = [AbortedWatch(pipeline, data_dir, transaction, now_ms) for pipeline in with_sink]

    def awaited(self, cluster: str, topic: str) -> set[int]:
        """Hashes of ids that a topic lacks as the sink of a pipeline: they are looked for whatever is sampled."""
        lacking = (w for w in self._losses if (w.pipeline.cluster, w.pipeline.sink) == (cluster, topic))
        return {id_hash for watch in lacking for id_hash in watch.lost_hashes}

    def judge(
        self,
        spark: SparkSession,
        clusters: Mapping[str, ClusterNow],
        coverage: Mapping[Part, Coverage],
        reads: Iterable[RangeRead],
        now_ms: int,
    ) -> Judgements:
        """Judge the pipelines of the clusters that answered; `coverage` includes this round's reads."""
        found = Judgements()
        for losses, aborted in zip(self._losses, self._aborted, strict=True):
            cluster, name = clusters.get(losses.pipeline.cluster), losses.pipeline.name
            if cluster is not None:
                found.losses[name] = losses.judge_round(spark, cluster, coverage, reads, now_ms)
                found.loss_rows += losses.rows(found.losses[name], coverage, now_ms)
                found.aborted[name] = aborted.judge_round(spark, cluster, coverage, reads, now_ms)
        return found

    def accept(self, found: Judgements) -> None:
        """The rows are committed: go on from there."""
        for losses, aborted in zip(self._losses, self._aborted, strict=True):
            name = losses.pipeline.name
            if name in found.losses:
                losses.accept(found.losses[name])
                aborted.accept(found.aborted[name])
