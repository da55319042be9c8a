"""What lies in the data directory: folders of a table, segments of a folder, and what does not belong there."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from store.contracts import Family, Table
from store.segments import HOUR_MS, SegmentName, hour_start_ms, live_names

# How a Parquet file ends. A file that was cut off, by a power cut say, does not, and would spoil every query it is in.
MAGIC = b"PAR1"

# A folder that changed less long ago may change again within the resolution of its time.
SETTLED_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Segment:
    """A committed file. `modified_ns`: when its newest data was committed; `published_ns`: when it got its name."""

    path: Path
    name: SegmentName
    size_bytes: int
    modified_ns: int
    published_ns: int


@dataclass(frozen=True, slots=True)
class Listing:
    """One folder: what counts, what a wider segment has replaced, and what is no segment."""

    live: tuple[Segment, ...]
    covered: tuple[Segment, ...]
    unfit: tuple[Path, ...]

    @property
    def segments(self) -> tuple[Segment, ...]:
        return self.live + self.covered


def table_folder(data_dir: Path, table: Table) -> Path:
    return data_dir / ("log" if table.family is Family.KEPT else "raw") / table.name


def hour_folders(data_dir: Path, table: Table, from_ms: int | None = None, to_ms: int | None = None) -> list[Path]:
    """The hour folders that may hold rows from `from_ms` up to, not including, `to_ms`; the oldest first."""
    return [
        hour
        for day in _folders_in(table_folder(data_dir, table))
        for hour in _folders_in(day)
        if (start_ms := hour_start_ms(day.name, hour.name)) is not None
        and (from_ms is None or start_ms + HOUR_MS > from_ms)
        and (to_ms is None or start_ms < to_ms)
    ]


def month_folders(data_dir: Path, table: Table) -> list[Path]:
    return [path for path in _folders_in(table_folder(data_dir, table)) if path.name.startswith("month=")]


def all_folders(data_dir: Path, table: Table) -> list[Path]:
    return month_folders(data_dir, table) if table.family is Family.KEPT else hour_folders(data_dir, table)


def list_folder(folder: Path) -> Listing:
    """A folder as it is now; one that has expired is empty. Where a wide file is damaged, its inputs count again.

    Files come and go under their final names, which changes the folder's time: what was listed since is not read again.
    """
    try:
        changed_ns = folder.stat().st_mtime_ns
    except FileNotFoundError:
        return Listing((), (), ())
    is_settled = time.time_ns() - changed_ns > SETTLED_NS
    return _settled(folder, changed_ns) if is_settled else _listed(folder)


@lru_cache(maxsize=2_000)  # the folders of a few weeks
def _settled(folder: Path, changed_ns: int) -> Listing:
    return _listed(folder)


def _listed(folder: Path) -> Listing:
    segments: dict[SegmentName, Segment] = {}
    unfit: list[Path] = []
    for path, status in _files_in(folder):
        if name := SegmentName.parse(path.name):
            segments[name] = Segment(path, name, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        else:
            unfit.append(path)
    live = live_names(segments)
    while damaged := [name for name in live if not _is_whole(segments[name])]:
        unfit += [segments.pop(name).path for name in damaged]
        live = live_names(segments)
    covered = segments.keys() - set(live)
    return Listing(tuple(segments[name] for name in live), tuple(segments[name] for name in covered), tuple(unfit))


def is_whole(path: Path) -> bool:
    """It ends as Parquet ends; one that has just been merged away was whole."""
    try:
        with path.open("rb", buffering=0) as file:
            length = file.seek(0, os.SEEK_END)
            return length > len(MAGIC) and os.pread(file.fileno(), len(MAGIC), length - len(MAGIC)) == MAGIC
    except FileNotFoundError:
        return True


@lru_cache(maxsize=50_000)
def _is_whole(segment: Segment) -> bool:
    """Looked at once: a committed file never changes, one that takes its name has a time of its own."""
    return is_whole(segment.path)


def _files_in(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        try:
            yield folder / entry.name, entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue  # unlinked since the folder was read: a wider segment has taken its place


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(folder / entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []
