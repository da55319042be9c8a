"""`tidemark findings`: what was found, newest first, for a person or a script."""

import argparse
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cli.chosen import add_settings_arguments, chosen_settings
from cli.stored_causes import stored_causes
from dashboard.names import visible
from dashboard.rebalances_read import missed_by
from guarantees.findings import Bounds, Finding
from guarantees.lifecycle import FindingHistory
from guarantees.links import Cause
from guarantees.unknown import Unknown
from store.findings import load_findings

COLUMNS = ("happened", "state", "grade", "what", "where", "how much", "cause", "id")


def add_to(commands: Any) -> None:
    """Describe `findings` to the command line."""
    command = commands.add_parser("findings", help="what was found, newest first")
    add_settings_arguments(command)
    command.add_argument("--format", choices=("table", "json"), default="table")
    command.add_argument("--open", action="store_true", help="only those that last")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings of the store."""
    settings = chosen_settings(arguments)
    histories = load_findings(Path(settings.store.data_dir)).values()
    # A closed finding may explain an open one, so all are looked at before some are chosen.
    data_dir, known = Path(settings.store.data_dir), [h.finding for h in histories]
    causes = stored_causes(settings, known, time.time_ns() // 1_000_000)
    missed = missed_by(data_dir, known, causes)
    chosen = [h for h in histories if not (arguments.open and h.finding.closed_reason)]
    newest_first = sorted(chosen, key=lambda h: h.finding.happened_at_ms, reverse=True)
    explained = [(h, causes.get(h.finding.finding_id, ()), missed.get(h.finding.finding_id)) for h in newest_first]
    if arguments.format == "json":
        print(json.dumps([as_json(*one) for one in explained], indent=1, sort_keys=True))
    else:
        print("\n".join(table(as_row(history.finding, *why) for history, *why in explained)))
    return 0


def as_row(finding: Finding, causes: Sequence[Cause], missed: Unknown | None) -> tuple[str, ...]:
    """A finding as one line of the table."""
    return (
        utc(finding.happened_at_ms),
        finding.state,
        finding.grade,
        finding.title,
        where(finding),
        how_much(finding.bounds),
        why(causes, missed),
        finding.finding_id,
    )


def as_json(history: FindingHistory, causes: Sequence[Cause], missed: Unknown | None) -> Mapping[str, object]:
    """A finding with all its evidence; `missed`: why no rebalance could be looked for."""
    finding, place, bounds = history.finding, history.finding.place, history.finding.bounds
    return {
        "id": finding.finding_id,
        "kind": finding.kind,
        "state": finding.state,
        "grade": finding.grade,
        "severity": finding.severity,
        "title": finding.title,
        "pipeline": finding.pipeline,
        "cluster_id": place.cluster_id,
        "topic": place.topic,
        "topic_id": place.topic_id,
        "partition": place.partition,
        "group_id": place.group_id,
        "lower": bounds and bounds.lower,
        "estimate": bounds and bounds.estimate,
        "upper": bounds and bounds.upper,
        "unit": bounds and bounds.unit,
        "statements": [{"grade": s.grade, "text": s.text, "assumption": s.assumption} for s in finding.statements],
        "evidence": dict(finding.evidence),
        "causes": [cause_as_json(cause) for cause in causes],
        "rebalances_unknown": missed and missed.reason,
        "happened_at": utc(finding.happened_at_ms),
        "last_seen_at": utc(finding.last_seen_at_ms),
        "opened_at": utc(history.opened_at_ms),
        "closed_reason": finding.closed_reason,
    }


def table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Columns as wide as their widest cell; names from outside cannot move the terminal's cursor or re-order it."""
    lines = [COLUMNS, *(tuple(map(visible, row)) for row in rows)]
    widths = [max(len(line[number]) for line in lines) for number in range(len(COLUMNS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def where(finding: Finding) -> str:
    """Topic, partition and group, as far as they apply."""
    place = finding.place
    partition = f"[{place.partition}]" if place.partition is not None else ""
    return " ".join(filter(None, [f"{place.topic or ''}{partition}", place.group_id and f"group {place.group_id}"]))


def how_much(bounds: Bounds | None) -> str:
    """An exact figure alone, an interval as such, no upper bound said aloud."""
    if bounds is None:
        return "-"
    if bounds.lower == bounds.upper:
        return f"{bounds.lower} {bounds.unit}"
    return f"{bounds.lower} to {'?' if bounds.upper is None else bounds.upper} {bounds.unit}"


def why(causes: Sequence[Cause], missed: Unknown | None) -> str:
    """The surest link, with the finding it leads to where it is one."""
    if not causes:
        return "not observed; rebalances of then not kept" if missed else "not observed"
    first = causes[0]
    return f"{first.link}, {first.finding_id}" if first.finding_id else first.link


def cause_as_json(cause: Cause) -> Mapping[str, object]:
    """A cause for a script; `finding_id` null: an event explains it."""
    statement = cause.statement
    return {
        "link": cause.link,
        "text": statement.text,
        "grade": statement.grade,
        "assumption": statement.assumption,
        "finding_id": cause.finding_id,
        "at": utc(cause.at_ms),
    }


def utc(at_ms: int) -> str:
    """ISO 8601, UTC, milliseconds."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
