"""The judge's verdict as text."""

from collections.abc import Mapping, Sequence

from guarantees.findings import Kind
from lab.judge import Row, Verdict

_HEADER = ("fault", "finding", "topic", "injected", "found", "interval", "partitions", "visible after", "")


def table(verdict: Verdict, notes: Mapping[Kind, str]) -> str:
    """A line for each row, then what is wrong. `notes` say what a kind's delay includes."""
    complaints = [f"  {row.fault}, {row.kind}: {complaint}" for row in verdict.rows for complaint in row.complaints]
    false = [f"  false: {each.kind} on {each.place}: {each.title}" for each in verdict.false_findings]
    cells = [_HEADER, *(_cells(row, notes.get(row.kind, "")) for row in verdict.rows)]
    return "\n".join([*_aligned(cells), *complaints, *false])


def _aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return [lines[0], "─" * max(len(line) for line in lines), *lines[1:]]


def _cells(row: Row, note: str) -> tuple[str, ...]:
    claim = row.claim if row.injected is not None else None
    return (
        row.fault,
        str(row.kind),
        row.topic,
        _shown(row.injected),
        "–" if claim is None else _shown(claim.estimate),
        "–" if claim is None else claim.interval(),
        f"{row.partitions_found} of {row.partitions}",
        "–" if row.visible_after_s is None else f"{row.visible_after_s:.1f} s{note}",
        "wrong" if row.complaints else "right",
    )


def _shown(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"
