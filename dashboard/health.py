"""Rows of the health page."""

from collections.abc import Mapping
from typing import Any

from dashboard import wording
from dashboard.names import cut
from dashboard.standing import Standing
from dashboard.view import View
from guarantees.needs import hidden_without
from guarantees.promise_audit import Requirement
from guarantees.promises import Verdict
from guarantees.unknown import Unknown

Row = Mapping[str, Any]


def coverage_row(row: Row, view: View, cluster: Verdict) -> dict[str, object]:
    """What a signal asked for and got; incomplete is unknown, and it says what that hides.

    `cluster`: how fresh the newest round is; complete answers of an old round are stale.
    """
    complete = row["answered"] == row["asked"] and not row["error"]
    return {
        "Verdict": wording.LOOKS[cluster if complete else Verdict.UNKNOWN].text,
        "Signal": row["signal"].replace("_", " "),
        "Asked": row["asked"],
        "Answered": row["answered"],
        "Not permitted": row["refused"],
        "Failed": row["failed"],
        "Last answer": _last_answer(row, view),
        "Hidden meanwhile": "–" if complete else hidden_without(row["signal"]),
        "Why": cut(row["error"] or "–", 160),
    }


def _last_answer(row: Row, view: View) -> str:
    """How long ago, as far as the window reaches; a dash where nothing was to be asked."""
    if not row["asked"]:
        return "–"
    return "none in the window" if row["answered_at_ms"] is None else wording.age(row["answered_at_ms"], view.to_ms)


def promise_row(known: Standing) -> dict[str, object]:
    pipeline, rounds = known.pipeline, known.judged.sight.rounds
    return {
        "Verdict": wording.LOOKS[known.judged.verdict].text,
        "Pipeline": cut(pipeline.name),
        "Promise": wording.promise(pipeline.promise, pipeline.is_inferred),
        "Because": cut(known.reason, 160),
        "Grade": known.grade,
        "Rounds seen": f"{wording.count(rounds.present)} of {wording.count(rounds.expected)}",
        "Not known": "; ".join(cut(unknown.reason, 120) for unknown in known.judged.unknowns) or "–",
    }


MET = {True: "✓ Met", False: "▲ Missing", None: "? Unknown"}


def requirement_row(one: Requirement) -> dict[str, object]:
    seen = one.seen.reason if isinstance(one.seen, Unknown) else one.seen
    return {
        "State": MET[one.met],
        "Requirement": cut(one.name, 120),
        "Needed": one.needed,
        "Seen": cut(seen, 160),
        "Otherwise": "–" if one.met else one.consequence,
    }


def run_row(row: Row, view: View) -> dict[str, object]:
    ended = row["ended_at_ms"]
    return {
        "State": row["state"],
        "Job": row["job"],
        "Pipeline": cut(row["pipeline"] or "–"),
        "Started (UTC)": wording.since(row["started_at_ms"], view.to_ms),
        "Took": "–" if ended is None else wording.duration(ended - row["started_at_ms"]),
        "Ranges": row["ranges"],
        "Records": row["records"],
        "Backlog, offsets": row["backlog"],
        "Message": cut(row["message"] or "–", 160),
    }


def sampled_row(row: Row, view: View) -> dict[str, object]:
    return {
        "Topic": cut(row["topic"]),
        "Records read": row["records"],
        "Ids sampled": row["sampled"],
        "Sampling rate": f"{row['rate']:.3g}",
        "Ranges lost to retention": row["purged"],
        "Newest range": wording.age(row["observed_at_ms"], view.to_ms),
    }
