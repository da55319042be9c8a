"""An explanation as lines for people and as JSON for scripts."""

from collections.abc import Iterator, Mapping

from cli.findings import cause_as_json, utc
from dashboard import wording
from dashboard.explained import NOT_OBSERVABLE, Explanation, Touching
from dashboard.names import visible
from guarantees.causes import NOT_OBSERVED
from guarantees.findings import Finding
from guarantees.incidents import Incident
from guarantees.inference import Reason
from guarantees.links import Cause
from guarantees.promise_audit import Requirement
from guarantees.promises import Verdict
from guarantees.unknown import Unknown
from guarantees.verdicts import PipelineVerdict

MET = {True: "met", False: "missing", None: "unknown"}


def as_text(found: Explanation) -> list[str]:
    """What a person reads, from the promise down to what nobody can know; names cannot re-order the terminal."""
    parts = (_promise, _verdict, _requirements, _findings, _incidents, _not_observable)
    return [visible(line) for part in parts for line in part(found)]


def as_json(found: Explanation) -> Mapping[str, object]:
    """The same for a script; unknown values are null with their reason beside them."""
    pipeline, judged = found.pipeline, found.judged
    return {
        "pipeline": pipeline.name,
        "source": pipeline.source,
        "group_id": pipeline.group_id,
        "sink": pipeline.sink,
        "promise": pipeline.promise,
        "is_inferred": pipeline.is_inferred,
        "reasons": [{"fact": r.fact, "source": r.source, "speaks_for": r.speaks_for} for r in _reasons(found)],
        "unseen": list(found.needs.inference.unseen) if found.needs.inference else [],
        "verdict": judged.verdict,
        "grade": judged.findings[0].grade if judged.findings else None,
        "is_stale": judged.is_stale,
        "unknowns": [unknown.reason for unknown in judged.unknowns],
        "rests_on": _rests_on(judged),
        "requirements": [_requirement(one) for one in found.needs.requirements],
        "open_findings": [_finding(found, one) for one in found.open_findings],
        "incidents": [_incident(found, one) for one in found.incidents],
        "not_observable": list(NOT_OBSERVABLE),
    }


def _promise(found: Explanation) -> Iterator[str]:
    pipeline = found.pipeline
    way = " → ".join(filter(None, (pipeline.source, pipeline.group_id, pipeline.sink)))
    yield f"{pipeline.name}: {way}"
    yield f"promise: {wording.promise(pipeline.promise, pipeline.is_inferred)}"
    for reason in _reasons(found):
        yield f"  {reason.fact} [{reason.source}; fits {wording.PROMISES[reason.speaks_for]}]"
    for sentence in found.needs.inference.unseen if found.needs.inference else ():
        yield f"  ? {sentence}"


def _verdict(found: Explanation) -> Iterator[str]:
    judged, rounds = found.judged, found.judged.sight.rounds
    grade = f" ({judged.findings[0].grade})" if judged.findings else ""
    yield f"verdict over the last 24 h: {judged.verdict}{grade}"
    for finding in judged.findings[:5]:
        yield f"  {finding.title} [{finding.finding_id}]"
    yield f"  rests on {wording.rounds(rounds)}"
    newest = judged.sight.newest_evidence_at_ms
    yield f"  newest evidence: {'none' if newest is None else utc(newest)}"
    for unknown in judged.unknowns:
        yield f"  ? {unknown.reason}"


def _requirements(found: Explanation) -> Iterator[str]:
    counts = {word: sum(MET[one.met] == word for one in found.needs.requirements) for word in MET.values()}
    yield "what the promise needs: " + ", ".join(f"{number} {word}" for word, number in counts.items())
    for one in found.needs.requirements:
        seen = f"unknown: {one.seen.reason}" if isinstance(one.seen, Unknown) else one.seen
        consequence = "" if one.met else f" ({one.consequence})"
        yield f"  {MET[one.met]:8}{one.name}: needed {one.needed}; seen {seen}{consequence}"


def _findings(found: Explanation) -> Iterator[str]:
    yield f"open findings: {len(found.open_findings) or 'none'}"
    for one in found.open_findings:
        finding = one.finding
        yield f"  {_means(one)} ({finding.grade}): {finding.title} [{finding.finding_id}]"
        for cause in one.causes[:2]:
            yield f"    cause: {_why(cause)}"
        if not one.causes:
            yield f"    {NOT_OBSERVED}{_missed(found, finding)}"


def _incidents(found: Explanation) -> Iterator[str]:
    """Those of more than one finding; a single one has been told already."""
    together = [one for one in found.incidents if len(one.findings) > 1]
    if together:
        yield "incidents of the last 24 h:"
    for one in together:
        yield f"  {one.state}, severity {one.severity}: {one.title} [{one.incident_id}]"
        for sentence in _sentences(found, one):
            yield f"    {sentence}"


def _not_observable(found: Explanation) -> Iterator[str]:
    yield "not observable from outside, whatever the rights:"
    for what in NOT_OBSERVABLE:
        yield f"  {what}"


def _reasons(found: Explanation) -> tuple[Reason, ...]:
    return found.needs.inference.reasons if found.needs.inference else ()


def _means(one: Touching) -> str:
    return "breaks no promise, shown only" if one.means is Verdict.OK else str(one.means)


def _why(cause: Cause) -> str:
    assumed = f", assuming that {cause.statement.assumption}" if cause.statement.assumption else ""
    return f"{cause.statement.text} ({cause.statement.grade}{assumed})"


def _missed(found: Explanation, finding: Finding) -> str:
    missed = found.missed.get(finding.finding_id)
    return f"; whether a rebalance caused it: {missed.reason}" if missed else ""


def _sentences(found: Explanation, incident: Incident) -> list[str]:
    told = zip(incident.findings, incident.sentences, strict=True)
    return [f"{sentence.removesuffix('.')}{_missed(found, finding)}." for finding, sentence in told]


def _rests_on(judged: PipelineVerdict) -> Mapping[str, object]:
    rounds, newest = judged.sight.rounds, judged.sight.newest_evidence_at_ms
    return {
        "from": utc(rounds.from_ms),
        "to": utc(rounds.to_ms),
        "rounds_expected": rounds.expected,
        "rounds_present": rounds.present,
        "first_round_at": None if rounds.first_ms is None else utc(rounds.first_ms),
        "longest_gap_s": None if rounds.longest_gap_ms is None else rounds.longest_gap_ms / 1000,
        "newest_evidence_at": None if newest is None else utc(newest),
        "coverage": [
            {"signal": c.signal, "asked": c.asked, "answered": c.answered, "refused": c.refused, "error": c.error}
            for c in judged.sight.coverage
        ],
        "sampled_topics": sorted(judged.sight.sampled_topics),
    }


def _requirement(one: Requirement) -> Mapping[str, object]:
    seen, unknown = (None, one.seen.reason) if isinstance(one.seen, Unknown) else (one.seen, None)
    return {
        "name": one.name,
        "needed": one.needed,
        "seen": seen,
        "seen_unknown": unknown,
        "met": one.met,
        "consequence": one.consequence,
    }


def _finding(found: Explanation, one: Touching) -> Mapping[str, object]:
    finding, missed = one.finding, found.missed.get(one.finding.finding_id)
    return {
        "id": finding.finding_id,
        "kind": finding.kind,
        "title": finding.title,
        "grade": finding.grade,
        "severity": finding.severity,
        "means": one.means,
        "causes": [cause_as_json(cause) for cause in one.causes],
        "rebalances_unknown": missed and missed.reason,
    }


def _incident(found: Explanation, one: Incident) -> Mapping[str, object]:
    return {
        "id": one.incident_id,
        "title": one.title,
        "state": one.state,
        "severity": one.severity,
        "from": utc(one.from_ms),
        "to": None if one.to_ms is None else utc(one.to_ms),
        "findings": [finding.finding_id for finding in one.findings],
        "sentences": _sentences(found, one),
    }
