"""Tidemark itself: the reading of offsets and commits, of every signal, and whole rounds, stored and judged."""

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.collectors.measured import Cost, Line, Totals, cost, mean, peak_mb
from collectors import end_offsets
from collectors.frugal_process import be_frugal
from collectors.judging import Judged, judge, thresholds
from collectors.round import Collected, collect_round, fetch_cluster
from collectors.runner import append_round
from collectors.signals import Signals
from collectors.steps import Steps, ask_everything
from collectors.watched import Remembered, Watched, open_cluster
from guarantees.lag import consumer_lag
from guarantees.memory import Memory
from guarantees.observations import Round, Signal
from guarantees.thresholds import Thresholds
from settings import ClusterSettings
from store.findings import append_events
from store.log import SegmentLog

T = TypeVar("T")

STEADY = 6
INTERVAL_S = 5.0
# Patience for a machine that others use too.
TIMEOUT_S = 4.0


def measured(bootstrap: str) -> Iterator[Line]:
    """Each part first by fresh connections, then as it is round after round (a mean)."""
    be_frugal()
    settings = ClusterSettings(
        name="large", bootstrap_servers=bootstrap, interval_s=INTERVAL_S, request_timeout_s=TIMEOUT_S
    )
    for what, ask in (("commits, log start, LSO, HW", Reading.offsets), ("every signal", Reading.everything)):
        with open_cluster(settings) as watched:
            yield from _first_and_steady(what, partial(ask, Reading(watched)))
    with tempfile.TemporaryDirectory() as data_dir, open_cluster(settings) as watched:
        log = SegmentLog(Path(data_dir), "benchmark_collect")
        rounds = Rounds(watched, log)
        yield from _first_and_steady(
            "whole round, stored and judged", rounds.next, rounds.take_parts, lambda: totals(rounds.newest_round)
        )
        log.close()


def _first_and_steady(
    what: str,
    ask: Callable[[], object],
    parts: Callable[[], dict[str, float]] = dict,
    counted: Callable[[], Totals | None] = lambda: None,
) -> Iterator[Line]:
    with cost() as first:
        ask()
    yield Line(f"Tidemark: {what}; first", first.wall_s, first.cpu_s, peak_mb(), None, parts())
    costs: list[Cost] = []
    for _ in range(STEADY):
        with cost() as spent:
            ask()
        costs.append(spent)
    steady = mean(costs)
    each = {part: used_s / STEADY for part, used_s in parts().items()}
    peak = peak_mb()
    yield Line(f"Tidemark: {what}; steady", steady.wall_s, steady.cpu_s, peak, counted(), each, STEADY)


class Reading:
    """The questions alone, each round with the memory of the one before and nothing made of the answers."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._remembered = Remembered()

    def offsets(self) -> None:
        step = self._steps()
        groups = step.listed_groups()
        log_starts = step.log_starts()
        commits = step.commits(groups)
        end_offsets.table(log_starts, step.end_offsets())
        self._remember(step, log_starts=log_starts, places=commits.places)

    def everything(self) -> None:
        step = self._steps()
        answers = ask_everything(step)
        self._remember(step, log_starts=answers.log_starts, places=answers.commits.places)

    def _remember(self, step: Steps, **answered: Any) -> None:
        topology, rounds_done = step.topology, self._remembered.rounds_done + 1
        self._remembered = replace(
            self._remembered, topology=topology, scope=step.scope, is_calm=True, rounds_done=rounds_done, **answered
        )

    def _steps(self) -> Steps:
        signals = Signals()
        topology = fetch_cluster(self._watched, signals, self._remembered)
        assert topology is not None, signals.coverage[0].error
        return Steps(self._watched, signals, topology, self._remembered)


class Rounds:
    """Rounds of one cluster as the runner makes them, with a clock beside each part."""

    def __init__(self, watched: Watched, log: SegmentLog) -> None:
        self._watched, self._log = watched, log
        self._thresholds = thresholds(Thresholds(), watched.gap_ms)
        self._judged = Judged(Memory.empty(), {})
        self._remembered = Remembered()
        self._parts: dict[str, float] = {}
        self.newest_round: Round | None = None

    def next(self) -> None:
        self.newest_round = None
        self.newest_round = observed = self._stored(self._collected())
        began_s = time.process_time()
        self._judged, events = judge(self._judged, observed, self._thresholds, observed.ended_at_ms)
        append_events(self._log, events)
        self._note({"judge": time.process_time() - began_s})

    def _collected(self) -> Collected:
        asked = CountedSignals()
        began_s = time.process_time()
        topology = fetch_cluster(self._watched, asked, self._remembered)
        assert topology is not None, asked.coverage[0].error
        collected = collect_round(self._watched, asked, topology, self._remembered, self._remembered.rounds_done)
        used_s = time.process_time() - began_s
        self._note({f"ask: {name}": used_s for name, used_s in asked.spent_s.items()})
        self._note({"make rows and intervals": used_s - sum(asked.spent_s.values())})
        return collected

    def _stored(self, collected: Collected) -> Round:
        """The round without its rows, as the runner goes on with it."""
        self._remembered = collected.remembered
        began_s = time.process_time()
        append_round(self._log, collected.rows)
        self._note({"store": time.process_time() - began_s})
        return collected.round

    def take_parts(self) -> dict[str, float]:
        """CPU seconds of each part since the last time."""
        taken, self._parts = self._parts, {}
        return taken

    def _note(self, parts: dict[str, float]) -> None:
        for part, used_s in parts.items():
            self._parts[part] = self._parts.get(part, 0.0) + used_s


class CountedSignals(Signals):
    """Signals that know how many CPU seconds each took."""

    def __init__(self) -> None:
        super().__init__()
        self.spent_s: dict[str, float] = {}

    def run(
        self, signal: Signal, collect: Callable[[], T], *, otherwise: T, values: Callable[[T], Iterable[object]]
    ) -> T:
        began_s = time.process_time()
        collected = super().run(signal, collect, otherwise=otherwise, values=values)
        self.spent_s[signal] = self.spent_s.get(signal, 0.0) + time.process_time() - began_s
        return collected


def totals(observed: Round | None) -> Totals:
    """By the lag the pages show."""
    assert observed is not None
    lags = [
        consumer_lag(commit, observed.partitions[key.topic_partition]).lag_hw
        for key, commit in observed.commits.items()
        if isinstance(commit.committed_offset, int)
    ]
    groups = {key.group_id for key, commit in observed.commits.items() if isinstance(commit.committed_offset, int)}
    return Totals(len(groups), len(lags), sum(lag for lag in lags if isinstance(lag, int)))
