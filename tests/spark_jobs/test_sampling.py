import numpy as np
import pytest
from pyspark.sql import functions as sf

from kafka_reader.hashes import xxhash64
from spark_jobs.sampling import MOST_AWAITED, beyond, is_kept, is_kept_column

EDGES = np.array([0, 1, 2**61 - 1, 2**61, 2**62, 2**63 - 1, -(2**63), -(2**62) - 1, -(2**62), -1], dtype=np.int64)
RATES = [1 / 64, 1 / 8, 0.5, 0.75, 1.0]


def test_rate_is_the_share_of_hashes_kept():
    hashes = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, 100_000)

    for rate in RATES:
        assert is_kept(hashes, rate).mean() == pytest.approx(rate, abs=0.01)


def test_samples_nest():
    hashes = np.random.default_rng(2).integers(-(2**63), 2**63 - 1, 10_000)

    assert not (is_kept(hashes, 1 / 64) & ~is_kept(hashes, 1 / 8)).any()


def test_hashes_beyond_the_sample_are_those_it_does_not_keep_the_lowest_first():
    hashes = EDGES.tolist()

    for rate in RATES:
        assert beyond(hashes, rate) == tuple(
            sorted(EDGES[~is_kept(EDGES, rate)].tolist(), key=lambda each: each % 2**64)
        )
    assert beyond(range(2**61, 2**61 + 2 * MOST_AWAITED), 1 / 8) == tuple(range(2**61, 2**61 + MOST_AWAITED))


@pytest.mark.spark
@pytest.mark.parametrize("rate", RATES)
def test_spark_keeps_what_the_worker_keeps(spark, rate):
    hashes = spark.createDataFrame([(int(value),) for value in EDGES], "id_hash bigint")

    kept = {row.id_hash for row in hashes.where(is_kept_column(sf.col("id_hash"), rate)).collect()}

    assert kept == set(EDGES[is_kept(EDGES, rate)].tolist())


@pytest.mark.spark
def test_worker_hashes_an_id_as_spark_does(spark):
    ids = [b"", b"a", b"order-000000000001", "zażółć".encode(), bytes(range(256))]
    rows = spark.createDataFrame([(id_bytes,) for id_bytes in ids], "id binary").select(sf.xxhash64("id")).collect()

    assert [row[0] for row in rows] == [xxhash64(id_bytes) for id_bytes in ids]
