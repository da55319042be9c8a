"""What an exact audit reads: fixed before the first record is read, and kept, so that a restart reads the same. Pure.

A window of time is mapped to offsets by ListOffsets. On both sides of it an edge is read too: a first copy, a source
record or a sink record of something inside may lie outside. Only what lies inside is judged.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from guarantees.audits import Job
from spark_jobs.ranges import Part

SOURCE, SINK = "source", "sink"
IDS_AT_ONCE = 1_000_000  # of both sides, compared by one task: about 60 MB
ORDERED_AT_ONCE = 250_000  # records compared by one task, or by one query of Spark: then about 5 s of two processors
SHORTEST_CUT = 50_000  # offsets: below it a task costs more than its reading


@dataclass(frozen=True, slots=True)
class Mapped:
    """One partition as the cluster answered: its ends, and the first offsets not older than four moments.

    The moments are the begin of the edge, the begin and the end of the window, and the end of the edge.
    """

    part: Part
    leader: int
    log_start_offset: int
    last_stable_offset: int
    high_watermark: int
    moments: tuple[int, int, int, int]
    replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditRange:
    """Offsets of one partition: read [read_first, read_next), judge [window_first, window_next).

    Ids missing in the sink are sought on to `search_next`. `undecided` offsets of the window lie above the stable
    offset. `committed_to`: the group had passed what lies below for the settle delay; None where that is not known.
    """

    side: str
    part: Part
    leader: int
    read_first: int
    window_first: int
    window_next: int
    read_next: int
    search_next: int
    undecided: int
    log_start_offset: int
    last_stable_offset: int
    high_watermark: int
    is_compacted: bool
    committed_to: int | None = None
    replicas: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Names its files."""
        return f"{self.side}-{self.part.partition}"

    @property
    def begins_at_log_start(self) -> bool:
        """Records of the window may have been purged before anybody looked."""
        return self.window_first == self.log_start_offset > 0


def compared_at_once(job: Job) -> int:
    """Of a plan that is made now: one that was made before keeps what its files are split by."""
    return ORDERED_AT_ONCE if job is Job.ORDER else IDS_AT_ONCE


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """All ranges of both sides. Ids are compared in `buckets` parts, by their hash, of about `at_once` each.

    `fan_out` records of the sink are meant to be there for each id of the source. `times`: of the window, ms.
    """

    job: Job
    cluster_id: str
    planned_at_ms: int
    ranges: tuple[AuditRange, ...]
    blind_spots: tuple[str, ...]
    at_once: int
    fan_out: int = 1
    times: tuple[int, int] = (0, 0)

    @property
    def buckets(self) -> int:
        return max(1, -(-self.offsets // self.at_once))

    @property
    def offsets(self) -> int:
        """To be read and compared; the later search not included."""
        return sum(each.read_next - each.read_first for each in self.ranges)

    @property
    def has_sink(self) -> bool:
        return any(each.side == SINK for each in self.ranges)

    def side(self, side: str) -> tuple[AuditRange, ...]:
        return tuple(each for each in self.ranges if each.side == side)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "AuditPlan":
        given = json.loads(text)
        lists = {name: tuple(given[name]) for name in ("blind_spots", "times")}
        return cls(**{**given, **lists, "job": Job(given["job"]), "ranges": tuple(map(_range, given["ranges"]))})


def _range(given: Mapping[str, Any]) -> AuditRange:
    return AuditRange(**{**given, "part": Part(**given["part"]), "replicas": tuple(given["replicas"])})


def planned_range(
    side: str, mapped: Mapped, *, is_compacted: bool, searches_on: bool, committed_to: int | None = None
) -> AuditRange:
    """The range of one partition, cut at what is stored and decided: nothing above the stable offset is read."""
    stable = max(mapped.log_start_offset, min(mapped.high_watermark, mapped.last_stable_offset))
    ends = [min(max(offset, mapped.log_start_offset), stable) for offset in mapped.moments]
    window_end = min(mapped.moments[2], mapped.high_watermark)
    return AuditRange(
        side=side,
        part=mapped.part,
        leader=mapped.leader,
        read_first=ends[0],
        window_first=ends[1],
        window_next=ends[2],
        read_next=ends[3],
        search_next=stable if searches_on else ends[3],
        undecided=max(0, window_end - max(stable, mapped.moments[1])),
        log_start_offset=mapped.log_start_offset,
        last_stable_offset=mapped.last_stable_offset,
        high_watermark=mapped.high_watermark,
        is_compacted=is_compacted,
        committed_to=committed_to,
        replicas=mapped.replicas,
    )


def remaining(first: int, following: int, done: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of [first, following) beside the parts that are done, which do not overlap."""
    left: list[tuple[int, int]] = []
    for begin, end in sorted(done):
        if begin > first:
            left.append((first, min(begin, following)))
        first = max(first, end)
    return left + ([(first, following)] if first < following else [])


def shared_out(pieces: Sequence[tuple[AuditRange, int, int]], workers: int) -> list[tuple[AuditRange, int, int]]:
    """All pieces, the longest first; where there are fewer than workers long ones are cut, so that all have work."""
    chosen = sorted(pieces, key=_longest_first)
    while chosen and len(chosen) < workers:
        each, first, following = chosen.pop(0)
        middle = first + (following - first) // 2
        if middle - first < SHORTEST_CUT:
            return [(each, first, following), *chosen]
        chosen = sorted([*chosen, (each, first, middle), (each, middle, following)], key=_longest_first)
    return chosen


def _longest_first(piece: tuple[AuditRange, int, int]) -> int:
    _, first, following = piece
    return first - following
