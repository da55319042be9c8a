"""Message ids by a decoder of the user's own, for payloads that only they can read: Avro, Protobuf, anything encrypted.

A decoder is an entry point of the group `tidemark.decoders` in a package that is installed wherever records are read,
the Spark executors included: a function of a record's key and value (bytes, or None where the record has none) that
returns the id, as text or bytes, or None where there is none. Whatever it raises is the payload's fault: such records
are counted as those whose JSON is none.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import entry_points

import numpy as np

from kafka_reader.errors import CollectionError
from kafka_reader.json_ids import SoughtIds, sought_ids
from kafka_reader.records import Bytes, RecordFields, Slices

GROUP = "tidemark.decoders"
Decoder = Callable[[bytes | None, bytes | None], str | bytes | None]


class NoDecoderError(CollectionError):
    """The decoder that the settings name is not installed here, or cannot be loaded."""


def decoded_ids(buffer: Bytes, fields: RecordFields, is_control: np.ndarray, name: str) -> SoughtIds:
    """The id the decoder finds in each record that is no marker. Raises NoDecoderError."""
    decode = decoder(name)
    keys, values = _bytes_of(buffer, fields.key), _bytes_of(buffer, fields.value)
    found: list[bytes | None] = []
    is_unreadable = np.zeros(len(is_control), dtype=np.bool_)
    for row, (key, value) in enumerate(zip(keys, values, strict=True)):
        try:
            found.append(None if is_control[row] else _as_bytes(decode(key, value)))
        except Exception:  # a boundary: somebody else's code reads somebody else's bytes
            found.append(None)
            is_unreadable[row] = True
    return sought_ids(found, is_unreadable)


@lru_cache
def decoder(name: str) -> Decoder:
    """The one of that name. Raises NoDecoderError."""
    installed = entry_points(group=GROUP)
    if name not in installed.names:
        known = ", ".join(sorted(installed.names)) or "none"
        raise NoDecoderError(f"no decoder {name!r} is installed here (entry points {GROUP}: {known})")
    try:
        loaded: Decoder = installed[name].load()
    except Exception as exc:  # a boundary, as above
        raise NoDecoderError(f"decoder {name!r} cannot be loaded: {exc}") from exc
    return loaded


def _bytes_of(buffer: Bytes, slices: Slices) -> list[bytes | None]:
    view = memoryview(buffer)
    places = zip(slices.starts.tolist(), slices.lengths.tolist(), strict=True)
    return [bytes(view[start : start + length]) if length >= 0 else None for start, length in places]


def _as_bytes(found: str | bytes | None) -> bytes | None:
    """Raises TypeError for what is no id."""
    if found is None or isinstance(found, bytes):
        return found or None
    if not isinstance(found, str):
        raise TypeError(f"a decoder returns text, bytes or None, not {type(found).__name__}")
    return found.encode(errors="surrogatepass") or None
