"""Ends of logs by minute: what they were last, when that was, and whether they were ever higher."""

import pytest

from store.log import SegmentLog
from store.log_end_minute import LOG_ENDS_BY_MINUTE
from store.minutes import roll_up
from store.reading import read
from store.rows import python_rows
from tests.store.builders import HOUR, MINUTE, SECOND, T0, end_row


@pytest.fixture
def rolled(tmp_path):
    """The minutes that these samples are rolled up to, the oldest first."""

    def roll(*ends):
        log = SegmentLog(tmp_path, "h")
        log.append("partition_offsets", list(ends))
        log.close()
        roll_up(tmp_path, LOG_ENDS_BY_MINUTE, T0 + 2 * HOUR)
        rows = python_rows("log_end_minute", read(tmp_path, "log_end_minute"))
        return sorted(rows, key=lambda row: (row["partition"], row["observed_at"]))

    return roll


def test_a_minute_has_the_last_known_end_with_its_time_and_the_highest(rolled):
    (row,) = rolled(
        end_row(1, T0, high_watermark=90),
        end_row(2, T0 + 5 * SECOND, high_watermark=120),
        end_row(3, T0 + 10 * SECOND, high_watermark=100),
        end_row(4, T0 + 15 * SECOND, high_watermark=None, high_watermark_unknown="no leader"),
    )

    assert row == {
        "cluster_id": "c",
        "topic": "orders",
        "topic_id": "id",
        "partition": 0,
        "observed_at": T0,
        "high_watermark_last": 100,
        "last_known_at": T0 + 10 * SECOND,
        "high_watermark_max": 120,
    }


def test_each_minute_and_each_partition_has_a_row_of_its_own(rolled):
    rows = rolled(
        end_row(1, T0, high_watermark=1),
        end_row(2, T0 + MINUTE, high_watermark=2),
        end_row(2, T0 + MINUTE, partition=1, high_watermark=3),
    )

    assert [(row["partition"], row["observed_at"], row["high_watermark_last"]) for row in rows] == [
        (0, T0, 1),
        (0, T0 + MINUTE, 2),
        (1, T0 + MINUTE, 3),
    ]


def test_a_minute_without_an_answer_knows_no_end(rolled):
    (row,) = rolled(end_row(1, T0, high_watermark=None, high_watermark_unknown="no leader"))

    assert (row["high_watermark_last"], row["last_known_at"], row["high_watermark_max"]) == (None, None, None)
