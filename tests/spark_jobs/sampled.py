"""Rows of id_samples as small histories: builders take only what matters."""

from datetime import UTC, datetime, timedelta

from spark_jobs.schemas import ID_SAMPLES

START = datetime(2026, 1, 1, tzinfo=UTC)


def sample(id_hash, offset, *, partition=0, pid=1, epoch=0, seq=None, transactional=False, at_s=0, topic="orders"):
    """One stored copy; the sequence follows the offset unless given; `pid` None: an ordinary producer."""
    sequence = offset if seq is None else seq
    return {
        "cluster_id": "c",
        "topic": topic,
        "topic_id": f"{topic}-id",
        "partition": partition,
        "offset": offset,
        "id_hash": id_hash,
        "message_id": f"m{id_hash}",
        "producer_id": pid,
        "producer_epoch": None if pid is None else epoch,
        "sequence": None if pid is None else sequence,
        "is_transactional": transactional,
        "timestamp": START + timedelta(seconds=offset),
        "observed_at": START + timedelta(seconds=at_s),
    }


def frame(spark, rows):
    return spark.createDataFrame([tuple(row.values()) for row in rows], ID_SAMPLES)
