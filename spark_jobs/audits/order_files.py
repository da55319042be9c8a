"""Records of an order audit on their way from reading to comparing: one Parquet file for each block that was read.

A block counts once its account stands beside it under the same name (spark_jobs.audits.blocks): a worker that died in
between left a file that nobody reads. Within a file the records of each bucket are a row group of their own.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kafka_reader.ordered_records import OrderedRecords
from spark_jobs.audits import blocks
from spark_jobs.audits.blocks import Account

SCHEMA = pa.schema(
    [
        ("side", pa.string()),
        ("partition", pa.int32()),
        ("key_hash", pa.int64()),
        ("offset", pa.int64()),
        ("place", pa.int64()),
        ("timestamp_ms", pa.int64()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int32()),
        ("sequence", pa.int32()),
        ("in_window", pa.bool_()),
        ("bucket", pa.int64()),
    ]
)
_BUCKET = SCHEMA.get_field_index("bucket")


def rows_of(found: OrderedRecords, rows: np.ndarray, name: str, window: tuple[int, int], buckets: int) -> pa.Table:
    """The named records as the comparison reads them; `name` is the range's. A batch without a producer has nulls."""
    side, partition = name.split("-")
    offset, producer_id, sequence = found.offset[rows], found.producer_id[rows], found.sequence[rows]
    columns = [
        pa.array([side] * len(rows), pa.string()),
        np.full(len(rows), int(partition), dtype=np.int32),
        found.id_hash[rows],
        offset,
        found.place[rows],
        found.timestamp_ms[rows],
        pa.array(producer_id, mask=producer_id < 0),
        pa.array(found.producer_epoch[rows].astype(np.int32), mask=producer_id < 0),
        pa.array(sequence.astype(np.int32), mask=sequence < 0),
        (offset >= window[0]) & (offset < window[1]),
        blocks.bucket_of(found.id_hash[rows], buckets).astype(np.int64),
    ]
    return pa.table([pa.array(c) if isinstance(c, np.ndarray) else c for c in columns], schema=SCHEMA)


def write(folder: Path, name: str, first: int, following: int, rows: Sequence[pa.Table], account: Account) -> None:
    """The records of offsets [first, following) of one range; the account, written last, makes them count."""
    found = pa.concat_tables([SCHEMA.empty_table(), *rows]).sort_by("bucket")
    ends = np.flatnonzero(np.diff(found["bucket"].to_numpy(), append=np.int64(-1))) + 1
    with (
        blocks.atomically(_path(folder, name, first, following)) as temporary,
        pq.ParquetWriter(temporary, SCHEMA, compression="lz4") as writer,
    ):
        for begin, end in zip([0, *ends], ends, strict=False):
            writer.write_table(found.slice(begin, end - begin))
    blocks.write_block(folder, name, first, following, blocks.NO_COPIES, account, 1)


def complete(folder: Path) -> list[Path]:
    """The files that count."""
    return sorted(
        _path(folder, name, first, following)
        for name, ranges in blocks.covered(folder).items()
        for first, following in ranges
    )


def sizes(folder: Path) -> dict[int, int]:
    """By bucket, how many records there are of it; of a bucket without any there is none."""
    found: Counter[int] = Counter()
    for path in complete(folder):
        found.update({bucket: group.num_rows for bucket, group in _row_groups(pq.read_metadata(path))})
    return found


def read_bucket(folder: Path, bucket: int) -> pa.Table:
    """All records of one bucket."""
    found = [SCHEMA.empty_table()]
    for path in complete(folder):
        with pq.ParquetFile(path) as file:
            own = [number for number, (of, _) in enumerate(_row_groups(file.metadata)) if of == bucket]
            found.append(file.read_row_groups(own, use_threads=False))
    return pa.concat_tables(found)


def _row_groups(known: pq.FileMetaData) -> Iterator[tuple[int, pq.RowGroupMetaData]]:
    """Each with the bucket its records are of."""
    for number in range(known.num_row_groups):
        group = known.row_group(number)
        yield group.column(_BUCKET).statistics.min, group


def _path(folder: Path, name: str, first: int, following: int) -> Path:
    return folder / f"{name}.{first}-{following}.parquet"
