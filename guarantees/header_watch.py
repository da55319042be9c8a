"""Watching batch headers: one pure step from what earlier ranges left to what the next ones add and show."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from guarantees.batches import HeaderScan
from guarantees.findings import Finding, Kind
from guarantees.header_traces import Ending, PartitionTrace, SeenBatch, begun, walked
from guarantees.observations import Transaction
from guarantees.places import TopicPartition
from guarantees.rules import (
    missing_sequences,
    odd_timestamps,
    producer_fenced,
    producer_recovered,
    resent_batch,
    sequence_gap,
    torn_transaction,
    transaction_timed_out,
    unfenced_restart,
)
from guarantees.transaction_ends import EndsView, ProducerEnds, Transactions, described, ended
from guarantees.view import number, topic_partition

# What a log shows has happened: a finding of it ends when nothing was added for so long. It keeps its evidence.
SETTLED_AFTER_MS = 600_000

# The most severe first.
BATCH_RULES: Sequence[Callable[[SeenBatch], Iterator[Finding]]] = (
    torn_transaction.found_late,
    missing_sequences.found,
    resent_batch.found,
    odd_timestamps.found,
    producer_recovered.found,
    sequence_gap.found,
)
END_RULES: Sequence[Callable[[EndsView], Iterator[Finding]]] = (
    torn_transaction.found,
    producer_fenced.found,
)
JOINED: Mapping[Kind, Callable[[Finding, Finding], Finding]] = {
    Kind.TORN_TRANSACTION: torn_transaction.joined,
    Kind.MISSING_SEQUENCES: missing_sequences.joined,
    Kind.RESENT_BATCH: resent_batch.joined,
    Kind.TRANSACTION_TIMED_OUT: transaction_timed_out.joined,
    Kind.ODD_TIMESTAMPS: odd_timestamps.joined,
    Kind.PRODUCER_RECOVERED: producer_recovered.joined,
    Kind.PRODUCER_FENCED: producer_fenced.joined,
    Kind.UNFENCED_RESTART: unfenced_restart.joined,
    Kind.SEQUENCE_GAP: sequence_gap.joined,
}


@dataclass(frozen=True, slots=True)
class HeaderRound:
    """The ranges one round read, and the open transactions it was told of."""

    scans: tuple[HeaderScan, ...]
    transactions: tuple[Transaction, ...]
    observed_at_ms: int


@dataclass(frozen=True, slots=True)
class HeaderMemory:
    """A plain value. `findings` are all of these kinds, closed ones too: what comes later may belong to them."""

    partitions: Mapping[TopicPartition, PartitionTrace] = field(default_factory=dict)
    producers: Mapping[int, ProducerEnds] = field(default_factory=dict)
    transactions: Transactions = field(default_factory=Transactions)
    findings: Mapping[str, Finding] = field(default_factory=dict)


def observe_headers(memory: HeaderMemory, observed: HeaderRound) -> tuple[HeaderMemory, list[Finding]]:
    """One round: what to remember, and every finding that is new, grew or closed in it."""
    partitions, seen = _walked(memory.partitions, observed.scans)
    producers, new = ended(memory.producers, seen)
    transactions = described(memory.transactions, observed.transactions)
    views = [
        EndsView(producers[key], ends, transactions.newest.get(key), observed.observed_at_ms)
        for key, ends in new.items()
        if key in producers
    ]
    timed_out = [finding for view in views for finding in transaction_timed_out.found(view)]
    views = _with_timeouts(views, [*memory.findings.values(), *timed_out])
    shown = [
        *timed_out,
        *(finding for one in seen for rule in BATCH_RULES for finding in rule(one)),
        *(finding for view in views for rule in END_RULES for finding in rule(view)),
        *_unfenced(new.values(), partitions, transactions, observed.observed_at_ms),
    ]
    findings = _settled(_joined(memory.findings, shown), observed.observed_at_ms)
    changed = [finding for key, finding in findings.items() if memory.findings.get(key) != finding]
    return HeaderMemory(partitions, producers, transactions, findings), changed


def remembered(rounds: Iterable[HeaderRound], known: Iterable[Finding]) -> tuple[HeaderMemory, list[Finding]]:
    """After a restart: the memory that the stored rounds leave, and what they show beyond what is known.

    Coordinators' answers are not among them, so a fencing cannot be told from a timeout: only a known one goes on.
    """
    findings = {finding.finding_id: finding for finding in known if finding.kind in JOINED}
    memory = HeaderMemory(findings=findings)
    for observed in rounds:
        memory, _ = observe_headers(memory, observed)
    sure = {
        key: finding
        for key, finding in memory.findings.items()
        if finding.kind is not Kind.PRODUCER_FENCED or key in findings
    }
    return replace(memory, findings=sure), [f for key, f in sure.items() if findings.get(key) != f]


def _walked(
    before: Mapping[TopicPartition, PartitionTrace], scans: Iterable[HeaderScan]
) -> tuple[dict[TopicPartition, PartitionTrace], list[SeenBatch]]:
    partitions, seen = dict(before), list[SeenBatch]()
    for scan in scans:
        partition = topic_partition(scan.place)
        if partition is not None:
            trace, batches = walked(begun(scan, partitions.get(partition)), scan)
            partitions[partition] = trace
            seen += batches
    return partitions, seen


def _with_timeouts(views: Iterable[EndsView], findings: Iterable[Finding]) -> list[EndsView]:
    epochs: dict[object, set[int]] = {}
    for finding in findings:
        if finding.kind is Kind.TRANSACTION_TIMED_OUT:
            epochs.setdefault(finding.evidence["producer_id"], set()).add(number(finding.evidence, "data_epoch"))
    return [replace(view, timed_out=frozenset(epochs.get(view.producer.producer_id, ()))) for view in views]


def _unfenced(
    ends: Iterable[Sequence[Ending]],
    partitions: Mapping[TopicPartition, PartitionTrace],
    transactions: Transactions,
    now_ms: int,
) -> Iterator[Finding]:
    for end in (one for of_producer in ends for one in of_producer):
        partition = topic_partition(end.place)
        if partition is not None and partition in partitions:
            yield from unfenced_restart.found(end, partitions[partition], transactions, now_ms)


def _joined(known: Mapping[str, Finding], shown: Iterable[Finding]) -> dict[str, Finding]:
    findings = dict(known)
    for finding in shown:
        before = findings.get(finding.finding_id)
        findings[finding.finding_id] = finding if before is None else JOINED[finding.kind](before, finding)
    return findings


def _settled(findings: Mapping[str, Finding], now_ms: int) -> dict[str, Finding]:
    reason = f"settled: nothing further for {SETTLED_AFTER_MS // 1000} s"
    return {
        key: replace(finding, closed_reason=reason)
        if finding.closed_reason is None and now_ms - finding.last_seen_at_ms > SETTLED_AFTER_MS
        else finding
        for key, finding in findings.items()
    }
