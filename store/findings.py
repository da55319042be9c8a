"""Findings in the store: their events as rows, and their state as the fold of all events. Events never expire."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.lifecycle import Change, FindingEvent, FindingHistory, fold
from store.log import SegmentLog
from store.reading import read, segments
from store.rows import python_rows

TABLE = "finding_events"


def append_events(log: SegmentLog, events: Iterable[FindingEvent]) -> str | None:
    """Commit the events together; returns the segment's name, None for no events."""
    return log.append(TABLE, [event_row(event) for event in events])


def events_version(data_dir: Path) -> str:
    """A word that changes whenever an event was added: the live segments, which are never written again."""
    return " ".join(segment.name for segment in segments(data_dir, TABLE, None))


def load_events(data_dir: Path) -> list[FindingEvent]:
    """Every event ever written, the oldest first."""
    return [parse_event(row) for row in python_rows(TABLE, read(data_dir, TABLE).sort_by("observed_at"))]


def load_findings(data_dir: Path) -> dict[str, FindingHistory]:
    """The state of every finding, by finding id."""
    return fold(load_events(data_dir))


def event_row(event: FindingEvent) -> dict[str, object]:
    finding, place, bounds = event.finding, event.finding.place, event.finding.bounds
    return {
        "finding_id": finding.finding_id,
        "change": event.change.value,
        "observed_at": event.at_ms,
        "kind": finding.kind.value,
        "cluster_id": place.cluster_id,
        "topic": place.topic,
        "topic_id": place.topic_id,
        "partition": place.partition,
        "group_id": place.group_id,
        "anchor": finding.anchor,
        "pipeline": finding.pipeline,
        "severity": finding.severity,
        "title": finding.title,
        "grade": finding.grade.value,
        "lower": None if bounds is None else bounds.lower,
        "estimate": None if bounds is None else bounds.estimate,
        "upper": None if bounds is None else bounds.upper,
        "unit": None if bounds is None else bounds.unit.value,
        "statements": _json([_words(statement) for statement in finding.statements]),
        "evidence": _json(finding.evidence),
        "happened_at": finding.happened_at_ms,
        "last_seen_at": finding.last_seen_at_ms,
        "closed_reason": finding.closed_reason,
    }


def parse_event(row: Mapping[str, Any]) -> FindingEvent:
    """The inverse of `event_row`, for rows whose times are int milliseconds. Tuples in the evidence become lists."""
    finding = Finding(
        kind=Kind(row["kind"]),
        place=Place(row["cluster_id"], row["topic"], row["topic_id"], row["partition"], row["group_id"]),
        anchor=row["anchor"],
        severity=row["severity"],
        title=row["title"],
        statements=tuple(_statement(**given) for given in json.loads(row["statements"])),
        bounds=_bounds(row),
        evidence=json.loads(row["evidence"]),
        happened_at_ms=row["happened_at"],
        last_seen_at_ms=row["last_seen_at"],
        pipeline=row["pipeline"],
        closed_reason=row["closed_reason"],
    )
    return FindingEvent(Change(row["change"]), row["observed_at"], finding)


def _words(statement: Statement) -> dict[str, object]:
    return {"grade": statement.grade, "text": statement.text, "assumption": statement.assumption}


def _statement(grade: str, text: str, assumption: str | None) -> Statement:
    return Statement(Grade(grade), text, assumption)


def _bounds(row: Mapping[str, Any]) -> Bounds | None:
    if row["unit"] is None:
        return None
    return Bounds(row["lower"], row["estimate"], row["upper"], Unit(row["unit"]))


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
