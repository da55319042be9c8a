"""The rule of the sample (store.message_ids) for many hashes at once, in numpy and in Spark."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column
from pyspark.sql import functions as sf

from store.message_ids import ALL, threshold

_HALF = ALL // 2
MOST_AWAITED = 10_000  # 200 kB of a request that every task is sent


def is_kept(id_hash: NDArray[np.int64], rate: float) -> NDArray[np.bool_]:
    below = threshold(rate)
    if below == ALL:
        return np.ones(len(id_hash), dtype=np.bool_)
    return id_hash.view(np.uint64) < np.uint64(below)


def beyond(hashes: Iterable[int], rate: float) -> tuple[int, ...]:
    """Those of the hashes that are not kept at this rate, the lowest first, as many as travel with a request."""
    below = threshold(rate)
    return tuple(sorted((each for each in hashes if each % ALL >= below), key=lambda each: each % ALL)[:MOST_AWAITED])


def is_kept_column(id_hash: Column, rate: float) -> Column:
    """The same decision in Spark, whose bigint is signed: negative hashes are the upper half."""
    below = threshold(rate)
    if below == ALL:
        return sf.lit(True)
    if below <= _HALF:
        return (id_hash >= 0) & (id_hash <= below - 1)
    return (id_hash >= 0) | (id_hash < below - ALL)
