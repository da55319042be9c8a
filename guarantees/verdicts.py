"""Does a pipeline keep its promise? The worst that is known, and beside it everything that is not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from guarantees.completeness import RoundsSeen, gaps, too_few
from guarantees.findings import Finding, FindingState, Kind
from guarantees.observations import Coverage, Signal
from guarantees.promises import Guarantee, Pipeline, Verdict, judge
from guarantees.unknown import Unknown

# Facts about one group on one partition: they concern the pipeline whose group and source they name.
OF_GROUP = frozenset(
    {
        Kind.REWIND,
        Kind.POSSIBLE_REDELIVERY,
        Kind.GROUP_STOPPED,
        Kind.GROUP_STALLED,
        Kind.FALLING_BEHIND,
        Kind.EXPIRED_UNREAD,
        Kind.COMMITTED_AHEAD,
        Kind.COMMIT_IN_TRUNCATED_LOG,
        Kind.COMMIT_OF_OLD_TOPIC,
        Kind.WRONG_COMMIT_EPOCH,
        Kind.LOST_WRITE,
        Kind.SKIPPED_FORWARD,
        Kind.COMMIT_EXPIRED,
        Kind.NEW_PARTITION_SKIPPED,
        Kind.STALE_SUBSCRIPTION,
        Kind.COMMIT_PENDING,
        Kind.READ_PAST_STABLE_OFFSET,
        Kind.ABORTED_AT_SINK,
    }
)
# Facts about a topic: they concern who reads it (source) and who writes it (sink). A duplicate in the source is handed
# on, a cut or a missing replica endangers what is stored, a frozen stable offset halts the readers of either.
OF_TOPIC = frozenset(
    {
        Kind.DUPLICATE_WRITE,
        Kind.OUT_OF_ORDER,
        Kind.CONFLICTING_OFFSET,
        Kind.LOG_TRUNCATED,
        Kind.TAIL_TRUNCATED,
        Kind.UNCLEAN_ELECTION,
        Kind.BELOW_MIN_ISR,
        Kind.AT_MIN_ISR,
        Kind.MIN_ISR_ABOVE_REPLICAS,
        Kind.TOPIC_RECREATED,
        Kind.PARTITIONS_ADDED,
        Kind.STABLE_OFFSET_FROZEN,
        Kind.RESENT_BATCH,
        Kind.MISSING_SEQUENCES,
        Kind.SEQUENCE_GAP,
        Kind.PRODUCER_RECOVERED,
        Kind.ODD_TIMESTAMPS,
        Kind.PRODUCER_FENCED,
        Kind.UNFENCED_RESTART,
        Kind.TRANSACTION_TIMED_OUT,
        Kind.TORN_TRANSACTION,
    }
)

# Without these no statement about a group's delivery can be made; the others add detail.
ESSENTIAL = frozenset(
    {Signal.LOG_START, Signal.COMMITTED_OFFSETS, Signal.END_OFFSETS, Signal.PARTITION_STATES, Signal.GROUPS}
)
# They tell about the cluster and about groups that are no pipelines, or what samples tell a round later: a promise
# neither rests on them nor lacks them.
OF_NO_PIPELINE = frozenset(
    {
        Signal.SHARE_OFFSETS,
        Signal.LOG_DIRS,
        Signal.QUORUM,
        Signal.FEATURES,
        Signal.GROUP_LOG,
        Signal.TRANSACTION_LOG,
    }
)
STALE_AFTER_INTERVALS = 2


@dataclass(frozen=True, slots=True)
class Sight:
    """How well a pipeline was seen in a window.

    `newest_evidence_at_ms` is the newest sample that concerns it, None where there is none; `coverage` that of the
    newest round, as far as it concerns the pipeline; `sampled_topics` have message ids sampled in the window; `rounds`
    are those of the window; `never_compared` says of topics that are not among the sampled what of them hides a copy;
    `not_kept`: that what was sampled then is not kept any more.
    """

    newest_evidence_at_ms: int | None
    interval_s: float
    coverage: tuple[Coverage, ...]
    sampled_topics: frozenset[str]
    rounds: RoundsSeen
    never_compared: Mapping[str, str] = field(default_factory=dict)
    not_kept: Unknown | None = None

    def unsampled(self, topic: str) -> str:
        """Why a topic tells nothing of its ids."""
        return self.never_compared.get(topic) or f"no message ids of {topic} were sampled"


@dataclass(frozen=True, slots=True)
class PipelineVerdict:
    """`findings` and `sight` are what the verdict rests on, findings the worst first; `unknowns` what is missing."""

    pipeline: Pipeline
    verdict: Verdict
    findings: tuple[Finding, ...]
    unknowns: tuple[Unknown, ...]
    is_stale: bool
    sight: Sight


def pipeline_verdict(
    pipeline: Pipeline, findings: Iterable[Finding], sight: Sight, *, now_ms: int, window_from_ms: int
) -> PipelineVerdict:
    """The worst known verdict; never OK over a gap in what was observed.

    Findings are those of the pipeline's cluster. An open one counts; a closed one counts where it violated the promise
    within the window: that it is over does not undo it.
    """
    judged = [(judged_as(pipeline, finding, window_from_ms), finding) for finding in findings]
    bad = [(verdict, finding) for verdict, finding in judged if verdict is not Verdict.OK]
    unseen, detail = _missing_of_rounds(sight.coverage, sight.rounds)
    blind = _blind_spots(pipeline, sight, unseen)
    is_stale = _is_stale(sight, now_ms)
    known = [verdict for verdict, _ in bad]
    states = [*known, *([Verdict.UNKNOWN] if blind else []), *([Verdict.STALE] if is_stale else []), Verdict.OK]
    return PipelineVerdict(
        pipeline=pipeline,
        verdict=min(states, key=_RANK.index),
        findings=tuple(f for _, f in sorted(bad, key=lambda pair: (_RANK.index(pair[0]), -pair[1].severity))),
        unknowns=(*blind, *detail),
        is_stale=is_stale,
        sight=sight,
    )


def judged_as(pipeline: Pipeline, finding: Finding, window_from_ms: int) -> Verdict:
    """What one finding means for one pipeline now; OK where it does not concern it or is over."""
    if not concerns(pipeline, finding):
        return Verdict.OK
    verdict = judge(finding.kind, finding.severity, pipeline.promise)
    if finding.state is FindingState.OPEN:
        return verdict
    is_late = finding.kind is Kind.LOST_WRITE  # closes only as explained: nothing was lost
    is_past = finding.last_seen_at_ms < window_from_ms
    return Verdict.OK if is_late or is_past or verdict is not Verdict.VIOLATED else verdict


def concerns(pipeline: Pipeline, finding: Finding) -> bool:
    """By group and source, or by topic: see OF_GROUP and OF_TOPIC."""
    if finding.kind in OF_GROUP:
        return finding.place.group_id == pipeline.group_id and finding.place.topic == pipeline.source
    return finding.kind in OF_TOPIC and finding.place.topic in pipeline.topics


_RANK: Sequence[Verdict] = tuple(Verdict)


def _is_stale(sight: Sight, now_ms: int) -> bool:
    if sight.newest_evidence_at_ms is None:
        return False
    return now_ms - sight.newest_evidence_at_ms > STALE_AFTER_INTERVALS * sight.interval_s * 1000


def _blind_spots(pipeline: Pipeline, sight: Sight, unseen: Iterable[Unknown]) -> list[Unknown]:
    """What keeps the promise from being called kept; `unseen` are the essentials that are missing."""
    if sight.newest_evidence_at_ms is None:
        return [sight.not_kept or Unknown("nothing was observed yet")]
    return [*unseen, *_unseen_records(pipeline, sight)]


@lru_cache(maxsize=64)  # thousands of pipelines share a round: looking it up takes most of the time of their verdicts
def _missing_of_rounds(
    coverage: Sequence[Coverage], rounds: RoundsSeen
) -> tuple[tuple[Unknown, ...], tuple[Unknown, ...]]:
    """What is missing of what a promise rests on, and of what adds detail to it."""
    essential = [c for c in coverage if c.signal in ESSENTIAL]
    missing = sorted(ESSENTIAL - {Signal(c.signal) for c in essential})
    asked = [Unknown(f"{signal} was not asked for") for signal in missing]
    detail = (*gaps(rounds), *_incomplete(c for c in coverage if c.signal not in ESSENTIAL))
    return (*asked, *_incomplete(essential), *too_few(rounds)), detail


def _incomplete(coverage: Iterable[Coverage]) -> list[Unknown]:
    return [Unknown(_gap(c)) for c in coverage if not c.is_complete]


def _gap(coverage: Coverage) -> str:
    counts = f"{coverage.answered} of {coverage.asked} values answered"
    refused = f", {coverage.refused} not permitted" if coverage.refused else ""
    error = f": {coverage.error}" if coverage.error is not None else ""
    return f"{coverage.signal}: {counts}{refused}{error}"


def _unseen_records(pipeline: Pipeline, sight: Sight) -> list[Unknown]:
    """Duplicates need sampled ids where records end up; losses need them on both sides."""
    found = []
    end = pipeline.source if pipeline.sink is None else pipeline.sink
    if pipeline.promise is not Guarantee.AT_LEAST_ONCE and end not in sight.sampled_topics:
        found.append(Unknown(f"duplicates: {sight.unsampled(end)}"))
    if pipeline.promise is not Guarantee.AT_MOST_ONCE:
        found += _unseen_losses(pipeline, sight)
    return found


def _unseen_losses(pipeline: Pipeline, sight: Sight) -> list[Unknown]:
    if pipeline.sink is None:
        return [Unknown("losses: without a sink, what the group did with a record is not observable")]
    unseen = (topic for topic in pipeline.topics if topic not in sight.sampled_topics)
    return [Unknown(f"losses: {sight.unsampled(topic)}") for topic in unseen]
