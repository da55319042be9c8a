"""What the batches of a partition leave behind: per producer its sequences, its open transaction and how they end."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from guarantees.batches import SEQUENCES, Batch, HeaderScan, Marker, steps_ahead
from guarantees.findings import Place
from guarantees.unknown import Unknown

# A leader keeps the last five batches of a producer (ProducerStateEntry.NUM_BATCHES_TO_RETAIN).
KEPT_BATCHES = 5
# A client gives a batch up after delivery.timeout.ms (default): a retry cannot come later.
DELIVERY_TIMEOUT_MS = 120_000
# Bounds of what is remembered of one partition; whoever was silent longest is forgotten first.
KEPT_PRODUCERS = 1_000
KEPT_UNIDENTIFIED = 20_000
FORGOTTEN = Unknown("too many producers to remember them all")


@dataclass(frozen=True, slots=True)
class OpenData:
    """Data of a transaction that has no marker in this partition yet."""

    first_offset: int
    producer_epoch: int
    records: int
    first_timestamp_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A marker and what it ended. `data` is None for an empty marker: partition added, nothing written (legitimate)."""

    place: Place
    producer_id: int
    marker: Marker
    marker_epoch: int
    marker_offset: int
    coordinator_epoch: int | None
    data: OpenData | None
    ended_at_ms: int


@dataclass(frozen=True, slots=True)
class ProducerTrace:
    """One producer id in one partition. `batches` are its last data batches, the newest last.

    [run_first, run_first + run_length) are the sequences seen without a gap up to the newest, of the newest epoch.
    `first_offset` is where it was first seen, `marker_epoch` the one of its last marker.
    """

    first_offset: int
    batches: tuple[Batch, ...] = ()
    run_first: int | None = None
    run_length: int = 0
    open: OpenData | None = None
    marker_epoch: int | None = None

    @property
    def last(self) -> Batch | None:
        return self.batches[-1] if self.batches else None

    @property
    def next_sequence(self) -> int | None:
        return None if self.run_first is None else (self.run_first + self.run_length) % SEQUENCES


# What makes two stored batches the same to the byte, whoever stamped them.
Likeness = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class PartitionTrace:
    """One partition from `first_offset` on, without a gap. `unidentified` are the latest batches without producer id.

    `hole_at`: the newest offset before which stored offsets are missing. `has_forgotten`: producers were too many.
    """

    place: Place
    first_offset: int
    next_offset: int
    previous: Batch | None = None
    hole_at: int | None = None
    has_forgotten: bool = False
    producers: Mapping[int, ProducerTrace] = field(default_factory=dict)
    unidentified: Mapping[Likeness, tuple[Batch, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeenBatch:
    """One batch and what the contiguous range before it had shown. `alike`: an equal batch without producer id.

    `producer` is None where no earlier batch of the producer id was seen. `ending`: what a marker ended. `hole_at`: the
    newest offset up to this batch before which stored offsets are missing.
    """

    scan: HeaderScan
    batch: Batch
    covered_from: int
    producers_before: frozenset[int] | Unknown
    hole_at: int | None
    previous: Batch | None
    producer: ProducerTrace | None
    alike: Batch | None
    ending: Ending | None


def begun(scan: HeaderScan, before: PartitionTrace | None) -> PartitionTrace:
    """The trace a scan goes on with: a new one where it does not follow, or the topic is another."""
    if before is not None and before.place == scan.place and before.next_offset == scan.first_offset:
        return before
    return PartitionTrace(scan.place, scan.first_offset, scan.first_offset)


def walked(before: PartitionTrace, scan: HeaderScan) -> tuple[PartitionTrace, list[SeenBatch]]:
    """Every batch of the scan that was not seen before, each with what was known when it came."""
    producers, unidentified = dict(before.producers), _recent(before.unidentified, scan.observed_at_ms)
    producers_before = _producers_before(before, scan)
    previous, hole_at, end, seen = before.previous, before.hole_at, before.next_offset, []
    for batch in scan.batches:
        if batch.base_offset < end:
            continue
        hole_at = batch.base_offset if batch.base_offset > end else hole_at
        known = None if batch.producer_id is None else producers.get(batch.producer_id)
        alike = _alike(unidentified, batch)
        ending = _ending(scan.place, known, batch)
        seen.append(
            SeenBatch(scan, batch, before.first_offset, producers_before, hole_at, previous, known, alike, ending)
        )
        if batch.producer_id is not None:
            producers.pop(batch.producer_id, None)  # the newest last: whoever is first was silent longest
            producers[batch.producer_id] = _with(known or ProducerTrace(batch.base_offset), batch)
        elif batch.records:
            unidentified[likeness(batch)] = (batch, scan.observed_at_ms)
        previous, end = batch, batch.next_offset
    walked_to = replace(before, next_offset=max(end, scan.next_offset), previous=previous, hole_at=hole_at)
    return _bounded(walked_to, producers, unidentified), seen


def _producers_before(trace: PartitionTrace, scan: HeaderScan) -> frozenset[int] | Unknown:
    """Nobody had written before a log that was read from its first offset on."""
    if trace.has_forgotten:
        return FORGOTTEN
    return frozenset() if trace.first_offset == 0 else scan.producers_before


def likeness(batch: Batch) -> Likeness:
    """Equal for a resent batch also under LogAppendTime, which keeps the producer's base timestamp and the body."""
    return batch.size_bytes, batch.records, batch.base_timestamp_ms, batch.body_hash


def _recent(window: Mapping[Likeness, tuple[Batch, int]], now_ms: int) -> dict[Likeness, tuple[Batch, int]]:
    return {key: seen for key, seen in window.items() if now_ms - seen[1] <= DELIVERY_TIMEOUT_MS}


def _alike(window: Mapping[Likeness, tuple[Batch, int]], batch: Batch) -> Batch | None:
    if batch.producer_id is not None or not batch.records:
        return None
    seen = window.get(likeness(batch))
    return None if seen is None else seen[0]


def _ending(place: Place, known: ProducerTrace | None, batch: Batch) -> Ending | None:
    if batch.marker is None or batch.producer_id is None or batch.producer_epoch is None:
        return None
    return Ending(
        place=place,
        producer_id=batch.producer_id,
        marker=batch.marker,
        marker_epoch=batch.producer_epoch,
        marker_offset=batch.base_offset,
        coordinator_epoch=batch.coordinator_epoch,
        data=None if known is None else known.open,
        ended_at_ms=batch.max_timestamp_ms,
    )


def _with(trace: ProducerTrace, batch: Batch) -> ProducerTrace:
    if batch.marker is not None:
        return replace(trace, open=None, marker_epoch=batch.producer_epoch)
    if not batch.is_data_of_producer:
        return trace
    is_open = batch.is_transactional and batch.producer_epoch is not None
    grown = _open_data(trace.open, batch) if is_open else trace.open
    kept = (*trace.batches, batch)[-KEPT_BATCHES:]
    first, length = _run(trace, batch)
    return replace(trace, batches=kept, run_first=first, run_length=length, open=grown)


def _open_data(before: OpenData | None, batch: Batch) -> OpenData:
    if before is None:
        return OpenData(batch.base_offset, batch.producer_epoch or 0, batch.records, batch.base_timestamp_ms)
    return replace(before, records=before.records + batch.records)


def _run(trace: ProducerTrace, batch: Batch) -> tuple[int, int]:
    """The gapless run of sequences with this batch: a repeat leaves it, a gap or another epoch begins a new one."""
    base = batch.base_sequence or 0
    last, expected = trace.last, trace.next_sequence
    if last is None or expected is None or trace.run_first is None or last.producer_epoch != batch.producer_epoch:
        return base, batch.sequences
    ahead = steps_ahead(base, expected)
    if ahead > 0:
        return base, batch.sequences
    return trace.run_first, min(trace.run_length + max(0, ahead + batch.sequences), SEQUENCES // 2)


def _bounded(
    trace: PartitionTrace,
    producers: Mapping[int, ProducerTrace],
    unidentified: Mapping[Likeness, tuple[Batch, int]],
) -> PartitionTrace:
    too_many = max(0, len(producers) - KEPT_PRODUCERS)
    return replace(
        trace,
        has_forgotten=trace.has_forgotten or too_many > 0,
        producers=dict(list(producers.items())[too_many:]),
        unidentified=dict(list(unidentified.items())[-KEPT_UNIDENTIFIED:]),
    )
