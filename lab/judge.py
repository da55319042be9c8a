"""Compare what a monitor found with what was injected: found, missed, miscounted, or claimed without a reason. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from guarantees.findings import Kind
from lab.found import Found
from lab.injected import Demand, Expected, Injected
from lab.stated import happened_then, misstated


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one fault's findings of one kind on one topic, over all partitions.

    `injected` is None where nothing is counted. `visible_after_s` runs from the evidence to the last partition's
    finding; `claim` is what the findings say together. `complaints` are empty when the monitor was right. `met` of the
    `demanded` findings are there and right; `right_findings` of all `findings` are.
    """

    fault: str
    kind: Kind
    topic: str
    injected: int | None
    partitions: int
    partitions_found: int
    claim: "Claim | None"
    visible_after_s: float | None
    complaints: tuple[str, ...]
    demanded: int
    met: int
    findings: int
    right_findings: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rows, and the findings nothing injected explains."""

    rows: tuple[Row, ...]
    false_findings: tuple[Found, ...]

    @property
    def is_right(self) -> bool:
        """Everything was found with the right counts, and nothing else was claimed: exit code 0."""
        return bool(self.rows) and not self.false_findings and not any(row.complaints for row in self.rows)


def judge(injected: Sequence[Injected], found: Iterable[Found]) -> Verdict:
    """Give each finding to the expectation it fits; what fits none is false."""
    expected = [(fault, each) for fault in injected for each in fault.expected]
    answers: dict[int, list[Found]] = {number: [] for number in range(len(expected))}
    false_findings: list[Found] = []
    for finding in found:
        number = _explanation(expected, finding)
        (false_findings if number is None else answers[number]).append(finding)
    rows = _rows([(fault.fault, each, answers[number]) for number, (fault, each) in enumerate(expected)])
    return Verdict(tuple(rows), tuple(false_findings))


def _explanation(expected: Sequence[tuple[Injected, Expected]], finding: Found) -> int | None:
    """The newest fault that explains it among those injected before it was found.

    The injection decides and not the evidence: the lab may learn of a move later than the monitor, never of its fault.
    """
    fitting = [number for number, (_, each) in enumerate(expected) if explains(each, finding)]
    earlier = [number for number in fitting if expected[number][0].injected_at_ms <= finding.first_seen_ms]
    return max(earlier, key=lambda number: expected[number][0].injected_at_ms, default=None)


def explains(expected: Expected, finding: Found) -> bool:
    """Same kind and place, and the same records and the same time where both say which."""
    place = (expected.kind, expected.topic, expected.partition)
    return (
        place == (finding.kind, finding.topic, finding.partition)
        and _same_group(expected, finding)
        and _overlaps(expected, finding)
        and happened_then(expected, finding)
    )


def _same_group(expected: Expected, finding: Found) -> bool:
    """Duplicates are the topic's; a monitor may still name the pipeline's group."""
    return expected.group_id is None or expected.group_id == finding.group_id


def _overlaps(expected: Expected, finding: Found) -> bool:
    if expected.first_offset is None or expected.last_offset is None:
        return True
    if finding.first_offset is None or finding.last_offset is None:
        return True
    return finding.first_offset <= expected.last_offset and expected.first_offset <= finding.last_offset


Answered = tuple[str, Expected, Sequence[Found]]


def _rows(answered: Sequence[Answered]) -> Iterable[Row]:
    by_row: dict[tuple[str, Kind, str], list[Answered]] = {}
    for fault, each, findings in answered:
        by_row.setdefault((fault, each.kind, each.topic), []).append((fault, each, findings))
    # What a monitor may say and did not is no row.
    return [_row(*key, group) for key, group in by_row.items() if _is_shown(group)]


def _is_shown(group: Sequence[Answered]) -> bool:
    return any(findings or each.demand is not Demand.NONE for _, each, findings in group)


def _row(fault: str, kind: Kind, topic: str, group: Sequence[Answered]) -> Row:
    findings = [finding for _, _, those in group for finding in those]
    counts = [each.count for _, each, _ in group if each.count is not None]
    delays = [finding.first_seen_ms - each.evidence_at_ms for _, each, those in group for finding in those]
    return Row(
        fault=fault,
        kind=kind,
        topic=topic,
        injected=sum(counts) if counts else None,
        partitions=len(group),
        partitions_found=sum(bool(those) for _, _, those in group),
        claim=Claim.of(findings) if findings else None,
        visible_after_s=max(delays) / 1000 if delays else None,
        complaints=(*_missed(group), *(complaint for each in group for complaint in _wrong(each))),
        demanded=len(_demands(group)),
        met=sum(any(_is_right(each) for each in demand) for demand in _demands(group)),
        findings=len(findings),
        right_findings=sum(len(each[2]) for each in group if _is_right(each)),
    )


def _demands(group: Sequence[Answered]) -> list[list[Answered]]:
    """What must be said, each with the places that satisfy it."""
    either = [each for each in group if each[1].demand is Demand.ANY]
    return [[each] for each in group if each[1].demand is Demand.EACH] + ([either] if either else [])


def _is_right(answered: Answered) -> bool:
    return bool(answered[2]) and not list(_wrong(answered))


def _wrong(answered: Answered) -> Iterable[str]:
    """What is wrong with the findings of one place, apart from their being too few."""
    _, expected, findings = answered
    yield from _miscounted(answered)
    for finding in findings:
        yield from misstated(expected, finding)


def _missed(group: Sequence[Answered]) -> Iterable[str]:
    """What had to be said and was not."""
    silent = [each for _, each, findings in group if not findings]
    if any(each.demand is Demand.ANY for each in silent) and len(silent) == len(group):
        yield f"missed on all of {_named(silent)}"
    required = [each for each in silent if each.demand is Demand.EACH]
    if required:
        yield f"missed on {_named(required)}"


def _miscounted(answered: Answered) -> Iterable[str]:
    """The true count must lie within what the partition's findings claim together, and equal their estimate."""
    _, expected, findings = answered
    if expected.count is None or not findings:
        return
    claimed = Claim.of(findings)
    if not claimed.holds(expected.count):
        estimate = "" if claimed.estimate is None else f"{claimed.estimate:,} "
        yield f"{expected.place}: {expected.count} injected, claimed {estimate}{claimed.interval()}"


@dataclass(frozen=True, slots=True)
class Claim:
    """How many the findings of one partition say it is, together."""

    lower: int
    estimate: int | None
    upper: int | None

    @staticmethod
    def of(findings: Sequence[Found]) -> "Claim":
        return Claim(
            lower=sum(finding.lower or 0 for finding in findings),
            estimate=_sum(finding.estimate for finding in findings),
            upper=None if any(finding.upper is None for finding in findings) else _sum(f.upper for f in findings),
        )

    def holds(self, count: int) -> bool:
        """The claim is true of this count; an estimate from all records must hit it."""
        is_within = self.lower <= count and (self.upper is None or count <= self.upper)
        return is_within and (self.estimate is None or self.estimate == count)

    def interval(self) -> str:
        return f"[{self.lower:,}, {'…' if self.upper is None else f'{self.upper:,}'}]"


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _named(expected: Sequence[Expected]) -> str:
    return ", ".join(each.place for each in expected)
