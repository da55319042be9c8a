"""Leaders and in-sync replicas of every partition, written down by the lab itself five times a second."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from confluent_kafka import KafkaException

from guarantees.places import TopicPartition
from lab.clients import admin_client
from lab.truth import now_ms

_EVERY_S = 0.2
_ANSWERS_WITHIN_S = 2.0


@dataclass(frozen=True, slots=True)
class Seen:
    """A partition's state from this moment until the next one that was seen; `leader` is -1 where there is none."""

    at_ms: int
    leader: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


class PartitionLog:
    """Asks one broker, which should be one that no fault touches, and keeps every change."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._changes: dict[TopicPartition, list[Seen]] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="partition-log", daemon=True)

    def __enter__(self) -> "PartitionLog":
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()

    def changes(self) -> dict[TopicPartition, tuple[Seen, ...]]:
        """All that was seen so far, by partition, the oldest first."""
        with self._lock:
            return {partition: tuple(seen) for partition, seen in self._changes.items()}

    def _run(self) -> None:
        while not self._stopping.wait(_EVERY_S):
            try:
                # A client that knows the other brokers may ask one of those, which may be paused or behind.
                metadata = admin_client(self._bootstrap).list_topics(timeout=_ANSWERS_WITHIN_S)
            except KafkaException:
                continue  # what was seen last holds until something else is seen
            at_ms = now_ms()
            with self._lock:
                for topic in metadata.topics.values():
                    for each in topic.partitions.values():
                        seen = Seen(at_ms, each.leader, tuple(sorted(each.replicas)), tuple(sorted(each.isrs)))
                        self._add(TopicPartition(topic.topic, each.id), seen)

    def _add(self, partition: TopicPartition, seen: Seen) -> None:
        known = self._changes.setdefault(partition, [])
        if not known or _state(known[-1]) != _state(seen):
            known.append(seen)


def spans(changes: Sequence[Seen], holds: Callable[[Seen], bool], until_ms: int) -> list[tuple[int, int]]:
    """From when to when something held of a partition; what still holds ends at `until_ms`."""
    found: list[tuple[int, int]] = []
    ends = [*(seen.at_ms for seen in changes[1:]), until_ms]
    for seen, end_ms in zip(changes, ends, strict=False):
        if not holds(seen):
            continue
        if found and found[-1][1] == seen.at_ms:
            found[-1] = (found[-1][0], end_ms)
        else:
            found.append((seen.at_ms, end_ms))
    return found


def is_below(seen: Seen, minimum: int) -> bool:
    """Writes with acks=all are refused: no leader, or too few in sync (Partition.effectiveMinIsr)."""
    return seen.leader < 0 or len(seen.in_sync) < min(minimum, len(seen.replicas))


def is_at(seen: Seen, minimum: int) -> bool:
    """Replicas are missing, and no more of them may."""
    in_sync = len(seen.in_sync)
    return seen.leader >= 0 and in_sync < len(seen.replicas) and in_sync == min(minimum, len(seen.replicas))


def await_change(
    log: PartitionLog, partition: TopicPartition, holds: Callable[[Seen], bool], within_s: float
) -> Seen | None:
    """The state in which it holds, as soon as it does; None when the time is over."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        seen: Mapping[TopicPartition, Sequence[Seen]] = log.changes()
        if (newest := seen.get(partition, ())) and holds(newest[-1]):
            return newest[-1]
        time.sleep(_EVERY_S / 2)
    return None


def _state(seen: Seen) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    return seen.leader, seen.replicas, seen.in_sync
