"""The id-coherent sample: an id is kept by its hash alone, so that all its copies are kept, on every topic.

Kept: unsigned hash < rate · 2^64. Samples nest: whatever a lower rate keeps, a higher rate keeps too.
"""

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column
from pyspark.sql import functions as sf

_ALL = 2**64
_HALF = 2**63


def threshold(rate: float) -> int:
    """The lowest unsigned hash that is not kept."""
    return min(_ALL, round(rate * _ALL))


def is_kept(id_hash: NDArray[np.int64], rate: float) -> NDArray[np.bool_]:
    below = threshold(rate)
    if below == _ALL:
        return np.ones(len(id_hash), dtype=np.bool_)
    return id_hash.view(np.uint64) < np.uint64(below)


def is_kept_column(id_hash: Column, rate: float) -> Column:
    """The same decision in Spark, whose bigint is signed: negative hashes are the upper half."""
    below = threshold(rate)
    if below == _ALL:
        return sf.lit(True)
    if below <= _HALF:
        return (id_hash >= 0) & (id_hash <= below - 1)
    return (id_hash >= 0) | (id_hash < below - _ALL)
