"""What exact audits found of the content of batches: the input of the rule of conflicting offsets."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DifferingBatch:
    """A batch that begins at the same offset on the leader and on a copy, with two CRCs, both checked."""

    base_offset: int
    leader_epoch: int
    crc: int
    copy_leader_epoch: int
    copy_crc: int


@dataclass(frozen=True, slots=True)
class DifferingCopy:
    """One copy of a partition and its batches that differ from the leader's, over all audited windows.

    `replica` is the broker that holds it; None: the batches as the collectors read them earlier. `is_all`: every
    differing batch is listed. `written_from_ms`: begin of the windows; `decided_at_ms`: when the newest audit was done.
    `audited`: the offsets [first, following) that were compared.
    """

    cluster_id: str
    topic: str
    topic_id: str
    partition: int
    replica: int | None
    batches: tuple[DifferingBatch, ...]
    is_all: bool
    written_from_ms: int
    decided_at_ms: int
    audited: tuple[tuple[int, int], ...]
