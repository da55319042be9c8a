"""Log start offsets, read before the commits: only then does a commit below one prove that retention overtook it."""

from collectors.leaders import Led, offsets_of_leaders
from kafka_reader.connection import Connections
from kafka_reader.list_offsets import log_start_request
from kafka_reader.listed_offsets import ListedOffsets


def collect(connections: Connections, led: Led, led_at_ms: int) -> ListedOffsets:
    """From the leader of each partition."""
    return offsets_of_leaders(connections, led, led_at_ms, log_start_request)
