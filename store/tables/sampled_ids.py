"""What the live job keeps of the records it reads: their sampled ids, as segments named by the range they cover."""

from store.tables.columns import (
    CLUSTER,
    OBSERVED_AT,
    PARTITION,
    TOPIC,
    TOPIC_ID,
    Family,
    Table,
    flag,
    integer,
    small,
    text,
    time,
)

_KEY = ("cluster_id", "topic_id", "partition", "offset")
_RECORD = (
    CLUSTER,
    TOPIC,
    TOPIC_ID,
    PARTITION,
    integer("offset", "where the record is stored"),
    integer("id_hash", "xxhash64, seed 42, of the id, signed"),
    text("message_id", "cut to 200 characters; null when only hashes are stored"),
    integer("producer_id", "null when the batch has none"),
    small("producer_epoch", "null when the batch has none"),
    integer("sequence", "null when the batch has none"),
    flag("is_transactional", "the record was written in a transaction"),
    time("timestamp", "the record's own; the producer's word unless LogAppendTime"),
    OBSERVED_AT,
)

SAMPLED_IDS = (
    Table(
        "id_samples",
        Family.SAMPLE,
        "jobs",
        "Sampled message ids of a covered range; the segment's name is the range.",
        _KEY,
        _RECORD,
        is_ranged=True,
    ),
    Table(
        "aborted_ids",
        Family.SAMPLE,
        "jobs",
        "Sampled message ids of a covered range's aborted records, which no read_committed reader is given.",
        _KEY,
        _RECORD,
        is_ranged=True,
    ),
)
