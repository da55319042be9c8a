"""duplicate_write: one message id stored at more than one offset (P1-P4), with how the later copies came to be."""

from collections.abc import Iterable, Mapping

from guarantees.audits import DuplicateCause, DuplicateExample, DuplicateGroup, StoredCopy
from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Place, Statement
from guarantees.promises import Pipeline, pipeline_of_topic

UNIQUE_IDS = "message ids are unique by the producer's design"

CAUSES: Mapping[DuplicateCause, str] = {
    DuplicateCause.OTHER_PRODUCER_ID: "by another producer id: a restart without a transactional id, a second writer, "
    "or an upstream replay, none of which the broker can recognise",
    DuplicateCause.OTHER_EPOCH: "by the same producer id under a higher epoch: the client recovered from an error and "
    "sent again",
    DuplicateCause.OTHER_TRANSACTION: "by the same producer in another transaction: the application sent it again",
    DuplicateCause.SENT_TWICE: "by the same producer under another sequence number: the application sent it twice",
    DuplicateCause.SAME_SEQUENCE: "under the same producer id, epoch and sequence number: the leader had lost the "
    "producer's state and wrote a late retry again",
    DuplicateCause.NOT_IDEMPOTENT: "by a producer that is not idempotent: a retried batch, or the application",
}


def duplicate_findings(groups: Iterable[DuplicateGroup], pipelines: Iterable[Pipeline], now_ms: int) -> list[Finding]:
    """One finding per partition, cause and producer of the later copies.

    A repeated (producer id, epoch, sequence) is PROVEN: a correct broker never writes it. Every other cause rests on
    the ids being unique. A duplicate does not go away; the finding closes when none was added for the horizon.
    """
    known = list(pipelines)
    return [_finding(group, pipeline_of_topic(group.topic, known), now_ms) for group in groups]


def _finding(group: DuplicateGroup, pipeline: str | None, now_ms: int) -> Finding:
    is_settled = now_ms - group.last_observed_at_ms > group.horizon_s * 1000
    where = f"{group.topic}-{group.partition}"
    return Finding(
        kind=Kind.DUPLICATE_WRITE,
        place=Place(group.cluster_id, group.topic, group.topic_id, group.partition),
        anchor=_anchor(group),
        severity=4 if group.cause is DuplicateCause.SAME_SEQUENCE else 3,
        title=f"{in_words(group.extra_copies)} duplicates on {where}, {_producer(group)}",
        statements=_statements(group, where),
        bounds=group.extra_copies,
        evidence=_evidence(group),
        happened_at_ms=group.first_observed_at_ms,
        last_seen_at_ms=group.last_observed_at_ms,
        pipeline=pipeline,
        closed_reason=f"settled: no further copy for {group.horizon_s:.0f} s" if is_settled else None,
    )


def _anchor(group: DuplicateGroup) -> str:
    if group.producer_id is None:
        return f"{group.cause}, first offset {group.first_offset}"
    return f"{group.cause}, producer {group.producer_id}, epoch {group.producer_epoch}"


def _producer(group: DuplicateGroup) -> str:
    if group.producer_id is None:
        return "producer not idempotent"
    return f"later copies by producer {group.producer_id}, epoch {group.producer_epoch}"


def _statements(group: DuplicateGroup, where: str) -> tuple[Statement, ...]:
    stored = f"{in_words(group.extra_copies)} records of {where} were stored again {CAUSES[group.cause]}."
    counted = f"Copies more than {group.horizon_s:.0f} s apart were not sought."
    if group.sampling_rate < 1:
        counted += f" Counted on a share of {group.sampling_rate:.4g} of the message ids and scaled."
    headline = (
        Statement(Grade.PROVEN, stored)
        if group.cause is DuplicateCause.SAME_SEQUENCE
        else Statement(Grade.PROBABLE, stored, UNIQUE_IDS)
    )
    return (headline, Statement(Grade.PROVEN, counted), *compared_exactly(group.audited))


def compared_exactly(audited: Iterable[tuple[int, int]]) -> tuple[Statement, ...]:
    """Where an exact audit counted, in one statement; none where there was none."""
    windows = [f"{first:,} to {following - 1:,}" for first, following in audited]
    if not windows:
        return ()
    return (Statement(Grade.PROVEN, f"Every message id of the offsets {', '.join(windows)} was compared exactly."),)


def in_words(bounds: Bounds) -> str:
    """A count as it is known: exact, an estimate with its interval, or an interval."""
    upper = "more" if bounds.upper is None else f"{bounds.upper:,}"
    if bounds.lower == bounds.upper:
        return f"{bounds.lower:,}"
    if bounds.estimate is None:
        return f"{bounds.lower:,} to {upper}"
    return f"about {bounds.estimate:,} ({bounds.lower:,} to {upper})"


def _evidence(group: DuplicateGroup) -> Evidence:
    return {
        "cause": str(group.cause),
        "producer_id": group.producer_id,
        "producer_epoch": group.producer_epoch,
        "first_producer_ids": list(group.first_producer_ids),
        "first_offset": group.first_offset,
        "last_offset": group.last_offset,
        "sampling_rate": group.sampling_rate,
        "horizon_s": group.horizon_s,
        "examples": [_example(example) for example in group.examples],
        **({"audited": [list(window) for window in group.audited]} if group.audited else {}),
    }


def _example(example: DuplicateExample) -> Evidence:
    return {"message_id": example.message_id, "first": _copy(example.first), "last": _copy(example.last)}


def _copy(copy: StoredCopy) -> Evidence:
    return {
        "partition": copy.partition,
        "offset": copy.offset,
        "producer_id": copy.producer_id,
        "producer_epoch": copy.producer_epoch,
        "sequence": copy.sequence,
        "timestamp_ms": copy.timestamp_ms,
    }
