"""The content of batches on all replicas and as read earlier: what differs, what is the same, and what is not known."""

from dataclasses import asdict

import pytest

from guarantees.audited_content import DifferingBatch
from guarantees.audits import Job
from kafka_reader.batch_headers import CorruptBatchError, batch_headers
from spark_jobs.audits import blocks, folders
from spark_jobs.audits.blocks import Account
from spark_jobs.audits.content import content_tally
from spark_jobs.audits.content_reading import EARLIER, LISTED, CopyRead, compared, content_path, contents
from tests.kafka_reader.built_batches import Sent, batch
from tests.spark_jobs.histories import plan

LEADER = {0: (3, 111), 5: (3, 222), 9: (4, 333)}


def test_copies_with_the_leaders_crc_are_the_same():
    assert compared(2, LEADER, dict(LEADER)) == CopyRead(2, 3, 0, ())


def test_a_copy_with_another_crc_differs_and_both_are_named():
    found = compared(2, LEADER, LEADER | {5: (2, 999)})

    assert (found.compared, found.count) == (3, 1)
    assert found.differing == (DifferingBatch(5, 3, 222, 2, 999),)


def test_another_leader_epoch_alone_is_no_other_content():
    """The CRC does not cover it: a batch may be told again under another epoch, with the same bytes."""
    assert compared(2, LEADER, {5: (2, 222)}).count == 0


def test_what_only_one_of_them_has_is_not_compared():
    assert compared(EARLIER, LEADER, {5: (3, 222), 7: (3, 444)}).compared == 1


def test_of_many_that_differ_all_are_counted_and_some_are_kept():
    leader = dict.fromkeys(range(LISTED + 7), (0, 1))
    found = compared(2, leader, dict.fromkeys(leader, (0, 2)))

    assert (found.count, len(found.differing)) == (LISTED + 7, LISTED)


def test_contents_are_checked_against_the_crc_before_anything_is_claimed():
    blob = batch([Sent(value=b"one")], base_offset=4, leader_epoch=2)
    ((offset, (epoch, _)),) = contents(batch_headers(blob)).items()
    assert (offset, epoch) == (4, 2)

    with pytest.raises(CorruptBatchError):
        contents(batch_headers(blob[:-1] + b"x"))


def piece(folder, name, first, following, *copies, batches=3):
    found = {"batches": batches, "copies": [asdict(copy) for copy in copies]}
    blocks.write_json(content_path(folder, name, first, following), found)
    account = Account(visible=max(0, min(30, following) - max(10, first)))
    blocks.write_block(folder, name, first, following, blocks.NO_COPIES, account, 1)


def tallied(tmp_path, *copies, **changed):
    """Two pieces of one partition, the second with the copies; one more whose worker died before its account."""
    folder = folders.run_folder(tmp_path, "r")
    read = folder / folders.READ
    piece(read, "source-0", 0, 20, CopyRead(2, 3, 0, ()), CopyRead(3, 3, 0, ()))
    piece(read, "source-0", 20, 40, *copies)
    blocks.write_json(content_path(read, "source-0", 20, 41), {"batches": 900, "copies": []})
    return content_tally(plan(partitions=1, job=Job.CONTENT, sides=("source",), source=changed), folder)


def test_a_replica_that_differs_is_counted_and_listed_and_the_window_is_whole(tmp_path):
    found = tallied(tmp_path, compared(2, LEADER, LEADER | {5: (3, 999)}), compared(3, LEADER, LEADER))

    assert found.content["source", 0] == {
        "batches": 6, "batches_compared": 12, "batches_differing": 1, "copies_silent": 0,
    }  # fmt: skip
    assert [(one["base_offset"], one["copy"], one["copy_crc"]) for one in found.differing] == [(5, 2, 999)]
    assert found.is_whole


def test_a_replica_that_could_not_be_read_is_said_and_the_window_is_not_whole(tmp_path):
    found = tallied(tmp_path, compared(2, LEADER, LEADER), CopyRead(3, 0, 0, (), error="nobody answered"))

    assert (found.content["source", 0]["copies_silent"], found.content["source", 0]["batches_compared"]) == (1, 9)
    assert not found.is_whole


def test_a_compacted_topic_is_not_compared(tmp_path):
    found = tallied(tmp_path, is_compacted=True)

    assert found.content["source", 0] == {
        "batches": 6, "batches_compared": None, "batches_differing": None, "copies_silent": None,
    }  # fmt: skip
