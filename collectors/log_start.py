"""Log start offsets, read before the commits: only then does a commit below one prove that retention overtook it."""

from collections.abc import Iterable

from collectors.leaders import offsets_of_leaders
from guarantees.places import TopicPartition
from kafka_reader.connection import Connections
from kafka_reader.list_offsets import ListedOffset, log_start_request
from kafka_reader.metadata import Topology


def collect(
    connections: Connections, topology: Topology, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, ListedOffset]:
    """From the leader of each partition."""
    return offsets_of_leaders(connections, topology, partitions, log_start_request)
