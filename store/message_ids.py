"""The id-coherent sample: an id is kept by its hash alone, so that all its copies are kept, on every topic.

Kept: unsigned hash < rate · 2^64. Samples nest: whatever a lower rate keeps, a higher rate keeps too.
"""

import xxhash

SEED = 42
ALL = 2**64


def id_hash(message_id: str) -> int:
    """As `id_samples` and `lost_ids` hold it: xxHash64 of the id's bytes, signed."""
    unsigned = xxhash.xxh64_intdigest(message_id.encode(), SEED)
    return unsigned - ALL if unsigned >= ALL // 2 else unsigned


def threshold(rate: float) -> int:
    """The lowest unsigned hash that is not kept."""
    return min(ALL, round(rate * ALL))


def is_kept(signed_hash: int, rate: float) -> bool:
    """Whether copies of an id with this hash are in the sample."""
    return signed_hash % ALL < threshold(rate)
