"""Samples as they lie in files: the same rows, whoever reads them."""

from contextlib import closing
from uuid import UUID

import pytest
from pyspark.sql import DataFrame

from spark_jobs import stored_samples
from spark_jobs.ranges import Part
from spark_jobs.stored_samples import copies_of, observed_since, sample_files, stored
from spark_jobs.transforms.duplicates import ID_KEYS
from store.log import SegmentLog
from store.rows import arrow_table, python_rows
from tests.spark_jobs.sampled import START, sample

pytestmark = pytest.mark.spark

ORDERS, BILLS = (Part("c", topic, str(UUID(int=number)), 0) for number, topic in ((1, "orders"), (2, "bills")))
T0 = round(START.timestamp() * 1000)


def at_ms(seconds):
    return T0 + 1000 * seconds


def row(part, id_hash, offset, at_s):
    made = sample(id_hash, offset, at_s=at_s, topic=part.topic) | {"topic_id": part.topic_id}
    return {**made, "timestamp": at_ms(offset), "observed_at": at_ms(at_s)}


@pytest.fixture
def files(tmp_path):
    with closing(SegmentLog(tmp_path, "h_jobs")) as log:
        for part, rows in (
            (ORDERS, [row(ORDERS, 1, 0, 0), row(ORDERS, 2, 1, 10), row(ORDERS, -3, 2, 20)]),
            (BILLS, [row(BILLS, 1, 0, 0), row(BILLS, 2, 1, 10)]),
        ):
            log.append_range(
                "id_samples", rows, topic_id_hex=UUID(part.topic_id).hex, partition=0, first=0, last=9,
                observed_at_ms=T0,
            )  # fmt: skip
    return sample_files(tmp_path, {ORDERS: 10, BILLS: 10}, None)


@pytest.fixture(params=[stored_samples.FEW_BYTES, -1], ids=["here", "spark"])
def samples(spark, files, monkeypatch, request):
    monkeypatch.setattr(stored_samples, "FEW_BYTES", request.param)
    (found,) = stored(spark, files)
    assert isinstance(found, DataFrame) is (request.param < 0)
    return found


def copies(ids, samples):
    wanted = arrow_table("id_samples", [row(part, id_hash, 0, 0) for part, id_hash in ids]).select(ID_KEYS)
    rows = python_rows("id_samples", copies_of(wanted, samples))
    return sorted((each["topic"], each["id_hash"], each["offset"], each["observed_at"]) for each in rows)


def test_copies_of_an_id_are_those_of_its_topic(samples):
    assert copies([(ORDERS, 2), (ORDERS, -3), (BILLS, 7)], samples) == [
        ("orders", -3, 2, at_ms(20)), ("orders", 2, 1, at_ms(10)),
    ]  # fmt: skip


def test_each_topic_is_looked_at_since_a_time_of_its_own(samples):
    since = observed_since(samples, {ORDERS.topic_id: at_ms(10), BILLS.topic_id: at_ms(11)})

    assert copies([(part, id_hash) for part in (ORDERS, BILLS) for id_hash in (1, 2, -3)], since) == [
        ("orders", -3, 2, at_ms(20)), ("orders", 2, 1, at_ms(10)),
    ]  # fmt: skip


def test_a_topic_of_which_no_time_is_said_is_left_out(samples):
    assert copies([(BILLS, 1)], observed_since(samples, {ORDERS.topic_id: 0})) == []


@pytest.mark.parametrize("few_bytes", [stored_samples.FEW_BYTES, -1], ids=["here", "spark"])
def test_without_a_file_there_is_no_copy(spark, monkeypatch, few_bytes):
    monkeypatch.setattr(stored_samples, "FEW_BYTES", few_bytes)

    assert copies([(ORDERS, 1)], stored(spark, [])[0]) == []


def test_both_sides_of_a_pipeline_are_read_in_one_place_however_small_one_of_them_is(spark, files, monkeypatch):
    sizes = [path.stat().st_size for path in files]
    monkeypatch.setattr(stored_samples, "FEW_BYTES", sum(sizes) - 1)

    assert all(isinstance(each, DataFrame) for each in stored(spark, files[:1], files[1:]))
