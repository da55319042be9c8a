"""Pipelines as rows: promise, verdict, lag in offsets and time, and what was lost and duplicated in the window."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from dashboard import shapes, wording
from dashboard.amounts import added, none_seen_upper
from dashboard.finding_times import newest_ms
from dashboard.names import cut
from dashboard.standing import Standing
from dashboard.view import View
from guarantees.findings import Finding, Kind, Unit
from guarantees.promises import Pipeline, Verdict
from guarantees.verdicts import concerns

Row = Mapping[str, Any]
COUNTED = (Kind.LOST_WRITE, Kind.DUPLICATE_WRITE)
SHOWN = 100  # the search finds the others


def counts(standings: Iterable[Standing]) -> dict[Verdict, int]:
    """How many pipelines have each verdict, the worst first."""
    verdicts = [known.judged.verdict for known in standings]
    return {verdict: verdicts.count(verdict) for verdict in wording.WORST_FIRST}


def row(
    known: Standing,
    findings: Sequence[Finding],
    comparisons: Sequence[Row],
    sampled: Sequence[Row],
    unread_for: Mapping[tuple[str, str], int | None],
    view: View,
) -> dict[str, object]:
    """One pipeline as the overview shows it; of the findings those of COUNTED kinds matter."""
    pipeline, last = known.pipeline, known.last_finding_at_ms
    age_ms = unread_for.get((pipeline.group_id, pipeline.source))
    return {
        "Verdict": wording.LOOKS[known.judged.verdict].text,
        "Pipeline": cut(pipeline.name),
        "Promise": wording.promise(pipeline.promise, pipeline.is_inferred),
        "Grade": known.grade,
        "Lag": known.lag,
        "Behind": None if age_ms is None else age_ms // 1000,
        "Trend": shapes.newest_run(known.trend, view.length_ms),
        "Lost": lost(pipeline, findings, comparisons, view, known.judged.sight.never_compared),
        "Duplicated": duplicated(pipeline, findings, sampled, view, known.judged.sight.never_compared),
        "Last finding": "–" if last is None else wording.since(last, view.to_ms),
        "Because": cut(known.reason, 160),
        "Not known": wording.count(len(known.judged.unknowns)),
    }


def lost(
    pipeline: Pipeline,
    findings: Iterable[Finding],
    comparisons: Sequence[Row],
    view: View,
    missed: Collection[str] = (),
) -> str:
    """Records lost in the window, as an interval; unknown where source and sink are not compared.

    `missed`: topics of which a part was never compared.
    """
    found = [one for one in _in_window(findings, view) if one.kind is Kind.LOST_WRITE and one.pipeline == pipeline.name]
    compared = next((row for row in comparisons if row["pipeline"] == pipeline.name), None)
    if found:
        return _amount(found)
    if compared is None:
        how = "not all compared" if set(pipeline.topics).intersection(missed) else "not compared"
        return "unknown: no sink" if pipeline.sink is None else f"unknown: {how}"
    return wording.amount(0, 0, compared["upper"] or 0)


def duplicated(
    pipeline: Pipeline, findings: Iterable[Finding], sampled: Sequence[Row], view: View, missed: Collection[str] = ()
) -> str:
    """Records stored more than once in its topics in the window; unknown where the ids of one are not sampled.

    `missed`: topics of which a part was never compared.
    """
    found = [one for one in _in_window(findings, view) if one.kind is Kind.DUPLICATE_WRITE and concerns(pipeline, one)]
    topics = set(pipeline.topics)
    rates = {row["topic"]: row["rate"] for row in sampled if row["topic"] in topics}
    if found:
        return _amount(found)
    if missing := sorted(topics - rates.keys()):
        return f"unknown: {cut(missing[0], 30)} {'not all compared' if missing[0] in missed else 'not sampled'}"
    return wording.amount(0, 0, max(map(none_seen_upper, rates.values())))


def _in_window(findings: Iterable[Finding], view: View) -> Iterable[Finding]:
    return (one for one in findings if one.happened_at_ms <= view.to_ms and newest_ms(one) >= view.from_ms)


def _amount(found: Sequence[Finding]) -> str:
    total = added((one.bounds for one in found if one.bounds), Unit.RECORDS)
    return wording.amount(total.lower, total.estimate, total.upper)
