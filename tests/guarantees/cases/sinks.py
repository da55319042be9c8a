"""What a pipeline wrote, as the source offsets it wrote for: repeats and gaps, counted as the record jobs do."""

from collections.abc import Iterable, Sequence

from guarantees.audits import DuplicateCause, DuplicateExample, DuplicateGroup, LossAudit, LostId, StoredCopy
from guarantees.findings import Bounds, Finding, Unit
from guarantees.promises import Guarantee, Pipeline
from guarantees.rules.duplicates import duplicate_findings
from guarantees.rules.losses import loss_episodes, loss_findings
from tests.guarantees.builders import CLUSTER, GROUP, TOPIC, TOPIC_ID, at

SINK = "invoices"


def pipeline(promise: Guarantee) -> Pipeline:
    return Pipeline("billing", TOPIC, GROUP, SINK, promise)


def exact(count: int) -> Bounds:
    return Bounds(count, count, count, Unit.MESSAGE_IDS)


def duplicates(source_offsets: Sequence[int], promise: Guarantee = Guarantee.AT_LEAST_ONCE) -> list[Finding]:
    """Findings for a sink whose records carry these source offsets as ids, in order, by two producers in turn."""
    places: dict[int, list[int]] = {}
    for sink_offset, source_offset in enumerate(source_offsets):
        places.setdefault(source_offset, []).append(sink_offset)
    repeated = {source_offset: found for source_offset, found in places.items() if len(found) > 1}
    if not repeated:
        return []
    extra = [sink_offset for found in repeated.values() for sink_offset in found[1:]]
    group = DuplicateGroup(
        cluster_id=CLUSTER,
        topic=SINK,
        topic_id="sink-id",
        partition=0,
        cause=DuplicateCause.OTHER_PRODUCER_ID,
        producer_id=8,
        producer_epoch=0,
        first_producer_ids=(7,),
        extra_copies=exact(len(extra)),
        sampling_rate=1.0,
        horizon_s=600.0,
        first_offset=min(extra),
        last_offset=max(extra),
        first_observed_at_ms=at(0),
        last_observed_at_ms=at(1),
        examples=tuple(
            DuplicateExample(str(source_offset), _copy(found[0], 7), _copy(found[-1], 8))
            for source_offset, found in sorted(repeated.items())
        ),
    )
    return duplicate_findings([group], [pipeline(promise)], at(1))


def losses(source_offsets: Iterable[int], *, committed: int, sunk: Iterable[int]) -> list[Finding]:
    """Findings for source records below the commit whose ids the sink does not show after the settle delay."""
    missing = sorted({offset for offset in source_offsets if offset < committed} - set(sunk))
    audit = LossAudit(
        pipeline="billing",
        cluster_id=CLUSTER,
        topic=TOPIC,
        topic_id=TOPIC_ID,
        group_id=GROUP,
        sink=SINK,
        settle_s=10.0,
        is_one_to_one=False,
        sink_read_to=((0, len(set(sunk))),),
    )
    lost = [LostId(str(offset), offset, at(0), at(1), False, at(600), at(600)) for offset in missing]
    return loss_findings(loss_episodes(audit, {0: lost}, lambda ids: exact(len(ids))))


def repeated_ids(finding: Finding) -> list[int]:
    return [int(example["message_id"]) for example in finding.evidence["examples"]]


def _copy(offset: int, producer_id: int) -> StoredCopy:
    return StoredCopy(0, offset, producer_id, 0, offset, at(0))
