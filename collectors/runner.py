"""Run the rounds of every cluster, each on a thread of its own: collect, store, judge."""

import logging
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from collectors import histories, rounds, stored
from collectors.batch_headers import HeaderRounds
from collectors.frugal_process import give_back_memory
from collectors.judging import Judged, judge, judge_again, thresholds
from collectors.replay import remembered, replayed_rounds
from collectors.round import Collected, collect_round, fetch_cluster, unreachable_round
from collectors.rows import Rows
from collectors.signals import Signals
from collectors.stored import LastRound
from collectors.watched import Remembered, Watched, open_cluster
from guarantees.memory import Memory
from guarantees.observations import Round
from kafka_reader.answer import now_ms
from kafka_reader.metadata import Topology
from settings import ClusterSettings, Settings, SettingsError
from store.findings import append_events, load_findings
from store.log import SegmentLog
from store.segments import producer_name

logger = logging.getLogger(__name__)

ROLE = "collect"


def run(settings: Settings, stop: threading.Event, once: bool = False) -> list[Round]:
    """Collect from every cluster until `stop` is set, or one round of each; returns the newest round of each.

    Raises StoreLockedError where another process collects into the same data directory.
    """
    log = SegmentLog(Path(settings.store.data_dir), producer_name(socket.gethostname(), ROLE))
    try:
        with ThreadPoolExecutor(len(settings.clusters), thread_name_prefix=ROLE) as threads:
            watching = [threads.submit(_watch, cluster, settings, log, stop, once) for cluster in settings.clusters]
            return [newest for each in watching if (newest := each.result()) is not None]
    finally:
        log.close()


def _watch(
    cluster: ClusterSettings, settings: Settings, log: SegmentLog, stop: threading.Event, once: bool
) -> Round | None:
    newest: Round | None = None
    while not stop.is_set():
        try:
            with open_cluster(cluster, settings.pipelines) as watched:
                return _collect(watched, settings, log, stop, once)
        except SettingsError as exc:
            # A secret or a file that may come: the other clusters go on, and this one is tried again.
            logger.error("cluster %s cannot be watched: %s", cluster.name, exc)
            newest = unopened_round(cluster, Path(settings.store.data_dir), str(exc))
            log.append(rounds.TABLE, rounds.rows(cluster.name, cluster.interval_s, newest))
        if once:
            break
        stop.wait(cluster.interval_s)
    return newest


def _collect(watched: Watched, settings: Settings, log: SegmentLog, stop: threading.Event, once: bool) -> Round | None:
    cluster = watched.settings
    rounds_of_cluster = ClusterRounds(watched, settings, log)
    due_s = time.monotonic()
    newest: Round | None = None
    while not stop.is_set():
        newest = None  # a second round of a large cluster need not be held while the next one is made
        try:
            newest = rounds_of_cluster.next_round()
        except Exception:
            # The other clusters go on; the log tells what to mend.
            logger.exception("a round of cluster %s failed by a fault of Tidemark", cluster.name)
        if once:
            break
        due_s = max(due_s + cluster.interval_s, time.monotonic())
        stop.wait(due_s - time.monotonic())
    return newest


def unopened_round(cluster: ClusterSettings, data_dir: Path, reason: str) -> Round:
    """The round after the last one of a cluster that could not even be opened: nothing but its coverage."""
    last = stored.last_round(data_dir, cluster.name)
    signals, at_ms = Signals(), now_ms()
    signals.skip_the_rest(reason)
    return Round(
        cluster_id="" if last is None else last.cluster_id,
        tick=0 if last is None else last.tick + 1,
        started_at_ms=at_ms,
        ended_at_ms=at_ms,
        coverage=signals.coverage,
    )


class ClusterRounds:
    """The rounds of one cluster, going on where the store says the last one stopped."""

    def __init__(self, watched: Watched, settings: Settings, log: SegmentLog) -> None:
        self._watched = watched
        self._log = log
        self._data_dir = Path(settings.store.data_dir)
        self._thresholds = thresholds(settings.thresholds, watched.gap_ms)
        self._cluster_id = ""
        self._tick = 0
        self._remembered = Remembered()
        self._judged = Judged(Memory.empty(), {})
        self._headers = HeaderRounds(watched, log, self._data_dir)
        last = stored.last_round(self._data_dir, watched.settings.name)
        if last is not None:
            self._resume(last)

    def next_round(self) -> Round:
        """One round, stored and judged."""
        signals = Signals()
        topology = fetch_cluster(self._watched, signals, self._remembered)
        observed = self._stored(self._collected(signals, topology))
        self._judged, events = judge(self._judged, observed, self._thresholds, now_ms())
        append_events(self._log, events)
        if topology is not None:
            self._headers.next_round(topology, observed, self._remembered.topic_settings)
        return observed

    def _collected(self, signals: Signals, topology: Topology | None) -> Collected:
        if topology is None:
            collected = unreachable_round(self._watched, signals, self._remembered, self._cluster_id, self._tick)
        else:
            self._meet(topology.cluster_id)
            collected = collect_round(self._watched, signals, topology, self._remembered, self._tick)
        self._tick += 1
        return collected

    def _stored(self, collected: Collected) -> Round:
        """The round without its rows, which are gone before anything else is made of it."""
        self._remembered = collected.remembered
        append_round(self._log, collected.rows)
        return collected.round

    def _meet(self, cluster_id: str) -> None:
        """The address may lead to another cluster than before: nothing of the old one is compared with it."""
        if cluster_id == self._cluster_id:
            return
        last = stored.last_round_of(self._data_dir, cluster_id)
        if last is None:
            self._begin(cluster_id)
        else:
            self._resume(last)

    def _begin(self, cluster_id: str) -> None:
        self._cluster_id = cluster_id
        self._tick = 0
        self._remembered = Remembered()
        self._judged = Judged(Memory.empty(), {})

    def _resume(self, last: LastRound) -> None:
        kept = stored.load(self._data_dir, last)
        self._cluster_id = last.cluster_id
        self._tick = kept.next_tick
        self._remembered = remembered(kept)
        known = histories.resumed(self._data_dir, last.cluster_id, last.observed_at_ms, self._remembered.settled)
        self._remembered = replace(self._remembered, histories=known)
        self._judged, events = judge_again(
            replayed_rounds(kept), load_findings(self._data_dir), last.cluster_id, self._thresholds, now_ms()
        )
        append_events(self._log, events)
        give_back_memory()


def append_round(log: SegmentLog, rows: Mapping[str, Rows]) -> None:
    """The coverage last: a round whose storing was cut short has none, and is not believed to be complete."""
    give_back_memory()
    for table in sorted(rows, key=lambda name: name == rounds.TABLE):
        log.append(table, rows[table])
        give_back_memory()
