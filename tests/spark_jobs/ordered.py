"""Records with places as small histories, and what plain Python says of their order."""

from collections import Counter, defaultdict
from dataclasses import dataclass

WINDOW = (10, 30)  # of every partition


@dataclass(frozen=True)
class Placed:
    """One stored record with a key and a place in it."""

    key: int
    offset: int
    place: int
    partition: int = 0
    side: str = "source"
    pid: int | None = 1

    @property
    def in_window(self):
        return WINDOW[0] <= self.offset < WINDOW[1]

    @property
    def row(self):
        """As spark_jobs.transforms.order reads it, in the order of its columns."""
        known = self.pid is not None
        return {
            "side": self.side, "partition": self.partition, "key_hash": self.key, "offset": self.offset,
            "place": self.place, "timestamp_ms": 1000 + self.offset, "producer_id": self.pid,
            "producer_epoch": 0 if known else None, "sequence": self.offset if known else None,
            "in_window": self.in_window, "bucket": 0,
        }  # fmt: skip


def oracle(records, *, is_numbered=True):
    """Accounts by (side, partition), and violations as (side, partition, offset, offset of the one before)."""
    keys = defaultdict(list)
    for one in sorted(records, key=lambda one: one.offset):
        keys[one.side, one.partition, one.key].append(one)
    accounts, violations = defaultdict(Counter), set()
    for (side, partition, key), own in keys.items():
        is_elsewhere = any(s == side and k == key and p != partition for s, p, k in keys)
        for number, one in enumerate(own):
            if not one.in_window:
                continue
            kind, before = judged(one, own[:number], is_numbered)
            account = accounts[side, partition]
            account.update(ordered=1, out_of_order=kind == "behind", repeated=kind == "repeat",
                           numbers_missing=0 if is_elsewhere else missing(one, own[:number], own))  # fmt: skip
            if not any(other.in_window for other in own[:number]):
                account.update(keys=1, keys_elsewhere=is_elsewhere)
            if kind == "behind":
                violations.add((side, partition, one.offset, before.offset))
    unknown = {} if is_numbered else {"numbers_missing": None}
    return {where: {**account, **unknown} for where, account in accounts.items()}, violations


def judged(one, before, is_numbered):
    """Whether it is behind, a repeat or neither, and the first record with the highest place before it."""
    highest = max(before, key=lambda other: (other.place, -other.offset), default=None)
    is_behind = highest is not None and highest.place > one.place
    if one.place in {other.place for other in before}:
        return ("repeat" if is_numbered or is_behind else None), highest
    return ("behind" if is_behind else None), highest


def missing(one, before, own):
    """Numbers between the place and the next lower one, counted once."""
    lower = [other.place for other in own if other.place < one.place]
    is_first = one.place not in {other.place for other in before}
    return one.place - max(lower) - 1 if lower and is_first else 0
