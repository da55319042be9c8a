"""Runs of the jobs as they stood at the end of a window, as SQL over job_runs."""

from guarantees.cadence import IDLE_LOOKS_APART_MS

# Those that had ended. Of a row that idle ones share and whose newest ended later, one is told that had ended: they
# follow each other so closely.
RUNS = f"""(
    FROM job_runs WHERE observed_at <= $to
    UNION ALL BY NAME
    SELECT * EXCLUDE told REPLACE (told AS ended_at, told AS observed_at, told - (ended_at - started_at) AS started_at)
    FROM (SELECT *, greatest(idle_since, $to - to_milliseconds({IDLE_LOOKS_APART_MS})) AS told
          FROM job_runs WHERE observed_at > $to AND idle_since <= $to))"""
