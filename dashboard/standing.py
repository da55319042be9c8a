"""Where each pipeline stands, worst first, and the sentence that says whether delivery is safe."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from dashboard import wording
from guarantees.cadence import rounds_apart
from guarantees.completeness import RoundsSeen
from guarantees.observations import Coverage, Signal
from guarantees.promises import Pipeline, Verdict
from guarantees.unknown import Unknown
from guarantees.verdicts import OF_NO_PIPELINE, PipelineVerdict, Sight
from store.coverage import coverage as coverage_of

Row = Mapping[str, Any]
NO_ROUND = {
    "present": 0, "first_ms": None, "last_ms": None, "longest_gap_ms": None, "gap_from_ms": None, "asked": None
}  # fmt: skip
OF_PARTITIONS = frozenset({Signal.LOG_START, Signal.COMMITTED_OFFSETS, Signal.END_OFFSETS})


@dataclass(frozen=True, slots=True)
class Standing:
    """A pipeline's verdict with its lag; `lag` None: unknown, with the reason."""

    judged: PipelineVerdict
    lag: int | None
    lag_unknown: str | None
    trend: tuple[int | None, ...]

    @property
    def pipeline(self) -> Pipeline:
        return self.judged.pipeline

    @property
    def grade(self) -> str:
        """That of the worst finding; a verdict without a finding has none."""
        return str(self.judged.findings[0].grade) if self.judged.findings else "–"

    @property
    def reason(self) -> str:
        """What the verdict rests on, in one sentence."""
        if self.judged.findings:
            return self.judged.findings[0].title
        if self.judged.unknowns and self.judged.verdict is not Verdict.OK:
            return self.judged.unknowns[0].reason
        return "nothing the promise forbids was seen" if self.judged.verdict is Verdict.OK else ""

    @property
    def last_finding_at_ms(self) -> int | None:
        return max((finding.last_seen_at_ms for finding in self.judged.findings), default=None)


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest round of a cluster: when the oldest of its essential signals arrived, and what each signal covered.

    `not_kept`: that its samples are not kept any more.
    """

    observed_at_ms: int | None
    coverage: tuple[Coverage, ...]
    is_complete: bool
    not_kept: Unknown | None = None


def newest(coverage: Sequence[Row], observed_at_ms: int | None, not_kept: Unknown | None = None) -> Newest:
    """Said once for all pipelines."""
    covered = tuple(_covered(row) for row in coverage if row["signal"] not in OF_NO_PIPELINE)
    return Newest(observed_at_ms, covered, all(one.is_complete for one in covered), not_kept)


def sight(
    pipeline: Pipeline,
    newest: Newest,
    group_lag: Sequence[Row],
    states: Sequence[Row],
    sampled_topics: frozenset[str],
    rounds: RoundsSeen,
    never_compared: Mapping[str, str] = MappingProxyType({}),
) -> Sight:
    """How well a pipeline was seen in the newest round: what failed for others does not dim it."""
    own = [row for row in group_lag if row["group_id"] == pipeline.group_id and row["topic"] == pipeline.source]
    return Sight(
        newest_evidence_at_ms=newest.observed_at_ms if own else None,
        interval_s=rounds.interval_ms / 1000,
        coverage=newest.coverage
        if newest.is_complete
        else tuple(_narrowed(one, pipeline, own, states) for one in newest.coverage),
        sampled_topics=sampled_topics,
        rounds=rounds,
        never_compared={topic: never_compared[topic] for topic in pipeline.topics if topic in never_compared},
        not_kept=newest.not_kept,
    )


def by_place(group_lag: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """Lag by group and topic."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in group_lag:
        found.setdefault((row["group_id"], row["topic"]), []).append(row)
    return found


def by_group(states: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in states:
        found.setdefault(row["group_id"], []).append(row)
    return found


def rounds_seen(
    rows: Sequence[Row], from_ms: int, to_ms: int, interval_ms: int, signal: Signal = Signal.END_OFFSETS
) -> RoundsSeen:
    """The answer to ROUNDS_SEEN about a signal; no row where no round was ever stored."""
    row = dict(rows[0]) if rows else dict(NO_ROUND)
    every_ms = interval_ms * rounds_apart(signal, row.pop("asked") or 0)
    return RoundsSeen(from_ms=from_ms, to_ms=to_ms, interval_ms=every_ms, **row)


def standing(judged: PipelineVerdict, group_lag: Sequence[Row], trends: Mapping[str, Sequence[int | None]]) -> Standing:
    pipeline = judged.pipeline
    own = [row for row in group_lag if row["group_id"] == pipeline.group_id and row["topic"] == pipeline.source]
    row = own[0] if own else None
    is_whole, gone = row is not None and not row["unknown"], judged.sight.not_kept
    return Standing(
        judged=judged,
        lag=row["lag"] if row is not None and is_whole else None,
        lag_unknown=row["unknown_reason"] if row else gone.reason if gone else "no commit was seen",
        trend=tuple(trends.get(pipeline.group_id, ())),
    )


def worst_first(standings: Iterable[Standing]) -> list[Standing]:
    return sorted(
        standings,
        key=lambda known: (wording.WORST_FIRST.index(known.judged.verdict), -(known.lag or 0), known.pipeline.name),
    )


def headline(standings: Sequence[Standing]) -> tuple[Verdict, str]:
    """The worst that is known, and how many pipelines cannot be judged: never green over gaps, or over nothing."""
    if not standings:
        return Verdict.UNKNOWN, "Nothing can be judged: no pipeline is known."
    counts = {verdict: sum(known.judged.verdict is verdict for known in standings) for verdict in Verdict}
    total = wording.plural(len(standings), "pipeline")
    open_ends = counts[Verdict.UNKNOWN] + counts[Verdict.STALE]
    tail = f" {_cannot(open_ends)}" if open_ends else ""
    if counts[Verdict.VIOLATED]:
        return Verdict.VIOLATED, f"Delivery is not safe: {counts[Verdict.VIOLATED]} of {total} broke the promise.{tail}"
    if counts[Verdict.DEGRADED]:
        return Verdict.DEGRADED, f"Delivery is at risk: {counts[Verdict.DEGRADED]} of {total} lost its margin.{tail}"
    if counts[Verdict.STALE]:
        return Verdict.STALE, f"No fresh answer for {counts[Verdict.STALE]} of {total}: nothing was observed lately."
    if counts[Verdict.UNKNOWN]:
        kept = f" {counts[Verdict.OK]} of {total} kept the promise." if counts[Verdict.OK] else ""
        return Verdict.UNKNOWN, f"Nothing bad was seen, but {_cannot(open_ends)}{kept}"
    return Verdict.OK, f"Delivery is safe as far as it was observed: {total} kept the promise."


def _cannot(number: int) -> str:
    return f"{wording.plural(number, 'pipeline')} cannot be judged in full."


def _covered(row: Row) -> Coverage:
    return coverage_of(row, row["observed_at_ms"], row["observed_at_ms"])


def _narrowed(whole: Coverage, pipeline: Pipeline, own: Sequence[Row], states: Sequence[Row]) -> Coverage:
    """A signal that was incomplete for the cluster, as far as it concerns the pipeline."""
    if whole.is_complete:
        return whole
    if whole.signal in OF_PARTITIONS:
        asked, unknown = sum(row["partitions"] for row in own), sum(row["unknown"] for row in own)
        return _of(whole, asked, unknown, next((row["unknown_reason"] for row in own if row["unknown"]), None))
    if whole.signal == Signal.GROUPS:
        mine = [row for row in states if row["group_id"] == pipeline.group_id and row["ended_before_ms"] is None]
        reason = mine[-1]["state_unknown"] if mine else whole.error
        return _of(whole, 1, 0 if mine and mine[-1]["state"] is not None else 1, reason)
    return whole


def _of(whole: Coverage, asked: int, unknown: int, reason: str | None) -> Coverage:
    is_refused = bool(reason) and str(reason).startswith("not permitted")
    return Coverage(
        signal=whole.signal,
        asked=asked,
        answered=asked - unknown,
        refused=unknown if is_refused else 0,
        failed=0 if is_refused else unknown,
        error=reason if unknown else None,
        started_at_ms=whole.started_at_ms,
        ended_at_ms=whole.ended_at_ms,
    )
