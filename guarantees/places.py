"""Where something was observed. Keys are values, never strings glued together.

Named tuples, because a round looks hundreds of thousands of them up: their hash and equality run in C.
"""

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """A partition of a topic of one cluster at one time; across time the topic id belongs to the key."""

    topic: str
    partition: int


class GroupPartition(NamedTuple):
    """A partition as one group reads it."""

    group_id: str
    topic: str
    partition: int

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition without its reader."""
        return TopicPartition(self.topic, self.partition)
