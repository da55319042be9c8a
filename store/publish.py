"""How a segment comes into being: written aside, synced, renamed. The rename is the commit."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from store.segments import SegmentName

TEMPORARY = ".tmp"
# Rows of a row group: large enough to scan fast, small enough to skip where a question is about one group.
ROW_GROUP = 131_072
# Columns stored as differences from row to row. Their values hardly repeat, though those of one subject are near one
# another: a dictionary of them takes more room and more time to read.
DIFFERENCES = frozenset({"committed_offset"})


def publish(
    data_dir: Path,
    folder: str,
    name: SegmentName,
    batches: pa.Table | pa.RecordBatchReader,
    *,
    written_by: str,
    modified_ns: int | None = None,
) -> Path:
    """Commit a segment under its final name, replacing one of the same name; after return it is on the disk.

    `written_by` is the holder of the role that sweeps up should this process die half-way. `modified_ns` becomes the
    file's modification time: that of the newest data a derived segment was made from.
    """
    temporary = temporary_folder(data_dir, written_by) / f"{folder.replace('/', '~')}~{name}"
    try:
        _write(temporary, batches)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if modified_ns is not None:
        os.utime(temporary, ns=(modified_ns, modified_ns))
    return _rename(data_dir, temporary, data_dir / folder / str(name))


def temporary_folder(data_dir: Path, role: str) -> Path:
    """Where the holder of a role writes before it commits; nothing in it is ever read."""
    path = data_dir / TEMPORARY / role
    path.mkdir(parents=True, exist_ok=True)
    return path


def stale_temporaries(data_dir: Path, before_ms: int) -> list[Path]:
    """Temporary files of any role that nobody has written to since: their process is gone."""
    written = ((path, _written_ns(path)) for path in (data_dir / TEMPORARY).glob("*/*"))
    return [path for path, at_ns in written if at_ns is not None and at_ns < before_ms * 1_000_000]


def sweep(temporaries: Iterable[Path]) -> int:
    """Remove what killed processes left behind; returns how many files."""
    stale = [path for path in temporaries if path.is_file()]
    for path in stale:
        path.unlink(missing_ok=True)
    return len(stale)


def _written_ns(path: Path) -> int | None:
    """When a temporary file was last written to; None where its writer has just committed it."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def _write(path: Path, batches: pa.Table | pa.RecordBatchReader) -> None:
    with path.open("wb") as file:
        with pq.ParquetWriter(file, batches.schema, compression="zstd", **_encodings(batches.schema)) as writer:
            if isinstance(batches, pa.Table):
                writer.write_table(batches, row_group_size=ROW_GROUP)
            else:
                for batch in batches:
                    writer.write_batch(batch)
        file.flush()
        os.fsync(file.fileno())


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """How the columns are encoded; empty where dictionaries do for all."""
    differences = DIFFERENCES.intersection(schema.names)
    if not differences:
        return {}
    others = [name for name in schema.names if name not in differences]
    return {"use_dictionary": others, "column_encoding": dict.fromkeys(differences, "DELTA_BINARY_PACKED")}


def _rename(data_dir: Path, temporary: Path, final: Path) -> Path:
    made = _make_folder(data_dir, final.parent)
    try:
        temporary.rename(final)
    except FileNotFoundError:  # the folder expired between the two lines; it will not expire twice
        made = _make_folder(data_dir, final.parent)
        temporary.rename(final)
    for folder in (final.parent, *made):
        _sync_folder(folder)
    return final


def _make_folder(data_dir: Path, folder: Path) -> list[Path]:
    """Make the folder; returns the parents whose entries are new and must be synced."""
    missing = [path for path in (folder, *folder.parents) if path.is_relative_to(data_dir) and not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return [path.parent for path in missing]


def _sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return  # expired between the rename and now
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
