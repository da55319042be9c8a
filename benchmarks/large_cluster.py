"""A large cluster that never existed: its names, who reads what, and its offsets at any moment. Values only.

Every group reads whole topics; most groups are close to the end, some are behind, some fall behind further. One share
of the partitions never had a commit, and one broker did not answer for a while.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

CLUSTER_ID = "bQ7mXr2Lk9Zw1Vn5Tf0yHg"
BASE_OFFSET = 4_000_000_000
BROKERS = 6
SILENT_BROKER = 3
SILENT_MINUTES = (38, 43)  # before the end: when that broker did not answer
SILENT = f"broker {SILENT_BROKER} did not answer within 1 s"
_AREAS = ("orders", "payments", "shipping", "catalog", "pricing", "search", "fraud", "ledger", "email", "clicks")
_STAGES = ("raw", "validated", "enriched", "aggregated", "audit", "retry", "snapshot", "export")
_ROLES = ("writer", "indexer", "notifier", "archiver", "scorer", "projector", "mirror", "billing")


@dataclass(frozen=True, slots=True)
class Size:
    """How large; `pairs` counts which group reads which topic, each with all partitions of the topic."""

    topics: int
    partitions: int  # of each topic
    groups: int
    pairs: int


LARGE = Size(topics=400, partitions=50, groups=1_000, pairs=2_235)  # 20,000 partitions, 111,750 group-partitions
SMALL = Size(topics=100, partitions=20, groups=100, pairs=223)


@dataclass(frozen=True)
class Cluster:
    """Arrays over partitions (topic-major) and over group-partitions (`places`), sorted as the store sorts them."""

    size: Size
    end_ms: int

    @cached_property
    def topics(self) -> list[str]:
        return [f"{_AREAS[n % 10]}.{_STAGES[n // 10 % 8]}.v{n // 80 + 1}" for n in range(self.size.topics)]

    @cached_property
    def topic_ids(self) -> list[str]:
        """Kafka's ids are base 64 of a random UUID: 22 characters whose order says nothing of the names."""
        letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))
        return ["".join(row) for row in letters[np.random.default_rng(1).integers(0, 62, (self.size.topics, 22))]]

    @cached_property
    def groups(self) -> list[str]:
        return sorted(f"{_AREAS[n % 10]}-{_ROLES[n // 10 % 8]}-{n // 80:02d}.prod" for n in range(self.size.groups))

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """(group, topic) by number, sorted by group and topic id."""
        choose, size = np.random.default_rng(2), self.size
        reads = {(n, int(choose.integers(size.topics))) for n in range(size.groups)}
        while len(reads) < size.pairs:
            reads.add((int(choose.integers(size.groups)), int(choose.integers(size.topics))))
        return sorted(reads, key=lambda pair: (pair[0], self.topic_ids[pair[1]]))

    @cached_property
    def place_group(self) -> np.ndarray:
        return np.repeat([group for group, _ in self.pairs], self.size.partitions)

    @cached_property
    def place_topic(self) -> np.ndarray:
        return np.repeat([topic for _, topic in self.pairs], self.size.partitions)

    @cached_property
    def place_partition(self) -> np.ndarray:
        return np.tile(np.arange(self.size.partitions), len(self.pairs))

    @cached_property
    def records_per_s(self) -> np.ndarray:
        """Of each partition, by topic and partition."""
        return np.random.default_rng(3).integers(1, 400, self.size.topics * self.size.partitions)

    @cached_property
    def never_committed(self) -> np.ndarray:
        return np.random.default_rng(4).random(len(self.place_group)) < 0.01

    @cached_property
    def _base_lag(self) -> np.ndarray:
        choose = np.random.default_rng(5)
        usual = choose.integers(0, 300, len(self.place_group))
        behind = (choose.random(self.size.groups) < 0.05)[self.place_group]
        return np.where(behind, usual * 5_000, usual)

    @cached_property
    def _growth_per_s(self) -> np.ndarray:
        falls_behind = (np.random.default_rng(6).random(self.size.groups) < 0.01)[self.place_group]
        return np.where(falls_behind, 7, 0)

    def high_watermarks(self, at_ms: int) -> np.ndarray:
        """Of every partition, by topic and partition."""
        return BASE_OFFSET + self.records_per_s * ((at_ms - self.end_ms) // 1_000 + 90_000)

    def lags(self, at_ms: int, places: slice = slice(None)) -> np.ndarray:
        """Of every group-partition that has a commit."""
        age_s = (at_ms - self.end_ms) // 1_000 + 90_000
        phase = self.place_group[places] * 37 + self.place_partition[places] * 11
        wave = np.abs((age_s + phase * 60) % 3_600 - 1_800)  # an hour up and down
        usual = self._base_lag[places] * (600 + wave) // 1_800
        return usual + self._growth_per_s[places] * age_s

    def is_silent(self, at_ms: int, places: slice = slice(None)) -> np.ndarray:
        """Whose coordinator did not answer."""
        ago = (self.end_ms - at_ms) / 60_000
        is_then = SILENT_MINUTES[0] <= ago < SILENT_MINUTES[1]
        return (self.place_group[places] % BROKERS + 1 == SILENT_BROKER) & is_then
