"""High watermarks and last stable offsets, read after the commits: then no healthy group is ahead of them."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from collectors.columns import few_values, flags, numbers_or_null
from collectors.leaders import Led, offsets_of_leaders
from collectors.offset_columns import epoch_columns, offset_columns, places
from collectors.signals import Answered
from guarantees.observations import PartitionOffsets
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.list_offsets import high_watermark_request, last_stable_offset_request
from kafka_reader.listed_offsets import ListedOffsets, in_order, joined
from kafka_reader.metadata import Topology

TABLE = "partition_offsets"

NOT_ASKED = Unknown("not asked in this round")


@dataclass(frozen=True, slots=True, eq=False)
class EndOffsets:
    """What the leaders answered, row by row the same partitions."""

    high_watermarks: ListedOffsets
    last_stable_offsets: ListedOffsets


NOTHING = EndOffsets(joined([]), joined([]))


def collect(connections: Connections, led: Led, led_at_ms: int) -> EndOffsets:
    """High watermarks first: stable offsets read before them would make busy partitions look blocked."""
    high_watermarks = offsets_of_leaders(connections, led, led_at_ms, high_watermark_request)
    return EndOffsets(high_watermarks, offsets_of_leaders(connections, led, led_at_ms, last_stable_offset_request))


def values(ends: EndOffsets) -> Answered:
    """Everything asked for."""
    both = (ends.high_watermarks, ends.last_stable_offsets)
    return Answered(sum(map(len, both)), [why for each in both for why in each.unknown.values()])


@dataclass(frozen=True, slots=True, eq=False)
class OffsetTable:
    """The three offsets of each partition, row by row."""

    log_starts: ListedOffsets
    last_stable_offsets: ListedOffsets
    high_watermarks: ListedOffsets


def table(log_starts: ListedOffsets, ends: EndOffsets) -> OffsetTable:
    """One row for each partition whose high watermark was asked for."""
    high = ends.high_watermarks
    stable = in_order(ends.last_stable_offsets, high.partitions, NOT_ASKED, high.observed_at_ms)
    return OffsetTable(
        in_order(log_starts, high.partitions, NOT_ASKED, high.observed_at_ms),
        replace(stable, offset=_stable_below(high, stable.offset)),
        high,
    )


def _stable_below(high: ListedOffsets, stable: NDArray[np.int64]) -> NDArray[np.int64]:
    """Read a moment later, the stable offset may lie above: then everything below the high watermark was decided."""
    return np.where(flags(len(stable), list(high.unknown)), stable, np.minimum(high.offset, stable))


def partition_offsets(topology: Topology, found: OffsetTable) -> dict[TopicPartition, PartitionOffsets]:
    """The three offsets of each partition as one value."""
    high = found.high_watermarks
    made = map(
        PartitionOffsets,
        [topology.topic_ids.get(partition.topic) for partition in high.partitions],
        found.log_starts.offsets_or_reasons,
        found.last_stable_offsets.offsets_or_reasons,
        high.offsets_or_reasons,
        high.epochs_or_reasons,
        [broker if broker >= 0 else None for broker in high.broker.tolist()],
        few_values(found.log_starts.observed_at_ms),
        few_values(high.observed_at_ms),
    )
    return dict(zip(high.partitions, made, strict=True))


def rows(cluster_id: str, tick: int, topology: Topology, found: OffsetTable) -> pa.Table:
    high = found.high_watermarks
    return pa.table(
        {
            **places(cluster_id, tick, topology, high.partitions),
            **offset_columns("log_start_offset", found.log_starts),
            **offset_columns("last_stable_offset", found.last_stable_offsets),
            **offset_columns("high_watermark", high),
            **epoch_columns(high),
            "broker": numbers_or_null(high.broker, high.broker < 0),
            "log_start_observed_at": found.log_starts.observed_at_ms,
            "requested_at": numbers_or_null(high.requested_at_ms, high.requested_at_ms < 0),
            "observed_at": high.observed_at_ms,
        }
    )
