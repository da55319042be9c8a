"""What a pipeline promises, and which facts break which promise: checks state facts, one table judges them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from guarantees.findings import Kind


class Guarantee(StrEnum):
    """What was *promised* for the records of a pipeline."""

    AT_MOST_ONCE = "at_most_once"
    AT_LEAST_ONCE = "at_least_once"
    EXACTLY_ONCE = "exactly_once"


class Verdict(StrEnum):
    """What a fact means for a promise, the worst first."""

    VIOLATED = "violated"
    DEGRADED = "degraded"
    UNKNOWN = "unknown"
    STALE = "stale"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Source topic, the group that reads it, optionally the sink it writes to, and the promise made for it."""

    name: str
    source: str
    group_id: str
    sink: str | None
    promise: Guarantee
    is_inferred: bool = False

    @property
    def topics(self) -> tuple[str, ...]:
        """The source, and the sink where there is another."""
        return (self.source,) if self.sink in (None, self.source) else (self.source, str(self.sink))


def pipeline_of_topic(topic: str, pipelines: Iterable[Pipeline]) -> str | None:
    """The pipeline that writes the topic, else the one that reads it; the first by name where there are several."""
    known = list(pipelines)
    writing = sorted(p.name for p in known if p.sink == topic)
    reading = sorted(p.name for p in known if p.source == topic)
    return next(iter([*writing, *reading]), None)


# (kind, promise) -> what it means; a pair that is absent is information and leaves the promise whole.
JUDGEMENT: Mapping[Kind, Mapping[Guarantee, Verdict]] = {
    Kind.LOST_WRITE: {
        Guarantee.AT_LEAST_ONCE: Verdict.VIOLATED,
        Guarantee.EXACTLY_ONCE: Verdict.VIOLATED,
    },
    Kind.LOG_TRUNCATED: {
        Guarantee.AT_LEAST_ONCE: Verdict.VIOLATED,
        Guarantee.EXACTLY_ONCE: Verdict.VIOLATED,
    },
    # Only records that acks 0 or 1 acknowledged were promised, and nobody outside sees the producers' acks.
    Kind.TAIL_TRUNCATED: {
        Guarantee.AT_LEAST_ONCE: Verdict.DEGRADED,
        Guarantee.EXACTLY_ONCE: Verdict.DEGRADED,
    },
    # The loss itself, if there is one, is a finding of its own.
    Kind.UNCLEAN_ELECTION: {
        Guarantee.AT_LEAST_ONCE: Verdict.DEGRADED,
        Guarantee.EXACTLY_ONCE: Verdict.DEGRADED,
    },
    Kind.COMMIT_IN_TRUNCATED_LOG: {
        Guarantee.AT_LEAST_ONCE: Verdict.DEGRADED,
        Guarantee.EXACTLY_ONCE: Verdict.DEGRADED,
    },
    Kind.COMMIT_OF_OLD_TOPIC: {
        Guarantee.AT_LEAST_ONCE: Verdict.VIOLATED,
        Guarantee.EXACTLY_ONCE: Verdict.VIOLATED,
    },
    Kind.EXPIRED_UNREAD: {
        Guarantee.AT_LEAST_ONCE: Verdict.VIOLATED,
        Guarantee.EXACTLY_ONCE: Verdict.VIOLATED,
    },
    Kind.DUPLICATE_WRITE: {
        Guarantee.AT_MOST_ONCE: Verdict.VIOLATED,
        Guarantee.EXACTLY_ONCE: Verdict.VIOLATED,
    },
    Kind.RESENT_BATCH: {
        Guarantee.AT_MOST_ONCE: Verdict.VIOLATED,
        Guarantee.EXACTLY_ONCE: Verdict.VIOLATED,
    },
    # That records are missing is certain, that they had been acknowledged is not.
    Kind.MISSING_SEQUENCES: {
        Guarantee.AT_LEAST_ONCE: Verdict.DEGRADED,
        Guarantee.EXACTLY_ONCE: Verdict.DEGRADED,
    },
    Kind.TRANSACTION_TIMED_OUT: {
        Guarantee.AT_LEAST_ONCE: Verdict.DEGRADED,
        Guarantee.EXACTLY_ONCE: Verdict.DEGRADED,
    },
    Kind.TORN_TRANSACTION: {Guarantee.EXACTLY_ONCE: Verdict.VIOLATED},
    # One copy of an acknowledged record is not what was acknowledged; who was given which, nobody outside sees.
    Kind.CONFLICTING_OFFSET: {
        Guarantee.AT_LEAST_ONCE: Verdict.DEGRADED,
        Guarantee.EXACTLY_ONCE: Verdict.DEGRADED,
    },
    Kind.SKIPPED_FORWARD: {
        Guarantee.AT_LEAST_ONCE: Verdict.VIOLATED,
        Guarantee.EXACTLY_ONCE: Verdict.VIOLATED,
    },
    Kind.NEW_PARTITION_SKIPPED: {
        Guarantee.AT_LEAST_ONCE: Verdict.VIOLATED,
        Guarantee.EXACTLY_ONCE: Verdict.VIOLATED,
    },
    # Records of aborted transactions may reach it; only one that is seen at the sink breaks the promise.
    Kind.READ_PAST_STABLE_OFFSET: {Guarantee.EXACTLY_ONCE: Verdict.DEGRADED},
    Kind.ABORTED_AT_SINK: {Guarantee.EXACTLY_ONCE: Verdict.VIOLATED},
    # A re-delivery is legal inside Kafka: under exactly once only a duplicate at the sink breaks the promise.
    Kind.REWIND: {
        Guarantee.AT_MOST_ONCE: Verdict.VIOLATED,
        Guarantee.EXACTLY_ONCE: Verdict.DEGRADED,
    },
    Kind.POSSIBLE_REDELIVERY: {
        Guarantee.AT_MOST_ONCE: Verdict.DEGRADED,
        Guarantee.EXACTLY_ONCE: Verdict.DEGRADED,
    },
}

# Liveness: who made any promise is degraded while the fact lasts, from this severity on.
DEGRADED_FROM_SEVERITY: Mapping[Kind, int] = {
    Kind.STABLE_OFFSET_FROZEN: 2,
    Kind.GROUP_STOPPED: 2,
    Kind.GROUP_STALLED: 2,
    Kind.FALLING_BEHIND: 2,
    Kind.BELOW_MIN_ISR: 2,
    Kind.AT_MIN_ISR: 2,
    Kind.COMMITTED_AHEAD: 2,
    Kind.PRODUCER_RECOVERED: 3,
    Kind.ODD_TIMESTAMPS: 3,
    Kind.PRODUCER_FENCED: 3,
    Kind.COMMIT_EXPIRED: 2,
    Kind.COMMIT_PENDING: 2,
    Kind.STALE_SUBSCRIPTION: 2,
}

# Below this severity the fact is information: a member that leaves in order looks like one that crashed, and a
# deployment must not look like an outage. A jump that may also be a fast read, or that an operator made, is shown only.
JUDGED_FROM_SEVERITY: Mapping[Kind, int] = {
    Kind.POSSIBLE_REDELIVERY: 2,
    Kind.MISSING_SEQUENCES: 3,
    Kind.SKIPPED_FORWARD: 4,
    Kind.NEW_PARTITION_SKIPPED: 4,  # below: a group that reads the partition from its start leaves the same trace
}


def judge(kind: Kind, severity: int, promise: Guarantee) -> Verdict:
    """The one place where a fact becomes a judgement."""
    if kind in DEGRADED_FROM_SEVERITY:
        return Verdict.DEGRADED if severity >= DEGRADED_FROM_SEVERITY[kind] else Verdict.OK
    if severity < JUDGED_FROM_SEVERITY.get(kind, 1):
        return Verdict.OK
    return JUDGEMENT.get(kind, {}).get(promise, Verdict.OK)
