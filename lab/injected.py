"""What a fault did to the cluster, exactly: the ground truth a monitor is judged against."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from guarantees.findings import Grade, Kind
from lab.deeds import Spot


class Demand(StrEnum):
    """How much of what is true a monitor must say."""

    EACH = "each"  # of every partition
    ANY = "any"  # of one of the partitions at least: whether it shows on the others depends on when one looks
    NONE = "none"  # it may stay silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One finding that is true of one partition after a fault.

    `count`: extra copies, lost ids or redelivered records; None where nothing is counted. `first_offset` and
    `last_offset` (inclusive) bound the records concerned: later copies, lost source records, redelivered records, the
    open transaction's records. `evidence_at_ms`: from when the cluster shows it. `partition` is None for what concerns
    a whole topic. Where they are given, a finding must also carry this `grade`, these values in its evidence (`facts`),
    and name a span of time that touches `happened_between_ms`.
    """

    kind: Kind
    topic: str
    partition: int | None
    group_id: str | None
    count: int | None
    first_offset: int | None
    last_offset: int | None
    evidence_at_ms: int
    message_ids: tuple[str, ...] = ()
    demand: Demand = Demand.EACH
    grade: Grade | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    happened_between_ms: tuple[int, int] | None = None

    @property
    def place(self) -> str:
        """As people write it."""
        return self.topic if self.partition is None else f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """One fault: what it was, when, and everything that is true because of it.

    `evidence_at_ms` is when the last of its evidence existed. `recovered_at_ms` is None until the workload is healthy
    again. `details` are for people: member ids, producer ids, times.
    """

    fault: str
    injected_at_ms: int
    evidence_at_ms: int
    recovered_at_ms: int | None = None
    expected: tuple[Expected, ...]
    details: Mapping[str, object] = field(default_factory=dict)


def expected_by_partition(
    kind: Kind,
    topic: str,
    group_id: str | None,
    spots: Iterable[Spot],
    evidence_at_ms: int,
    demand: Demand = Demand.EACH,
) -> tuple[Expected, ...]:
    """One expectation for each partition that holds a record of `spots`."""
    by_partition: dict[int, list[Spot]] = {}
    for spot in sorted(spots):
        by_partition.setdefault(spot.partition, []).append(spot)
    return tuple(
        Expected(
            kind=kind,
            topic=topic,
            partition=partition,
            group_id=group_id,
            count=len(here),
            first_offset=here[0].offset,
            last_offset=here[-1].offset,
            evidence_at_ms=evidence_at_ms,
            message_ids=tuple(spot.message_id for spot in here),
            demand=demand,
        )
        for partition, here in by_partition.items()
    )


def append_injected(path: Path, injected: Injected) -> None:
    """Write a fault down; said again once it has recovered."""
    with path.open("a") as lines:
        lines.write(json.dumps(asdict(injected)) + "\n")


def load_injected(path: Path) -> list[Injected]:
    """The newest statement about each fault, in the order of injection."""
    newest: dict[tuple[str, int], Injected] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        injected = parse_injected(line)
        newest[injected.fault, injected.injected_at_ms] = injected
    return sorted(newest.values(), key=lambda each: each.injected_at_ms)


def parse_injected(text: str) -> Injected:
    fields = json.loads(text)
    return Injected(**{**fields, "expected": tuple(_parse_expected(each) for each in fields["expected"])})


def _parse_expected(fields: Mapping[str, Any]) -> Expected:
    between = fields["happened_between_ms"]
    typed = {
        "kind": Kind(fields["kind"]),
        "demand": Demand(fields["demand"]),
        "grade": None if fields["grade"] is None else Grade(fields["grade"]),
        "message_ids": tuple(fields["message_ids"]),
        "happened_between_ms": None if between is None else (between[0], between[1]),
    }
    return Expected(**{**fields, **typed})
