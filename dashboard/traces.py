"""What the parts of Tidemark leave behind, by which the page knows that they live."""

from collections.abc import Mapping

from dashboard import cached, queries
from dashboard.queries import Rows
from dashboard.view import View

ROLL_UP_PACE_MS = 90_000  # a minute, its settling time and the maintainer's pause
JOB_PACE_MS = 15_000
IDLE_PACE_MS = 60_000  # rounds of the jobs that find nothing to read say so once a minute
RECENT_RUNS = 5  # the longest of them and the pause is how long the next one may take


def of_parts(view: View) -> Mapping[str, tuple[int, int]]:
    """The newest trace of the parts that leave one, with the pace it is expected at (ms)."""
    heard, step = cached.heard(view), cached.step_ms(view.cluster)
    left = {"page": (view.to_ms, step)}
    if heard is not None:
        left["collect"] = (heard.attempted_at_ms, step)
    if minutes := cached.recently(view, queries.NEWEST_MINUTE) or cached.last_day(view, queries.NEWEST_MINUTE):
        left["maintain"] = (minutes[0]["at_ms"] + cached.MINUTE_MS, ROLL_UP_PACE_MS)
    if (jobs := of_jobs(view)) is not None:
        left["jobs"] = (jobs[0], look_pace_ms(jobs))
    return left


def of_jobs(view: View) -> tuple[int, int] | None:
    """The end of the newest run of the record jobs, with the pace it is expected at (ms); None before the first."""
    return of_runs(cached.of_tidemark(view, queries.JOB_RUNS), cached.settings().spark.round_s)


def of_runs(runs: Rows, round_s: float) -> tuple[int, int] | None:
    """The same of the newest runs (queries.JOB_RUNS), with the pause between two rounds."""
    if not runs:
        return None
    newest = max(row["ended_at_ms"] or row["started_at_ms"] for row in runs)
    longest = max((row["ended_at_ms"] or newest) - row["started_at_ms"] for row in runs[:RECENT_RUNS])
    return newest, max(JOB_PACE_MS, longest + round(round_s * 1000))


def look_pace_ms(trace: tuple[int, int] | None) -> int:
    """How often the jobs say how far they have read, by their trace."""
    return max(IDLE_PACE_MS, trace[1] if trace else 0)
