"""Files that lie where segments lie and are none: nobody reads them, so somebody has to say so."""

import os
from collections.abc import Iterator
from pathlib import Path

from store.contracts import TABLES, Family
from store.folders import is_whole
from store.segments import SegmentName, hour_start_ms


def unfit_files(data_dir: Path) -> list[Path]:
    """Everything below raw and log that is no segment by its place, its name or its end."""
    return sorted(path for top in ("raw", "log") for path in _files(data_dir / top) if not _fits(data_dir, path))


def _fits(data_dir: Path, path: Path) -> bool:
    top, *folders, name = path.relative_to(data_dir).parts
    is_place = _is_raw(folders) if top == "raw" else _is_log(folders)
    return is_place and SegmentName.parse(name) is not None and is_whole(path)


def _is_raw(folders: list[str]) -> bool:
    if len(folders) != 3:
        return False
    table, day, hour = folders
    return _lives_in(table, {Family.SAMPLE, Family.INTERVAL, Family.EVENT}) and hour_start_ms(day, hour) is not None


def _is_log(folders: list[str]) -> bool:
    return len(folders) == 2 and _lives_in(folders[0], {Family.KEPT}) and folders[1].startswith("month=")


def _lives_in(table: str, families: set[Family]) -> bool:
    return table in TABLES and TABLES[table].family in families


def _files(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        yield from (Path(folder) / name for name in names)
