"""Where an audit keeps what it has read and found so far: one folder a run, gone when it is over."""

import shutil
from collections.abc import Container
from pathlib import Path

from store.publish import TEMPORARY

READ, COMPARED, MISSING, FOUND, NAMED = "read", "compared", "missing", "found", "named"
_KINDS = (READ, COMPARED, MISSING, FOUND, NAMED)


def run_folder(data_dir: Path, run_id: str) -> Path:
    """Made where it is not there yet. Its path is absolute: workers have working directories of their own."""
    folder = _runs(data_dir.absolute()) / run_id
    for kind in _KINDS:
        (folder / kind).mkdir(parents=True, exist_ok=True)
    return folder


def data_dir(folder: Path) -> Path:
    """Where the folder of a run lies in."""
    return folder.parents[2]


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def remove_others(data_dir: Path, kept: Container[str]) -> None:
    """Folders of runs that are over: their process died between its last commit and this."""
    for folder in _runs(data_dir).glob("*"):
        if folder.name not in kept:
            remove(folder)


def compared_path(folder: Path, bucket: int) -> Path:
    return folder / COMPARED / f"{bucket}.json"


def missing_path(folder: Path, bucket: int) -> Path:
    return folder / MISSING / f"{bucket}.arrow"


def named_path(folder: Path, range_name: str, number: int) -> Path:
    return folder / NAMED / f"{range_name}.{number}.json"


def _runs(data_dir: Path) -> Path:
    return data_dir / TEMPORARY / "audits"
