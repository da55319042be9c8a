"""transaction_timed_out: the coordinator gave a transaction up at its timeout and aborted what was written (T6)."""

from collections.abc import Iterator

from guarantees.amounts import counted
from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.header_evidence import where
from guarantees.header_traces import Ending, OpenData
from guarantees.observations import Transaction
from guarantees.transaction_ends import EndsView, is_raised_abort, transaction_of
from guarantees.view import present

NOBODY_ELSE_ENDED_IT = "no new instance fenced the producer between the timeout and the abort"


def found(view: EndsView) -> Iterator[Finding]:
    """Aborted from outside, no sooner than its timeout after its start by the coordinator's own description."""
    for end in view.new:
        transaction = _timed_out(view, end)
        if transaction is not None and end.data is not None:
            yield _finding(view, end, end.data, transaction)


def joined(before: Finding, now: Finding) -> Finding:
    """A transaction ends once on a partition: seen again, it says nothing new."""
    return before


def _timed_out(view: EndsView, end: Ending) -> Transaction | None:
    """The coordinator looks every ten seconds for transactions past their timeout, so the abort may come later."""
    transaction = transaction_of(view, end) if is_raised_abort(end) else None
    if transaction is None or transaction.started_at_ms is None:
        return None
    return transaction if end.ended_at_ms - transaction.started_at_ms >= transaction.timeout_ms else None


def _finding(view: EndsView, end: Ending, data: OpenData, transaction: Transaction) -> Finding:
    open_ms = end.ended_at_ms - present(transaction.started_at_ms)
    text = (
        f"The transaction of {transaction.transactional_id} (producer {end.producer_id}, epoch {data.producer_epoch}) "
        f"was aborted after {open_ms / 1000:.0f} s, at its timeout of {transaction.timeout_ms / 1000:.0f} s: "
        f"read_committed readers never see {counted(data.records, 'record')} of {where(end.place)} from offset "
        f"{data.first_offset:,} on."
    )
    return Finding(
        kind=Kind.TRANSACTION_TIMED_OUT,
        place=end.place,
        anchor=f"producer {end.producer_id}, epoch {data.producer_epoch}, offset {data.first_offset}",
        severity=3,
        title=f"{where(end.place)}: transaction of {transaction.transactional_id} aborted at its timeout",
        statements=(
            Statement(Grade.PROBABLE, text, NOBODY_ELSE_ENDED_IT),
            Statement(Grade.NOT_OBSERVABLE, "Whether the application wrote the data again, or believes it committed."),
        ),
        bounds=Bounds(data.records, data.records, data.records, Unit.RECORDS),
        evidence={
            "transactional_id": transaction.transactional_id,
            "producer_id": end.producer_id,
            "data_epoch": data.producer_epoch,
            "marker_epoch": end.marker_epoch,
            "first_offset": data.first_offset,
            "marker_offset": end.marker_offset,
            "transaction_started_at_ms": transaction.started_at_ms,
            "transaction_timeout_ms": transaction.timeout_ms,
            "aborted_at_ms": end.ended_at_ms,
            "last_offset": end.marker_offset,
        },
        happened_at_ms=end.ended_at_ms,
        last_seen_at_ms=max(view.observed_at_ms, end.ended_at_ms),
    )
