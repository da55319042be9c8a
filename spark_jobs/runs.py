"""Rows of job_runs: what the live job did, or why it did not."""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

from guarantees.cadence import IDLE_LOOKS_APART_MS
from spark_jobs import unread as leaving
from spark_jobs.unread import Unread

JOB = "live"
EXPIRED = f"job = '{JOB}' AND epoch_ms(observed_at) < ?"  # SQL; other runs are answers somebody asked for


def run_row(
    *,
    started_at_ms: int,
    ended_at_ms: int,
    idle_since_ms: int | None,
    ranges: int,
    records: int,
    left: int,
    unread: Sequence[Unread],
) -> dict[str, object]:
    """A finished round; `left` counts offsets that it left for later ones, `unread` says of which topics, and why.

    `idle_since_ms`: of an idle one, what IdleRows says of its row; None: it has a row of its own.
    """
    return {
        "run_id": f"{JOB}-{started_at_ms}" if idle_since_ms is None else _idle(idle_since_ms, leaving.key(unread)),
        "job": JOB,
        "pipeline": None,
        "started_at": started_at_ms,
        "ended_at": ended_at_ms,
        "idle_since": idle_since_ms,
        "state": "done",
        "ranges": ranges,
        "records": records,
        "backlog": leaving.known_backlog(unread, left),
        "message": leaving.in_words(unread) or None,
        "unread": leaving.as_json(unread),
        "code_version": code_version(),
        "observed_at": ended_at_ms,
    }


class IdleRows:
    """Idle rounds share a row while they follow each other closely, so that a quiet cluster does not fill the table and
    it can still be told of any past moment whether somebody looked.

    Those that leave other topics unread have one of their own, or the first of them would wipe out until when those had
    been read.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}  # by unread.key: when the first and the newest round had ended

    def since_ms(self, unread: Sequence[Unread], ended_at_ms: int) -> int:
        """When the first of the rounds had ended whose row an idle one shares that ended now."""
        first_ms, newest_ms = self._known.get(leaving.key(unread), (ended_at_ms, ended_at_ms))
        return first_ms if 0 <= ended_at_ms - newest_ms <= IDLE_LOOKS_APART_MS else ended_at_ms

    def note(self, unread: Sequence[Unread], run: Mapping[str, object]) -> None:
        """A run was committed."""
        since_ms, ended_at_ms = run["idle_since"], run["ended_at"]
        if isinstance(since_ms, int) and isinstance(ended_at_ms, int):
            self._known[leaving.key(unread)] = since_ms, ended_at_ms


def _idle(since_ms: int, key: str) -> str:
    return f"{JOB}-idle-{since_ms}{'-' if key else ''}{key}"


def code_version() -> str:
    """Of the installed package; a checkout that was never installed has none."""
    try:
        return version("tidemark")
    except PackageNotFoundError:
        return "not installed"
