"""What a round of the record jobs did not read to its end, of which topic, and why. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from spark_jobs.offsets import ClusterNow
from spark_jobs.ranges import Plan

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Unread:
    """Of a topic, or (None) of a whole cluster, by its name in the settings.

    `place` is what waits, in words. `reason` None: nothing is wrong, its rest is left for the next round.
    """

    cluster: str
    topic: str | None
    place: str
    reason: str | None


def left_by(cluster: str, now: ClusterNow, plan: Plan) -> Iterator[Unread]:
    """What the plan of one cluster does not read to its end: it is not there, it waits, or the budget cuts it."""
    for topic, reason in now.missing.items():
        yield Unread(cluster, topic, f"topic {topic}", reason)
    for part, reason in plan.waiting.items():
        yield Unread(cluster, part.topic, str(part), reason)
    for topic in plan.left:
        yield Unread(cluster, topic, f"topic {topic}", None)


def in_words(unread: Iterable[Unread]) -> str:
    """What has to wait and why, one sentence, the first few; nothing where nothing is wrong."""
    waiting = sorted((one.place, one.reason) for one in unread if one.reason is not None)
    shown = [reason if reason.startswith(place) else f"{place}: {reason}" for place, reason in waiting[:SHOWN]]
    more = f"; and {len(waiting) - SHOWN} more" if len(waiting) > SHOWN else ""
    return "; ".join(shown) + more


def known_backlog(unread: Iterable[Unread], left: int) -> int | None:
    """Offsets left for later rounds; None while anything waits: how much that has to be read nobody counted."""
    return None if any(one.reason is not None for one in unread) else left


def as_json(unread: Iterable[Unread]) -> str:
    """[[cluster, topic or null, reason or null], …], each topic once; what is wrong with it before what is left."""
    return json.dumps([[cluster, topic, reason] for (cluster, topic), reason in _by_topic(unread).items()])


def key(unread: Sequence[Unread]) -> str:
    """The same for the same topics, whatever the reasons; empty where all was read."""
    places = sorted((cluster, topic or "") for cluster, topic in _by_topic(unread))
    return f"{crc32(json.dumps(places).encode()):08x}" if places else ""


def _by_topic(unread: Iterable[Unread]) -> Mapping[tuple[str, str | None], str | None]:
    found: dict[tuple[str, str | None], str | None] = {}
    for one in sorted(unread, key=lambda each: (each.cluster, each.topic or "", each.place)):
        found[one.cluster, one.topic] = found.get((one.cluster, one.topic)) or one.reason
    return found
