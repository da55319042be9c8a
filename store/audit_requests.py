"""Exact audits that were asked for: operator actions, appended by a page or a command, carried out by the record jobs.

Who asks only appends; the driver that writes the metrics sees it, runs it, and says in `audit_runs` what became of it.
Names and windows of a request are untrusted: one that cannot be read is left out.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from guarantees.audits import Job
from store.reading import read, segments
from store.rows import Row, python_rows

TABLE = "operator_actions"
AUDIT, CANCEL = "audit", "cancel"
_NAME = re.compile(r"[A-Za-z0-9_-]+")  # a run's folder has its name


class RunState(StrEnum):
    """What became of a request, as `audit_runs` spells it."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        return self in (RunState.DONE, RunState.CANCELLED, RunState.FAILED)


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """One window of one pipeline, [from_ms, to_ms), ms since 1970, UTC. `at_ms` is when it was asked for, by whom."""

    run_id: str
    at_ms: int
    who: str
    job: Job
    pipeline: str
    from_ms: int
    to_ms: int

    @property
    def audit_id(self) -> str:
        """The same for everyone who asks the same of the same window: its rows replace one another."""
        return sha256(f"{self.job} {self.from_ms} {self.to_ms} {self.pipeline}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Cancellation:
    """Somebody no longer wants a run."""

    action_id: str
    at_ms: int
    who: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Requested:
    """Everything that was ever asked for, oldest first, and the first cancellation of each run."""

    requests: tuple[AuditRequest, ...]
    cancelled: Mapping[str, Cancellation]


def request_row(request: AuditRequest) -> Row:
    """As `operator_actions` keeps it."""
    asked = {"job": request.job.value, "pipeline": request.pipeline, "from_ms": request.from_ms, "to_ms": request.to_ms}
    return _row(request.run_id, request.at_ms, AUDIT, request.who, asked)


def cancel_row(cancellation: Cancellation) -> Row:
    return _row(cancellation.action_id, cancellation.at_ms, CANCEL, cancellation.who, {"run_id": cancellation.run_id})


def load_requests(data_dir: Path) -> Requested:
    """What the store holds now."""
    return requested(python_rows(TABLE, read(data_dir, TABLE, where="action IN (?, ?)", parameters=[AUDIT, CANCEL])))


def requests_version(data_dir: Path) -> str:
    """A word that changes whenever an action was added."""
    return " ".join(segment.name for segment in segments(data_dir, TABLE, None))


def requested(rows: Iterable[Mapping[str, Any]]) -> Requested:
    """Rows of operator_actions (times in ms) in any order, other actions among them."""
    in_order = sorted(rows, key=lambda row: (row["observed_at"], row["action_id"]))
    requests = (_parsed(row) for row in in_order if row["action"] == AUDIT)
    cancellations = (_cancellation(row) for row in in_order if row["action"] == CANCEL)
    return Requested(
        tuple(request for request in requests if request is not None),
        {one.run_id: one for one in reversed([each for each in cancellations if each is not None])},
    )


def _row(action_id: str, at_ms: int, action: str, who: str, request: Mapping[str, object]) -> Row:
    return {
        "action_id": action_id,
        "observed_at": at_ms,
        "action": action,
        "who": who.strip(),
        "request": json.dumps(request, sort_keys=True),
    }


def _parsed(row: Mapping[str, Any]) -> AuditRequest | None:
    asked = _object(row["request"])
    if not _NAME.fullmatch(row["action_id"]):
        return None
    pipeline, from_ms, to_ms = asked.get("pipeline"), asked.get("from_ms"), asked.get("to_ms")
    if asked.get("job") not in set(Job) or not isinstance(pipeline, str):
        return None
    if not (isinstance(from_ms, int) and isinstance(to_ms, int) and 0 <= from_ms < to_ms):
        return None
    return AuditRequest(
        row["action_id"], row["observed_at"], row["who"] or "", Job(asked["job"]), pipeline, from_ms, to_ms
    )


def _cancellation(row: Mapping[str, Any]) -> Cancellation | None:
    run_id = _object(row["request"]).get("run_id")
    if not isinstance(run_id, str):
        return None
    return Cancellation(row["action_id"], row["observed_at"], row["who"] or "", run_id)


def _object(text: str | None) -> Mapping[str, Any]:
    try:
        value = json.loads(text or "{}")
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
