"""Ids on their way from reading to comparing: files of one range each, split by hash into buckets.

Workers write and read them; only their names and sums come to the driver. A file appears by a rename, under the name of
the offsets it covers, so a slice that is run again changes nothing and a restart goes on where the files end. The
folder must be one that driver and executors share, as the store's own is.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_NAME = re.compile(r"(?P<range>[a-z]+-[0-9]+)\.(?P<first>[0-9]+)-(?P<next>[0-9]+)\.arrow")
_SCHEMA = pa.schema(
    [
        ("id_hash", pa.int64()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp_ms", pa.int64()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int32()),
        ("sequence", pa.int32()),
        ("is_transactional", pa.bool_()),
    ]
)


@dataclass(frozen=True, slots=True)
class Copies:
    """Stored copies of ids, one entry each. Producer id, epoch and sequence are −1 where the batch has none.

    Columns are as wide as they are stored: there are millions of entries.
    """

    id_hash: Ints
    partition: NDArray[np.int32]
    offset: Ints
    timestamp_ms: Ints
    producer_id: Ints
    producer_epoch: NDArray[np.int32]
    sequence: NDArray[np.int32]
    is_transactional: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.id_hash)

    def taken(self, rows: NDArray) -> "Copies":
        return Copies(*(getattr(self, name)[rows] for name in Copies.__dataclass_fields__))

    @classmethod
    def joined(cls, parts: Iterable["Copies"]) -> "Copies":
        """All of them, in any order; nothing is an empty one."""
        listed = list(parts) or [NO_COPIES]
        return cls(*(np.concatenate([getattr(part, name) for part in listed]) for name in cls.__dataclass_fields__))


NO_COPIES = Copies(*(np.empty(0, dtype=field.type.to_pandas_dtype()) for field in _SCHEMA))


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What offsets of a partition held. Those of the window only, except `compared`: ids kept, edges included.

    `purged` offsets were below the log start by the time they were to be read. `without_key` and `without_place` are
    counted where an order is read, which knows nothing of ids.
    """

    visible: int = 0
    without_id: int = 0
    not_json: int = 0
    aborted: int = 0
    markers: int = 0
    purged: int = 0
    compared: int = 0
    without_key: int = 0
    without_place: int = 0

    def plus(self, other: "Account") -> "Account":
        return Account(**{name: getattr(self, name) + getattr(other, name) for name in Account.__dataclass_fields__})


def bucket_of(id_hash: Ints, buckets: int) -> NDArray[np.integer]:
    """Equal shares of the hash's upper bits. Numbers are as short as can be: numpy sorts those of 16 bits by radix."""
    number = ((id_hash.view(np.uint64) >> np.uint64(40)) * np.uint64(buckets)) >> np.uint64(24)
    return number.astype(np.min_scalar_type(buckets))


def write_block(
    folder: Path, name: str, first: int, following: int, copies: Copies, account: Account, buckets: int
) -> None:
    """The copies kept of [first, following) of one range, one record batch for each bucket."""
    batches = (copies,) if buckets == 1 else _by_bucket(copies, buckets)
    write_copies(folder / f"{name}.{first}-{following}.arrow", batches, account)


def _by_bucket(copies: Copies, buckets: int) -> Iterator[Copies]:
    bucket = bucket_of(copies.id_hash, buckets)
    order = np.argsort(bucket, kind="stable")
    ends = np.searchsorted(bucket[order], np.arange(buckets), side="right").tolist()
    return (copies.taken(order[begin:end]) for begin, end in zip([0, *ends], ends, strict=False))


def write_copies(path: Path, batches: Iterable[Copies], account: Account) -> None:
    schema = _SCHEMA.with_metadata({"account": json.dumps(asdict(account))})
    options = ipc.IpcWriteOptions(compression="lz4")
    with atomically(path) as temporary, ipc.new_file(str(temporary), schema, options=options) as writer:
        for copies in batches:
            columns = [pa.array(getattr(copies, field.name), field.type) for field in schema]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def covered(folder: Path) -> dict[str, list[tuple[int, int]]]:
    """By the name of a range, which offsets have been read."""
    found: dict[str, list[tuple[int, int]]] = {}
    for path in folder.glob("*.arrow"):
        if match := _NAME.fullmatch(path.name):
            found.setdefault(match["range"], []).append((int(match["first"]), int(match["next"])))
    return found


def accounts(folder: Path) -> dict[str, Account]:
    """By the name of a range, the sum over its files."""
    found: dict[str, Account] = {}
    for path in folder.glob("*.arrow"):
        if match := _NAME.fullmatch(path.name):
            with ipc.open_file(str(path)) as reader:
                account = Account(**json.loads(reader.schema.metadata[b"account"]))
            found[match["range"]] = account.plus(found.get(match["range"], Account()))
    return found


def read_bucket(folder: Path, side: str, bucket: int) -> Copies:
    """The copies of one side whose hash falls into the bucket."""
    return Copies.joined(read_copies(path, bucket) for path in sorted(folder.glob(f"{side}-*.arrow")))


def read_copies(path: Path, batch: int = 0) -> Copies:
    """One record batch of a file."""
    with ipc.open_file(str(path)) as reader:
        columns = reader.get_batch(batch)
        return Copies(**{name: columns.column(name).to_numpy(zero_copy_only=False) for name in _SCHEMA.names})


@contextmanager
def atomically(path: Path) -> Iterator[Path]:
    """A path to write to; when all went well it is renamed to the one given, which never stands there half written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    temporary.rename(path)


def write_json(path: Path, value: Mapping[str, object]) -> None:
    with atomically(path) as temporary:
        temporary.write_text(json.dumps(value))
