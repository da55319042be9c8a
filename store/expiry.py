"""Expiry: whole hours are removed, the oldest first, when they are too old or all hours together are too large."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from store.contracts import TABLES, Family
from store.folders import hour_folders
from store.segments import HOUR_MS, hour_start_ms


@dataclass(frozen=True, slots=True)
class Retention:
    """How long and how much of data/raw is kept, whichever is less. What lies in data/log is kept for good."""

    max_age_ms: int
    max_bytes: int


def expire(data_dir: Path, now_ms: int, retention: Retention) -> list[int]:
    """Remove the hours that are due; returns their starts (ms since 1970, UTC). For the holder of `maintain.lock`."""
    folders = _folders_by_hour(data_dir)
    sizes = {start_ms: sum(_size_bytes(folder) for folder in here) for start_ms, here in folders.items()}
    gone = expired_hours(sizes, now_ms, retention)
    for start_ms in gone:
        for folder in folders[start_ms]:
            _remove(folder)
    return gone


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


def _folders_by_hour(data_dir: Path) -> dict[int, list[Path]]:
    found: dict[int, list[Path]] = {}
    for table in TABLES.values():
        if table.family in (Family.KEPT, Family.METRIC):
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
