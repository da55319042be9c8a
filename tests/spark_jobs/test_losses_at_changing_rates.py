"""A source and its sink, read at rates that change from range to range: what is told of losses is not biased by it."""

import random
from contextlib import closing

import pytest

from settings import PipelineSettings
from spark_jobs import stored_samples
from spark_jobs.ledger import COMPLETE, extended, unread_row
from spark_jobs.loss_watch import LossWatch
from spark_jobs.offsets import ClusterNow
from spark_jobs.ranges import OffsetRange, Part, PartNow
from store.log import SegmentLog
from store.message_ids import is_kept
from store.metrics import METRICS_FILE, MetricsWriter
from tests.spark_jobs.sampled import sample

pytestmark = pytest.mark.spark

T0 = 1_767_225_600_000  # 2026-01-01
STEP_MS = 10_000
IDS = 600  # of each range
SOURCE, SINK = (
    Part("c", topic, f"00000000-0000-0000-0000-00000000000{n}", 0) for n, topic in ((1, "orders"), (2, "bills"))
)
PIPELINE = PipelineSettings(
    name="billing", cluster="c", source="orders", group="g", sink="bills", rate=1.0, settle_s=1.0, horizon_s=3600.0
)


class Pipeline:
    """Round by round: a range of the source and one of the sink are read, and the commit has passed the former."""

    def __init__(self, spark, log, metrics, data_dir):
        self.spark, self.log, self.coverage, self.tick = spark, log, {}, 0
        self.ends = {SOURCE: 0, SINK: 0}
        with metrics.transaction() as transaction:
            self.watch = LossWatch(PIPELINE, data_dir, transaction, retention_ms=3_600_000)
        self.told = {}

    def run(self, made, shown, source_rate, sink_rate):
        """Both are hashes; returns the row of `losses` after the round."""
        self.tick += 1
        now_ms = T0 + STEP_MS * self.tick
        self._commit(self.ends[SOURCE] + len(made), now_ms - STEP_MS // 2)
        self._read(SOURCE, made, source_rate, now_ms)
        self._read(SINK, shown, sink_rate, now_ms)
        parts = tuple(PartNow(p, 1, 0, end, end, 0, now_ms) for p, end in self.ends.items())
        found = self.watch.judge_round(self.spark, ClusterNow("c", parts, {}), self.coverage, [], now_ms + 1)
        rows = self.watch.rows(found, self.coverage, now_ms)
        self.watch.accept(found)
        return rows[0]

    def _commit(self, offset, at_ms):
        row = {"cluster_id": "c", "group_id": "g", "topic": "orders", "topic_id": SOURCE.topic_id, "partition": 0}
        self.log.append(
            "committed_offsets", [{**row, "committed_offset": offset, "tick": self.tick, "observed_at": at_ms}]
        )

    def _read(self, part, hashes, rate, now_ms):
        first, following = self.ends[part], self.ends[part] + len(hashes)
        now = PartNow(part, 1, 0, following, following, 0, now_ms)
        ledger_row = unread_row(OffsetRange(part, 1, first, following), now, COMPLETE, rate)
        self.coverage = extended(self.coverage, [ledger_row])
        self.ends[part] = following
        kept = [
            {**sample(hashed, offset), "topic": part.topic, "topic_id": part.topic_id, "observed_at": now_ms,
             "timestamp": now_ms}
            for offset, hashed in enumerate(hashes, first) if is_kept(hashed, rate)
        ]  # fmt: skip
        if kept:
            self.log.append_range(
                "id_samples", kept, topic_id_hex=part.topic_id.replace("-", ""), partition=0, first=first,
                last=following - 1, observed_at_ms=now_ms,
            )  # fmt: skip


@pytest.fixture
def pipeline(spark, tmp_path):
    with closing(SegmentLog(tmp_path, "h_jobs")) as log, MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        yield Pipeline(spark, log, metrics, tmp_path)


RATES = [1.0, 0.5, 0.25, 1 / 8]


@pytest.mark.parametrize(
    "rates",
    [[(1.0, 1.0)] * 3, [(1 / 8, 1 / 8), (1.0, 1.0), (1.0, 1.0)], [(1.0, 1.0), (1.0, 1 / 8), (1 / 8, 1.0)], None],
    ids=["always every id", "raised", "lowered on one side and the other", "at random"],
)
def test_losses_are_told_within_their_interval_and_at_rate_1_exactly(pipeline, rates, request):
    chance = random.Random(request.node.name)
    rates = rates or [(chance.choice(RATES), chance.choice(RATES)) for _ in range(3)]
    pipeline.run([], [], 1.0, 1.0)
    lost, least = 0, 1.0
    for source_rate, sink_rate in rates:
        made = [chance.randrange(-(2**63), 2**63) for _ in range(IDS)]
        shown = [hashed for hashed in made if chance.random() < 0.5]
        lost, least = lost + IDS - len(shown), min(least, source_rate, sink_rate)
        row = pipeline.run(made, shown, source_rate, sink_rate)

    assert row["judged_to"] == IDS * len(rates)
    assert row["sampling_rate"] == least
    assert row["lower"] <= lost <= row["upper"]
    assert abs(row["estimate"] - lost) <= 4 * (lost * (1 / least - 1)) ** 0.5
    if least == 1:
        assert row["lower"] == row["upper"] == lost


def test_the_same_is_told_where_spark_reads_the_samples(spark, tmp_path, monkeypatch):
    def told(few_bytes):
        monkeypatch.setattr(stored_samples, "FEW_BYTES", few_bytes)
        chance, folder = random.Random(2), tmp_path / str(few_bytes)
        with closing(SegmentLog(folder, "h_jobs")) as log, MetricsWriter(folder / METRICS_FILE) as metrics:
            pipeline = Pipeline(spark, log, metrics, folder)
            pipeline.run([], [], 1.0, 1.0)
            for source_rate, sink_rate in ((1.0, 1 / 8), (1 / 8, 1.0)):
                made = [chance.randrange(-(2**63), 2**63) for _ in range(IDS)]
                last = pipeline.run(made, made[::2], source_rate, sink_rate)
            return last, pipeline.watch.lost_hashes

    here, by_spark = told(stored_samples.FEW_BYTES), told(-1)

    assert here == by_spark
    assert here[0]["ids_lost"] > 0


def test_a_lost_id_of_which_the_source_gets_another_copy_is_lost_once(pipeline):
    made = list(range(1, 21))
    pipeline.run([], [], 1.0, 1.0)
    pipeline.run(made, made[7:], 1.0, 1.0)
    again = pipeline.run(made[:3] + made[10:13], [], 1.0, 1.0)
    others = pipeline.run([made[0], 99], [], 1.0, 1.0)

    assert (again["ids_lost"], again["estimate"], again["judged_to"]) == (7, 7, 26)
    assert (others["ids_lost"], others["estimate"]) == (8, 8)
    assert len(pipeline.watch.lost_hashes) == 8


def test_what_every_id_was_compared_for_stays_counted_when_the_rate_falls(pipeline):
    chance = random.Random(1)
    made = [[chance.randrange(-(2**63), 2**63) for _ in range(IDS)] for _ in range(2)]
    pipeline.run([], [], 1.0, 1.0)

    exact = pipeline.run(made[0], made[0][7:], 1.0, 1.0)
    beside = pipeline.run(made[1], made[1], 1 / 8, 1 / 8)

    assert (exact["lower"], exact["estimate"], exact["upper"], exact["sampling_rate"]) == (7, 7, 7, 1.0)
    assert (beside["lower"], beside["estimate"], beside["sampling_rate"]) == (7, 7, 1 / 8)
    assert beside["upper"] > 7, "of the ids that were left out some may be lost"
