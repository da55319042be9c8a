"""What happened to transactional ids, as their coordinators wrote it."""

from collections.abc import Iterable, Mapping

from collectors.log_rows import believed, place
from collectors.rows import Row, partitions_json
from guarantees.transaction_timeline import TransactionStep

TABLE = "transaction_steps"


def rows(cluster_id: str, steps: Iterable[TransactionStep], read_at_ms: Mapping[int, int]) -> list[Row]:
    """`read_at_ms`: when each partition of the log was read."""
    return [_row(cluster_id, step, read_at_ms[step.record.partition]) for step in steps]


def _row(cluster_id: str, step: TransactionStep, read_at_ms: int) -> Row:
    entry = step.entry
    return {
        "cluster_id": cluster_id,
        "transactional_id": step.transactional_id,
        "step": str(step.step),
        "why": step.why,
        "producer_id": None if entry is None else entry.producer_id,
        "producer_epoch": None if entry is None else entry.producer_epoch,
        "data_epoch": step.data_epoch,
        "client_version": step.client_version,
        "timeout_ms": None if entry is None else entry.timeout_ms,
        "started_at": believed(step.started_at_ms, read_at_ms),
        "prepared_at": believed(step.prepared_at_ms, read_at_ms),
        "partitions": partitions_json(step.partitions),
        "transactions": step.transactions,
        **place(step.record, read_at_ms),
    }
