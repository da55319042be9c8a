"""Rows of job_runs: what the live job did, or why it did not."""

from importlib.metadata import PackageNotFoundError, version

JOB = "live"


def run_row(
    *,
    started_at_ms: int,
    ended_at_ms: int,
    is_idle: bool,
    ranges: int,
    records: int,
    backlog: int,
    message: str,
) -> dict[str, object]:
    """A finished round. Idle rounds share one row, so that a quiet cluster does not fill the table."""
    return {
        "run_id": f"{JOB}-idle" if is_idle else f"{JOB}-{started_at_ms}",
        "job": JOB,
        "pipeline": None,
        "started_at": started_at_ms,
        "ended_at": ended_at_ms,
        "state": "done",
        "ranges": ranges,
        "records": records,
        "backlog": backlog,
        "message": message or None,
        "code_version": code_version(),
        "observed_at": ended_at_ms,
    }


def code_version() -> str:
    """Of the installed package; a checkout that was never installed has none."""
    try:
        return version("tidemark")
    except PackageNotFoundError:
        return "not installed"
