"""Expiry: whole hours are removed, the oldest first, when they are too old or all hours together are too large.

Samples of every round go first. What is small and tells of weeks stays longer: rounds, intervals, events, hourly lag.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from store.contracts import TABLES, Family
from store.folders import hour_folders
from store.segments import HOUR_MS, hour_start_ms

HISTORY = frozenset(
    table.name
    for table in TABLES.values()
    if table.family in (Family.INTERVAL, Family.EVENT)
    or table.name in ("rounds", "lag_hour", "group_lag_minute", "group_lag_hour")
)


@dataclass(frozen=True, slots=True)
class Retention:
    """How long and how much is kept, whichever is less."""

    max_age_ms: int
    max_bytes: int


def expire(data_dir: Path, now_ms: int, samples: Retention, history_age_ms: int) -> list[int]:
    """Remove the hours of samples and of history that are due; returns the starts of the former (ms since 1970, UTC).

    Samples make room for the history. What lies in data/log is kept for good. For the holder of `maintain.lock`.
    """
    history = _folders_by_hour(data_dir, is_history=True)
    _expire(history, now_ms, Retention(history_age_ms, samples.max_bytes))
    left = max(0, samples.max_bytes - sum(_sizes(history).values()))
    return _expire(_folders_by_hour(data_dir, is_history=False), now_ms, Retention(samples.max_age_ms, left))


def _expire(folders: Mapping[int, Sequence[Path]], now_ms: int, retention: Retention) -> list[int]:
    gone = expired_hours(_sizes(folders), now_ms, retention)
    for start_ms in gone:
        for folder in folders[start_ms]:
            _remove(folder)
    return gone


def _sizes(folders: Mapping[int, Sequence[Path]]) -> dict[int, int]:
    return {start_ms: sum(_size_bytes(folder) for folder in here) for start_ms, here in folders.items()}


def expired_hours(sizes: Mapping[int, int], now_ms: int, retention: Retention) -> list[int]:
    """The starts of the hours to remove, given the bytes of each. The running hour stays, however large it is."""
    total = sum(sizes.values())
    gone = []
    for start_ms in sorted(sizes):
        is_over = start_ms + HOUR_MS <= now_ms
        is_old = start_ms + HOUR_MS <= now_ms - retention.max_age_ms
        if not is_over or not (is_old or total > retention.max_bytes):
            break
        gone.append(start_ms)
        total -= sizes[start_ms]
    return gone


def _folders_by_hour(data_dir: Path, *, is_history: bool) -> dict[int, list[Path]]:
    found: dict[int, list[Path]] = {}
    for table in TABLES.values():
        if table.family in (Family.KEPT, Family.METRIC) or (table.name in HISTORY) is not is_history:
            continue
        for folder in hour_folders(data_dir, table):
            start_ms = hour_start_ms(folder.parent.name, folder.name)
            assert start_ms is not None, "hour_folders lists hours only"
            found.setdefault(start_ms, []).append(folder)
    return found


def _size_bytes(folder: Path) -> int:
    size = 0
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                size += entry.stat().st_size
    return size


def _remove(folder: Path) -> None:
    """A late sample may land here meanwhile: then the folder stays until the next time."""
    for path in folder.iterdir():
        path.unlink(missing_ok=True)
    for empty in (folder, folder.parent):
        with suppress(OSError):
            empty.rmdir()
