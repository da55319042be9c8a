"""What the truth run found out, one JSON object a line: a fault that stands there need not run again."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.beside import CODE as BESIDE
from lab.judge import Row, Verdict


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One kind of finding on one topic: how much was true, and what was said. Fields as in `judge.Row`."""

    kind: str
    topic: str
    injected: int | None
    lower: int | None
    estimate: int | None
    upper: int | None
    visible_after_s: float | None
    complaints: tuple[str, ...]
    demanded: int
    met: int
    findings: int
    right_findings: int


@dataclass(frozen=True, slots=True)
class Result:
    """One fault, or one control, in one run; or what that run met beside them, `at_ms` being its begin then.

    `false_findings` are those on its topics that nothing injected explains. `error` says why it could not be injected;
    then nothing was judged. `second_judge`: the anomalies in the histories of its clients, which agree with the ground
    truth; None where none was asked.
    """

    code: str
    seed: int
    at_ms: int
    took_s: float
    rows: tuple[ResultRow, ...] = ()
    false_findings: tuple[str, ...] = ()
    error: str | None = None
    second_judge: tuple[str, ...] | None = None


def result_of(
    code: str,
    seed: int,
    at_ms: int,
    took_s: float,
    verdict: Verdict,
    false: Sequence[str],
    second_judge: tuple[str, ...] | None = None,
) -> Result:
    """The part of a verdict that is about one fault."""
    rows = tuple(_row(row) for row in verdict.rows if row.fault == code)
    return Result(code, seed, at_ms, took_s, rows, tuple(false), second_judge=second_judge)


def append_results(path: Path, results: Iterable[Result]) -> None:
    """A later line about the same fault and seed replaces an earlier one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lines:
        for result in results:
            lines.write(json.dumps(asdict(result)) + "\n")


def load_results(path: Path) -> list[Result]:
    """The newest result of each fault and seed, in the order in which they were first written.

    What a run met beside its faults counts as long as one of them does.
    """
    newest: dict[tuple[str, int, int | None], Result] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        result = parse_result(json.loads(line))
        newest[result.code, result.seed, result.at_ms if result.code == BESIDE else None] = result
    found = list(newest.values())
    return [each for each in found if each.code != BESIDE or _still_counts(each, found)]


def _still_counts(beside: Result, results: Iterable[Result]) -> bool:
    """Of the results in force some are of its run: from its begin to the begin of the next one with that seed."""
    same = [each for each in results if each.seed == beside.seed]
    next_ms = min((r.at_ms for r in same if r.code == BESIDE and r.at_ms > beside.at_ms), default=None)
    others = [each.at_ms for each in same if each.code != BESIDE]
    return any(beside.at_ms <= at_ms and (next_ms is None or at_ms < next_ms) for at_ms in others)


def parse_result(fields: Mapping[str, Any]) -> Result:
    rows = tuple(ResultRow(**{**row, "complaints": tuple(row["complaints"])}) for row in fields["rows"])
    second = fields.get("second_judge")
    typed = {
        "false_findings": tuple(fields["false_findings"]),
        "second_judge": None if second is None else tuple(second),
    }
    return Result(**{**fields, "rows": rows, **typed})


def _row(row: Row) -> ResultRow:
    claim = row.claim
    return ResultRow(
        kind=str(row.kind),
        topic=row.topic,
        injected=row.injected,
        lower=None if claim is None else claim.lower,
        estimate=None if claim is None else claim.estimate,
        upper=None if claim is None else claim.upper,
        visible_after_s=row.visible_after_s,
        complaints=row.complaints,
        demanded=row.demanded,
        met=row.met,
        findings=row.findings,
        right_findings=row.right_findings,
    )
