"""Live rounds killed at random points and started again end with the metrics of rounds that nobody disturbed."""

import random
from collections import Counter

import pytest

from guarantees.findings import Kind
from spark_jobs import rounds
from spark_jobs.findings import RecordFindings
from store.metrics import MetricsWriter, Transaction
from store.reading import read
from tests.spark_jobs.scripted import Script, ids
from tests.spark_jobs.test_live import findings, live_rounds, metric, now_ms

pytestmark = [pytest.mark.integration, pytest.mark.spark]

KILLS = 10


class Killed(BaseException):
    """The process ends here."""


class Reaper:
    """Counts the moments before and after every write of a round; ends the process at the one that was chosen."""

    def __init__(self, monkeypatch):
        self.countdown = None
        self.moment = ""
        for owner, name in (
            (rounds, "append_samples"),
            (Transaction, "replace"),
            (MetricsWriter, "transaction"),
            (RecordFindings, "append"),
        ):
            monkeypatch.setattr(owner, name, self.watched(getattr(owner, name), name))

    def watched(self, call, name):
        def watching(*arguments, **named):
            self.tick(f"before {name}")
            done = call(*arguments, **named)
            self.tick(f"after {name}")
            return done

        return watching

    def tick(self, moment):
        if self.countdown is None:
            return
        self.countdown -= 1
        if self.countdown == 0:
            self.countdown, self.moment = None, moment
            raise Killed


def run_until_killed(reaper, countdown, live, script, name):
    """Each round finds something new to read."""
    reaper.countdown = countdown
    for number in range(20):
        live.run_round(now_ms())
        script.send(script.source, ids(f"{name}-{number}", 0, 2))


def outcome(data_dir):
    """What must not depend on how the rounds were cut: totals of the ledger, copies by cause, samples, findings."""
    totals, copies = Counter(), Counter()
    for row in metric(data_dir, "ledger"):
        totals.update({name: row[name] for name in ("records", "aborted_records", "markers", "sampled")})
    for row in metric(data_dir, "duplicates"):
        key = tuple(row[name] for name in ("partition", "cause", "first_producer_id", "producer_id"))
        copies[key] += row["sampled_extra_copies"]
    samples = read(data_dir, "id_samples").select(["topic", "partition", "offset", "id_hash"]).to_pylist()
    told = {each.finding_id: each.bounds.estimate for each in findings(data_dir, Kind.DUPLICATE_WRITE)}
    return totals, copies, sorted(tuple(row.values()) for row in samples), told


def test_rounds_killed_at_ten_random_points_end_with_the_same_metrics(spark, cluster, tmp_path, monkeypatch):
    script = Script(cluster.bootstrap).create()
    chance = random.Random(7)
    settings = script.settings(tmp_path / "killed")
    (tmp_path / "killed").mkdir()
    reaper, moments = Reaper(monkeypatch), set()
    for turn in range(KILLS):
        script.send(script.source, [*ids("a", 20 * turn, 20 * turn + 20), *ids("a", 0, turn)])
        if turn % 4 == 0:
            script.send_in_transaction(script.source, ids("gone", turn, turn + 1), is_committed=False)
        with live_rounds(spark, settings, tmp_path / "killed") as killed, pytest.raises(Killed):
            run_until_killed(reaper, chance.randrange(1, 15), killed, script, f"b{turn}")
        moments.add(reaper.moment)
    assert len(moments) >= 4, moments
    (tmp_path / "undisturbed").mkdir()
    for folder in ("killed", "undisturbed"):
        with live_rounds(spark, script.settings(tmp_path / folder), tmp_path / folder) as last:
            while last.run_round(now_ms()):
                pass

    assert outcome(tmp_path / "killed") == outcome(tmp_path / "undisturbed")
    assert outcome(tmp_path / "undisturbed")[1].total() == sum(range(KILLS))
