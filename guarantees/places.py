"""Where something was observed. Keys are values, never strings glued together."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """A partition of a topic of one cluster at one time; across time the topic id belongs to the key."""

    topic: str
    partition: int


@dataclass(frozen=True, slots=True, order=True)
class GroupPartition:
    """A partition as one group reads it."""

    group_id: str
    topic: str
    partition: int

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition without its reader."""
        return TopicPartition(self.topic, self.partition)
