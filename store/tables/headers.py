"""What jobs measured over stored batch headers, window by window: in metrics.duckdb."""

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
    real,
    small,
    text,
    time,
)

WINDOW = (
    time("window_from", "batches observed from this time on"),
    time("window_to", "exclusive"),
)

HEADERS = (
    Table(
        "header_windows",
        Family.METRIC,
        "jobs",
        "Windows of batch headers that the jobs over them computed; others have no rows in their tables.",
        ("window_from",),
        (
            *WINDOW,
            integer("segments", "of batch headers that were read, those of the hour before included"),
            real("busy_s", "time it took"),
            text("code_version", "version of Tidemark that ran"),
            OBSERVED_AT,
        ),
    ),
    Table(
        "sequence_accounts",
        Family.METRIC,
        "jobs",
        "Sequence numbers of each idempotent producer on a partition, as stored; a gap is no loss by itself.",
        ("window_from", "cluster_id", "topic_id", "partition", "producer_id", "producer_epoch"),
        (
            *WINDOW,
            CLUSTER,
            TOPIC,
            TOPIC_ID,
            PARTITION,
            integer("producer_id", "of the batches"),
            small("producer_epoch", "of the batches"),
            integer("batches", "of data, in the window"),
            integer("records", "in them, as their headers say"),
            integer("first_offset", "of the first batch"),
            integer("last_offset", "of the last batch"),
            integer("first_sequence", "of the first batch"),
            integer("highest_sequence", "furthest one taken; 0 follows 2147483647"),
            integer("gaps", "batches that did not begin where the one before ended"),
            integer("sequences_passed_over", "numbers that no batch holds up to then: removed since, or never stored"),
            integer("sequences_repeated", "numbers that a batch before holds too"),
            flag("is_transactional", "some batch was written in a transaction"),
            OBSERVED_AT,
        ),
    ),
    Table(
        "transaction_accounts",
        Family.METRIC,
        "jobs",
        "How the transactions of each producer ended on a partition, by their markers, and what they held.",
        ("window_from", "cluster_id", "topic_id", "partition", "producer_id"),
        (
            *WINDOW,
            CLUSTER,
            TOPIC,
            TOPIC_ID,
            PARTITION,
            integer("producer_id", "of data and markers"),
            integer("committed", "with data, whose marker was read in the window"),
            integer("aborted", "with data, whose marker was read in the window"),
            integer("open", "with data and without a marker at the end of the window"),
            integer(
                "without_data", "markers before which no data was read of an hour: mostly partitions not written to"
            ),
            integer("torn", "aborted here, committed elsewhere; told only where each transaction has its own epoch"),
            integer("records_committed", "in the committed ones, as their headers say"),
            integer("records_aborted", "wasted: no read_committed reader is given them"),
            integer("records_open", "in the open ones so far"),
            real("median_ms", "from the first batch to the marker, by the producer's and the broker's clocks"),
            integer("longest_ms", "from the first batch to the marker, by the producer's and the broker's clocks"),
            OBSERVED_AT,
        ),
    ),
)
