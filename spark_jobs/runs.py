"""Rows of job_runs: what the live job did, or why it did not."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from spark_jobs import unread as leaving
from spark_jobs.unread import Unread

JOB = "live"
EXPIRED = f"job = '{JOB}' AND epoch_ms(observed_at) < ?"  # SQL; other runs are answers somebody asked for


def run_row(
    *,
    started_at_ms: int,
    ended_at_ms: int,
    is_idle: bool,
    ranges: int,
    records: int,
    left: int,
    unread: Sequence[Unread],
) -> dict[str, object]:
    """A finished round; `left` counts offsets that it left for later ones, `unread` says of which topics, and why.

    Idle rounds share one row, so that a quiet cluster does not fill the table; those that leave other topics unread
    have one of their own, or the first of them would wipe out until when those had been read.
    """
    return {
        "run_id": _idle(leaving.key(unread)) if is_idle else f"{JOB}-{started_at_ms}",
        "job": JOB,
        "pipeline": None,
        "started_at": started_at_ms,
        "ended_at": ended_at_ms,
        "state": "done",
        "ranges": ranges,
        "records": records,
        "backlog": leaving.known_backlog(unread, left),
        "message": leaving.in_words(unread) or None,
        "unread": leaving.as_json(unread),
        "code_version": code_version(),
        "observed_at": ended_at_ms,
    }


def _idle(key: str) -> str:
    return f"{JOB}-idle-{key}" if key else f"{JOB}-idle"


def code_version() -> str:
    """Of the installed package; a checkout that was never installed has none."""
    try:
        return version("tidemark")
    except PackageNotFoundError:
        return "not installed"
