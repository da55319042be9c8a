"""The raw samples behind a figure, as a query for the SQL door, where they are looked at and downloaded."""

from store.lag import JOIN


def of_partition(group_id: str, topic: str, partition: int) -> str:
    """Each commit of the group on the partition with the offsets of the same round, and why one is unknown."""
    return f"""SELECT c.*, p.topic_id AS log_topic_id, p.log_start_offset, p.log_start_offset_unknown,
       p.last_stable_offset, p.last_stable_offset_unknown, p.high_watermark, p.high_watermark_unknown, p.leader_epoch,
       p.broker AS leader, p.observed_at AS offsets_observed_at
FROM {JOIN}
WHERE c.group_id = {_text(group_id)} AND c.topic = {_text(topic)} AND c.partition = {partition:d}
ORDER BY c.observed_at"""


def _text(name: str) -> str:
    """A name from outside as SQL text: nothing in it ends the text."""
    return "'" + name.replace("'", "''") + "'"
