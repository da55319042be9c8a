"""conflicting_offset: two contents of one offset, on two replicas or over time (L3; Jepsen's inconsistent-offsets)."""

from collections.abc import Iterable

from guarantees.audited_content import DifferingBatch, DifferingCopy
from guarantees.findings import Evidence, Finding, Grade, Kind, Place, Statement
from guarantees.promises import Pipeline, pipeline_of_topic

SHOWN_BATCHES = 100


def conflict_findings(copies: Iterable[DifferingCopy], pipelines: Iterable[Pipeline]) -> list[Finding]:
    """One finding per partition and copy. It stays until an audit finds the copies equal."""
    known = list(pipelines)
    return [_finding(copy, pipeline_of_topic(copy.topic, known)) for copy in copies]


def _finding(copy: DifferingCopy, pipeline: str | None) -> Finding:
    where, number = f"{copy.topic}-{copy.partition}", _number(copy)
    return Finding(
        kind=Kind.CONFLICTING_OFFSET,
        place=Place(copy.cluster_id, copy.topic, copy.topic_id, copy.partition),
        anchor=_anchor(copy),
        severity=4,
        title=f"{number} of {where} with another content {_than(copy)}",
        statements=_statements(copy, where),
        bounds=None,
        evidence=_evidence(copy),
        happened_at_ms=copy.written_from_ms,
        last_seen_at_ms=copy.decided_at_ms,
        pipeline=pipeline,
    )


def _anchor(copy: DifferingCopy) -> str:
    return "as read earlier" if copy.replica is None else f"replica {copy.replica}"


def _than(copy: DifferingCopy) -> str:
    return "than when they were read earlier" if copy.replica is None else f"on replica {copy.replica}"


def _number(copy: DifferingCopy) -> str:
    return _batches(len(copy.batches)) if copy.is_all else f"At least {_batches(len(copy.batches))}"


def _batches(number: int) -> str:
    return "1 batch" if number == 1 else f"{number:,} batches"


def _statements(copy: DifferingCopy, where: str) -> tuple[Statement, ...]:
    first, last = copy.batches[0].base_offset, copy.batches[-1].base_offset
    number = _number(copy)
    place = f"at the offset {first:,}" if first == last else f"at the offsets {first:,} to {last:,}"
    differ = (
        f"{where} has {number[0].lower()}{number[1:]}, {place}, with one CRC on the leader and another "
        f"{_than(copy).removeprefix('than ')}. Each was checked against its bytes: two contents of the same offsets."
    )
    found = [Statement(Grade.PROVEN, differ)]
    rewritten = [each for each in copy.batches if each.leader_epoch != each.copy_leader_epoch]
    if rewritten:
        again = (
            f"Leader epochs differ on {_batches(len(rewritten))}: written under two leaders, as after an election that "
            "cut the log."
        )
        found.append(Statement(Grade.PROVEN, again))
    if len(rewritten) < len(copy.batches):
        changed = (
            f"Leader epochs are equal on {_batches(len(copy.batches) - len(rewritten))}: one of the two contents is "
            "not what that leader wrote."
        )
        found.append(Statement(Grade.PROVEN, changed))
    unseen = "Which of the two was acknowledged, and who read which, cannot be known from outside."
    return (*found, Statement(Grade.NOT_OBSERVABLE, unseen))


def _evidence(copy: DifferingCopy) -> Evidence:
    return {
        "replica": copy.replica,
        "first_offset": copy.batches[0].base_offset,
        "last_offset": copy.batches[-1].base_offset,
        "differing_batches": len(copy.batches),
        "is_all": copy.is_all,
        "batches": [_batch(each) for each in copy.batches[:SHOWN_BATCHES]],
        "audited": [list(window) for window in copy.audited],
    }


def _batch(each: DifferingBatch) -> Evidence:
    return {
        "base_offset": each.base_offset,
        "leader_epoch": each.leader_epoch,
        "crc": each.crc,
        "copy_leader_epoch": each.copy_leader_epoch,
        "copy_crc": each.copy_crc,
    }
