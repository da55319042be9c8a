"""Message ids from a path in values that are JSON. What is not JSON is counted, not fatal: anybody may write.

A string is the id as it stands; a number is the digits that were written, so that 17 and "17" are one id. Anything else
at the path (nothing, null, true, an object, a list) is no id.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_reader.records import PADDING_BYTES, Bytes, Ints, Slices

_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


@dataclass(frozen=True, slots=True)
class SoughtIds:
    """One entry per record. Ids that do not lie in the records as they are have a buffer of their own."""

    buffer: Bytes
    ids: Slices
    is_not_json: NDArray[np.bool_]


def json_ids(buffer: Bytes, values: Slices, path: str) -> SoughtIds:
    """The id at the path in each value; a null value has none, and is no JSON that is broken."""
    keys = path.split(".")
    view = memoryview(buffer)
    found: list[bytes | None] = []
    is_not_json = np.zeros(len(values.lengths), dtype=np.bool_)
    for row, (start, length) in enumerate(zip(values.starts.tolist(), values.lengths.tolist(), strict=True)):
        try:
            found.append(None if length < 0 else id_at(parsed(bytes(view[start : start + length])), keys))
        except ValueError:
            found.append(None)
            is_not_json[row] = True
    return sought_ids(found, is_not_json)


def sought_ids(found: Sequence[bytes | None], is_not_json: NDArray[np.bool_]) -> SoughtIds:
    """Ids made anew, one after another in a buffer: JSON may write a character in several ways."""
    lengths = np.array([-1 if one is None else len(one) for one in found], dtype=np.int64)
    buffer = np.frombuffer(b"".join([*(one for one in found if one), bytes(PADDING_BYTES)]), dtype=np.uint8)
    return SoughtIds(buffer, Slices(_starts(lengths), lengths), is_not_json)


def parsed(value: bytes) -> Any:
    """Numbers as they are written. Raises ValueError for what is not JSON in UTF-8, or nested too deeply to be read."""
    try:
        return _DECODER.decode(value.decode())
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc


def id_at(document: Any, keys: list[str]) -> bytes | None:
    """The id at a path of keys of objects; None where there is none, or an empty one."""
    for key in keys:
        if not isinstance(document, dict):
            return None
        document = document.get(key)
    # A lone half of a surrogate pair, which JSON can write, has no UTF-8: its two halves stay apart all the same.
    return (document.encode(errors="surrogatepass") or None) if isinstance(document, str) else None


def _starts(lengths: Ints) -> Ints:
    own = np.maximum(lengths, 0)
    return np.cumsum(own) - own
