"""The maintainer: expiry, roll-ups and merging, by one process at a time, for as long as Tidemark runs."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Protocol

from store.expiry import Retention, expire
from store.locks import RoleLock
from store.merging import GRACE_MS, MINUTES, ROLE, WIDE_ROLE, WIDER, merge
from store.publish import stale_temporaries, sweep, temporary_folder
from store.roll_ups import roll_up
from store.segments import HOUR_MS
from store.unfit import unfit_files

__all__ = ["GRACE_MS", "Retention", "expire", "merge", "roll_up", "run"]

logger = logging.getLogger(__name__)

ROUND_S = 20.0


class StoreSettings(Protocol):
    """What the maintainer must know; settings.StoreSettings is one."""

    @property
    def data_dir(self) -> str: ...

    @property
    def raw_retention_h(self) -> float: ...

    @property
    def raw_max_bytes(self) -> int: ...

    @property
    def history_retention_d(self) -> float: ...


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def run(
    settings: StoreSettings,
    stop: Event,
    *,
    round_s: float = ROUND_S,
    grace_ms: int = GRACE_MS,
    clock_ms: Callable[[], int] = now_ms,
) -> None:
    """Maintain until `stop` is set. Raises StoreLockedError where another process maintains this directory."""
    data_dir = Path(settings.data_dir)
    samples = Retention(int(settings.raw_retention_h * HOUR_MS), settings.raw_max_bytes)
    history_age_ms = int(settings.history_retention_d * 24 * HOUR_MS)
    reported: set[Path] = set()
    with RoleLock(data_dir / f"{ROLE}.lock"), ThreadPoolExecutor(1, thread_name_prefix="wide") as wide:
        for role in (ROLE, WIDE_ROLE):
            sweep(temporary_folder(data_dir, role).iterdir())
        sweep(stale_temporaries(data_dir, clock_ms() - grace_ms))
        merging: Future[int] | None = None
        at_ms = 0
        while not stop.is_set():
            at_ms = max(at_ms, clock_ms())  # what was over stays over
            _report_unfit(data_dir, reported)
            # An hour of a large cluster takes minutes, and trends must not end there meanwhile. What is being merged
            # does not expire.
            if merging is None or merging.done():
                _raise_what_failed(merging)
                expire(data_dir, at_ms, samples, history_age_ms)
                merging = wide.submit(merge, data_dir, at_ms, grace_ms, WIDER)
            roll_up(data_dir, at_ms, grace_ms)
            merge(data_dir, at_ms, grace_ms, MINUTES)
            stop.wait(round_s)
        _raise_what_failed(merging)


def _raise_what_failed(merging: Future[int] | None) -> None:
    if merging is not None:
        merging.result()


def _report_unfit(data_dir: Path, reported: set[Path]) -> None:
    """Say once of each file that nobody reads it."""
    for path in unfit_files(data_dir):
        if path not in reported:
            logger.warning("%s is no segment of a known table and is not read", path)
            reported.add(path)
