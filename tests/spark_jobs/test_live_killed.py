"""Live rounds killed at random points and started again end with the metrics of rounds that nobody disturbed."""

import random

import pytest

from spark_jobs import rounds
from spark_jobs.findings import RecordFindings
from store.metrics import MetricsWriter, Transaction
from tests.spark_jobs.outcomes import begin, end, outcome, send_a_turn
from tests.spark_jobs.scripted import Script, ids
from tests.spark_jobs.test_live import live_rounds, now_ms

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
    for number in range(40):
        live.run_round(now_ms())
        script.send(script.source, ids(f"{name}-{number}", 0, 2))


def test_rounds_killed_at_ten_random_points_end_with_the_same_metrics(spark, cluster, tmp_path, monkeypatch):
    script = Script(cluster.bootstrap).create()
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    chance = random.Random(7)
    reaper, moments = Reaper(monkeypatch), set()
    with begin(spark, script, (killed, undisturbed)):
        for turn in range(KILLS):
            send_a_turn(script, turn)
            with live_rounds(spark, script.settings(killed), killed) as live, pytest.raises(Killed):
                run_until_killed(reaper, chance.randrange(1, 40), live, script, f"b{turn}")
            moments.add(reaper.moment)
        end(spark, script, (killed, undisturbed))
    assert len(moments) >= 4, moments

    found = outcome(killed)
    assert found == outcome(undisturbed)
    assert found["copies"].total() == 2 * sum(range(KILLS)), "on the source and on the sink"
    lost = {message_id for _, _, _, message_id, state, *_ in found["lost"] if state == "lost"}
    assert lost >= {f"a-{20 * turn}" for turn in range(KILLS)}
