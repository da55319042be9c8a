"""Many id hashes at a time: their order, which are among others, and how often. Pure numpy."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def in_order(id_hash: Ints, *then: Ints) -> Ints:
    """The order by id, and among copies of one id by the other columns, one after another.

    Few ids have more than one copy: only among those the other columns are looked at.
    """
    order = np.argsort(id_hash)
    in_turn = id_hash[order]
    is_repeated = in_turn[1:] == in_turn[:-1]
    places = np.flatnonzero(np.append(is_repeated, False) | np.append(False, is_repeated))
    rows = order[places]
    order[places] = rows[np.lexsort([*(column[rows] for column in reversed(then)), id_hash[rows]])]
    return order


def is_among(id_hash: Ints, there: Ints) -> Flags:
    """Which of them are among the others, which are sorted and distinct."""
    at = np.minimum(np.searchsorted(there, id_hash), max(0, len(there) - 1))
    return there[at] == id_hash if len(there) else np.zeros(len(id_hash), dtype=np.bool_)


def counted(id_hash: Ints, there: Ints, counts: Ints) -> Ints:
    """How often each of them is there: so many of each of the others, which are sorted and distinct; else none."""
    found = is_among(id_hash, there)
    number = np.zeros(len(id_hash), dtype=np.int64)
    number[found] = counts[np.searchsorted(there, id_hash[found])]
    return number
