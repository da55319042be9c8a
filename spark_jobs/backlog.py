"""What the live job has not read yet: decided offsets between its ledger and the stable offset. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from guarantees.unknown import Unknown
from spark_jobs.offsets import ClusterNow
from spark_jobs.ranges import Part, unread_range


@dataclass(frozen=True, slots=True)
class Backlog:
    """Of one topic. `unknown` says of which partitions it cannot be told, and why; they are not in `offsets`."""

    topic: str
    partitions: int
    offsets: int
    unknown: Mapping[str, str]


def topic_backlog(now: ClusterNow, topic: str, covered_to: Mapping[Part, int]) -> Backlog:
    """A partition that was never read counts from where its history would begin, the horizon ago."""
    if topic in now.missing:
        return Backlog(topic, 0, 0, {topic: now.missing[topic]})
    offsets, unknown = 0, {}
    parts = now.partitions(topic)
    for each in parts:
        unread = unread_range(each, covered_to.get(each.part))
        if isinstance(unread, Unknown):
            unknown[str(each.part)] = unread.reason
        else:
            offsets += unread.offsets
    return Backlog(topic, len(parts), offsets, unknown)
