"""xxHash64 (seed 42) of many byte slices at once: the hash Spark calls `xxhash64`, signed.

Ids of one topic have few lengths. Slices of equal length are hashed in lock step with numpy, in blocks that stay in
the processor's cache; rare lengths and long slices go through the xxhash package one by one.
"""

import numpy as np
import xxhash
from numpy.typing import NDArray

SEED = 42
PADDING_BYTES = 8  # that many readable bytes must follow the last slice in the buffer
_BLOCK = 16_000
_LONG_BYTES = 256
_FEW = 64

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)
_SEED = np.uint64(SEED)


def xxhash64(data: bytes) -> int:
    """Of one value, as the signed integer Spark returns."""
    return int(np.uint64(xxhash.xxh64_intdigest(data, SEED)).astype(np.int64))


def xxhash64_slices(buffer: NDArray[np.uint8], starts: Ints, lengths: Ints) -> Ints:
    """The hash of each slice `buffer[start:start + length]`; the buffer is padded by PADDING_BYTES."""
    hashes = np.empty(len(starts), dtype=np.uint64)
    if not len(starts):
        return hashes.view(np.int64)
    order = np.argsort(lengths, kind="stable")
    distinct, firsts = np.unique(lengths[order], return_index=True)
    for length, rows in zip(distinct.tolist(), np.split(order, firsts[1:]), strict=True):
        if length > _LONG_BYTES or len(rows) < _FEW:
            hashes[rows] = _one_by_one(buffer, starts[rows], length)
            continue
        for block in np.split(rows, range(_BLOCK, len(rows), _BLOCK)):
            hashes[block] = _lock_step(buffer, starts[block], length)
    return hashes.view(np.int64)


def _one_by_one(buffer: NDArray[np.uint8], starts: Ints, length: int) -> list[int]:
    view = memoryview(buffer)
    return [xxhash.xxh64_intdigest(view[start : start + length], SEED) for start in starts.tolist()]


def _lock_step(buffer: NDArray[np.uint8], starts: Ints, length: int) -> Words:
    """The specification's steps, each for all slices: stripes of 32 bytes, words of 8, a word of 4, single bytes."""
    words = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))
    with np.errstate(over="ignore"):  # the arithmetic is modulo 2^64
        whole = length - length % 32
        hashes = _stripes(words, starts, whole) if whole else np.full(len(starts), _SEED + _P5)
        hashes = hashes + np.uint64(length)
        at = whole
        while length - at >= 8:
            hashes = _rotate(hashes ^ _round(_ZERO, words[starts + at]), 27) * _P1 + _P4
            at += 8
        if length - at >= 4:
            half = words[starts + at] & np.uint64(0xFFFFFFFF)
            hashes = _rotate(hashes ^ (half * _P1), 23) * _P2 + _P3
            at += 4
        for byte in range(at, length):
            hashes = _rotate(hashes ^ (buffer[starts + byte].astype(np.uint64) * _P5), 11) * _P1
        return _avalanche(hashes)


_ZERO = np.zeros(1, dtype=np.uint64)


def _stripes(words: Words, starts: Ints, whole: int) -> Words:
    """Four lanes over the stripes of 32 bytes, merged."""
    lanes = [np.full(len(starts), lane) for lane in (_SEED + _P1 + _P2, _SEED + _P2, _SEED, _SEED - _P1)]
    for at in range(0, whole, 32):
        lanes = [_round(lane, words[starts + (at + 8 * number)]) for number, lane in enumerate(lanes)]
    merged = _rotate(lanes[0], 1) + _rotate(lanes[1], 7) + _rotate(lanes[2], 12) + _rotate(lanes[3], 18)
    for lane in lanes:
        merged = (merged ^ _round(_ZERO, lane)) * _P1 + _P4
    return merged


def _round(lane: Words, word: Words) -> Words:
    return _rotate(lane + word * _P2, 31) * _P1


def _rotate(value: Words, bits: int) -> Words:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


def _avalanche(hashes: Words) -> Words:
    hashes = (hashes ^ (hashes >> np.uint64(33))) * _P2
    hashes = (hashes ^ (hashes >> np.uint64(29))) * _P3
    return hashes ^ (hashes >> np.uint64(32))
