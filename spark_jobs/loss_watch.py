"""One pipeline's comparison source → sink, round by round: what is remembered between the judgements."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from guarantees.unknown import Unknown
from settings import PipelineSettings
from spark_jobs.commits import JUDGE_EVERY, CommitSample, Reading, read_on, read_through, rising
from spark_jobs.ledger import Coverage
from spark_jobs.loss_steps import Judged, Step, next_step, sink_needed_since
from spark_jobs.losses import LATE, LOST, LossRound, judge, late_arrivals, losses_row, place_of
from spark_jobs.offsets import ClusterNow
from spark_jobs.ranges import Part
from spark_jobs.samples import RangeRead
from spark_jobs.stored_samples import overlapping, sample_files, stored
from store.metrics import Transaction
from store.reading import Window, read
from store.rows import python_rows

_OVERLAP_MS = 60_000  # a collector's segment may become visible that long after its rows were observed


class LossWatch:
    """Only pipelines with a sink have one: without it a loss at the consumer is not observable.

    `judge_round` computes, `accept` remembers: the latter is called when the rows are committed.
    """

    def __init__(self, pipeline: PipelineSettings, data_dir: Path, transaction: Transaction, retention_ms: int) -> None:
        self.pipeline = pipeline
        self._data_dir = data_dir
        self._retention_ms = retention_ms
        self._next_judgement_ms = 0
        self._commits_read_to_ms: int | None = None
        self._commits: dict[Part, list[CommitSample]] = {}
        self._sink: dict[int, Reading] = {}
        self._judged = _load_judged(transaction, pipeline.name)
        self._lost: dict[int, list[dict[str, Any]]] = {}
        lost = transaction.query("SELECT * FROM lost_ids WHERE pipeline = ? AND state = ?", [pipeline.name, LOST])
        self._remember(python_rows("lost_ids", lost))

    @property
    def lost_hashes(self) -> Collection[int]:
        """Of ids that the sink lacks until now."""
        return self._lost.keys()

    def judge_round(
        self,
        spark: SparkSession,
        cluster: ClusterNow,
        coverage: Mapping[Part, Coverage],
        reads: Iterable[RangeRead],
        now_ms: int,
    ) -> LossRound:
        """Judge what has become due, once in a tenth of the settle delay; what came late is noticed in every round.

        `coverage` includes this round's reads. Starts Spark only if something is due.
        """
        sources = self._covered(cluster, self.pipeline.source, coverage)
        sinks = self._covered(cluster, self.pipeline.sink or "", coverage)
        covered_to = {part: covered.next_offset for part, covered in coverage.items()}
        self._sink = read_on(self._sink, cluster.partitions(self.pipeline.sink or ""), covered_to)
        late = late_arrivals(self._lost, _sampled(reads, sinks), now_ms)
        if now_ms < self._next_judgement_ms:
            return self._with_late(LossRound(), late)
        self._next_judgement_ms = now_ms + round(1000 * self.pipeline.settle_s * JUDGE_EVERY)
        self._follow_commits(cluster.cluster_id, sources, now_ms)
        steps = self._steps(cluster, sources, sinks, coverage)
        if any(step.is_due for step in steps.values()):
            found = self._each_once(self._judge(spark, steps, sources, sinks, coverage, now_ms))
        else:
            rate = self._rate(steps, sinks, coverage, now_ms)
            begun = {part: step.before.at_rate(rate) for part, step in steps.items() if part not in self._judged}
            found = LossRound(begun)
        return self._with_late(found, late)

    def rows(self, found: LossRound, coverage: Mapping[Part, Coverage], now_ms: int) -> list[dict[str, object]]:
        """Rows of the table `losses` for the partitions that changed."""
        read_to = {
            part.partition: covered.next_offset
            for part, covered in coverage.items()
            if part.topic == self.pipeline.sink and part.cluster_id in {source.cluster_id for source in found.judged}
        }
        lost = self._lost_after(found)
        return [
            losses_row(self.pipeline, part, judged, lost=lost.get(part, ()), sink_read_to=read_to, now_ms=now_ms)
            for part, judged in found.judged.items()
        ]

    def _lost_after(self, found: LossRound) -> dict[Part, list[dict[str, Any]]]:
        """The rows of ids that are lost once the round is accepted."""
        rows = {place_of(row): row for known in self._lost.values() for row in known} if found.judged else {}
        rows |= {place_of(row): row for row in found.lost_ids}
        lost: dict[Part, list[dict[str, Any]]] = {}
        for row in (row for row in rows.values() if row["state"] == LOST):
            lost.setdefault(_part(row), []).append(row)
        return lost

    def accept(self, found: LossRound) -> None:
        """The rows are committed: go on from there."""
        self._judged.update(found.judged)
        for part, judged in found.judged.items():
            self._forget_commits(part, judged.judged_to)
        self._remember(found.lost_ids)

    def _remember(self, lost_ids: Iterable[dict[str, Any]]) -> None:
        for row in lost_ids:
            others = [known for known in self._lost.pop(row["id_hash"], []) if place_of(known) != place_of(row)]
            if still_lost := [*others, row] if row["state"] == LOST else others:
                self._lost[row["id_hash"]] = still_lost

    def _covered(self, cluster: ClusterNow, topic: str, coverage: Mapping[Part, Coverage]) -> list[Part]:
        return [now.part for now in cluster.partitions(topic) if now.part in coverage]

    def _follow_commits(self, cluster_id: str, sources: Iterable[Part], now_ms: int) -> None:
        known_to_ms = self._commits_read_to_ms
        from_ms = max(0, now_ms - self._retention_ms) if known_to_ms is None else known_to_ms - _OVERLAP_MS
        rows = read(
            self._data_dir,
            "committed_offsets",
            Window(from_ms, now_ms + 1),
            "cluster_id = ? AND group_id = ? AND topic = ? AND committed_offset IS NOT NULL",
            [cluster_id, self.pipeline.group, self.pipeline.source],
        )
        seen: dict[tuple[str, int], list[CommitSample]] = {}
        for row in python_rows(
            "committed_offsets", rows.select(["topic_id", "partition", "committed_offset", "observed_at"])
        ):
            sample = CommitSample(row["observed_at"], row["committed_offset"])
            seen.setdefault((row["topic_id"], row["partition"]), []).append(sample)
        for part in sources:
            added = seen.get((part.topic_id, part.partition), [])
            self._commits[part] = rising([*self._commits.get(part, []), *added])
        self._commits_read_to_ms = now_ms

    def _forget_commits(self, part: Part, judged_to: int) -> None:
        """Keep the newest sample that is not past what was judged: it says since when the rest may have been passed."""
        commits = self._commits.get(part, [])
        past = [sample for sample in commits if sample.committed_offset > judged_to]
        self._commits[part] = commits[max(0, len(commits) - len(past) - 1) :]

    def _steps(
        self, cluster: ClusterNow, sources: list[Part], sinks: list[Part], coverage: Mapping[Part, Coverage]
    ) -> dict[Part, Step]:
        through = read_through(self._sink, [now.part.partition for now in cluster.partitions(self.pipeline.sink or "")])
        until_ms = None if isinstance(through, Unknown) else through - round(self.pipeline.settle_s * 1000)
        watched_since_ms = max((coverage[part].since_ms for part in (*sources, *sinks)), default=0)
        steps = {
            part: next_step(
                part,
                self._judged.get(part),
                self._commits[part],
                covered_to=coverage[part].next_offset,
                watched_since_ms=watched_since_ms,
                until_ms=until_ms,
            )
            for part in sources
            if sinks
        }
        return {part: step for part, step in steps.items() if step is not None}

    def _judge(
        self,
        spark: SparkSession,
        steps: Mapping[Part, Step],
        sources: list[Part],
        sinks: list[Part],
        coverage: Mapping[Part, Coverage],
        now_ms: int,
    ) -> LossRound:
        covered_to = {part: coverage[part].next_offset for part in (*sources, *sinks)}
        wanted = {part: (step.before.judged_to, step.seen_to) for part, step in steps.items()}
        in_source = overlapping(sample_files(self._data_dir, covered_to, None), wanted)
        since_ms = sink_needed_since(steps, self._commits)
        # A sink record may be read before its source record: reading one topic may lag behind the other's.
        window = (
            None if since_ms is None else Window(max(0, since_ms - round(self.pipeline.horizon_s * 1000)), now_ms + 1)
        )
        in_sink = sample_files(self._data_dir, {part: covered_to[part] for part in sinks}, window)
        return judge(
            *stored(spark, in_source, in_sink),
            steps,
            self._commits,
            pipeline=self.pipeline,
            rate=self._rate(steps, sinks, coverage, 0 if window is None else window.from_ms),
            now_ms=now_ms,
        )

    def _rate(
        self, steps: Mapping[Part, Step], sinks: Iterable[Part], coverage: Mapping[Part, Coverage], since_ms: int
    ) -> float:
        """Samples nest: compare at the lowest rate of the source's ranges that are judged and the sink's since then."""
        of_source = [coverage[part].lowest_rate_from(step.before.judged_to) for part, step in steps.items()]
        return min([self.pipeline.rate, *of_source, *(coverage[part].lowest_rate_since(since_ms) for part in sinks)])

    def _each_once(self, found: LossRound) -> LossRound:
        """Without ids that are lost already: the source holds another copy of what the sink lacks still."""
        judged, new = dict(found.judged), []
        for row in found.lost_ids:
            part = _part(row)
            if any(_part(known) == part for known in self._lost.get(row["id_hash"], ())):
                judged[part] = replace(judged[part], ids_lost=judged[part].ids_lost - 1)
            else:
                new.append(row)
        return LossRound(judged, tuple(new))

    def _with_late(self, found: LossRound, late: list[dict[str, Any]]) -> LossRound:
        judged = dict(found.judged)
        for row in (row for row in late if row["state"] == LATE):
            part = _part(row)
            state = judged.get(part) or self._judged[part]
            judged[part] = replace(state, ids_lost=state.ids_lost - 1, ids_late=state.ids_late + 1)
        return LossRound(judged, (*found.lost_ids, *late))


def _sampled(reads: Iterable[RangeRead], sinks: list[Part]) -> list[tuple[str, int, int, int]]:
    return [
        (read.range.part.topic, read.range.part.partition, offset, id_hash)
        for read in reads
        if read.range.part in sinks
        for offset, id_hash in zip(read.samples["offset"].to_pylist(), read.samples["id_hash"].to_pylist(), strict=True)
    ]


def _load_judged(transaction: Transaction, pipeline: str) -> dict[Part, Judged]:
    rows = transaction.query("SELECT * FROM losses WHERE pipeline = ?", [pipeline]).to_pylist()
    return {_part(row): Judged(**{name: row[name] for name in Judged.__dataclass_fields__}) for row in rows}


def _part(row: Mapping[str, Any]) -> Part:
    return Part(row["cluster_id"], row["topic"], row["topic_id"], row["partition"])
