"""What a task of an audit reads is kept in files of bounded size, which cover its range once."""

from dataclasses import dataclass

import numpy as np
import pytest

from kafka_reader.batches import decode
from settings import MessageId, Security
from spark_jobs.audits import blocks, working
from spark_jobs.audits.blocks import Account, accounts, covered
from spark_jobs.audits.tasks import ReadTask
from spark_jobs.ranges import OffsetRange, Part
from spark_jobs.sources.kafka_ranges import RangeRequest
from spark_jobs.sources.open_clusters import OpenClusters
from tests.kafka_reader.built_batches import Sent, batch

BY_KEY = MessageId(key=True)
ANSWERS, OF_EACH = 7, 10


@dataclass
class Scripted:
    """A reading of seven answers of ten records; after them `gone` offsets are purged."""

    gone: int = 0
    answers: int = ANSWERS
    first: int = 0
    reached: int = 0
    error: str | None = None

    @property
    def offsets(self):
        return self.reached - self.first

    def pass_purged(self, window):
        self.reached += self.gone
        return self.gone

    def __iter__(self):
        for number in range(self.answers):
            sent = [Sent(key=b"k%d" % (OF_EACH * number + n)) for n in range(OF_EACH)]
            records = decode(batch(sent, base_offset=OF_EACH * number), [], BY_KEY)
            self.reached = OF_EACH * (number + 1)
            yield records, np.ones(len(records), dtype=np.bool_)


def read(folder, monkeypatch, most=25, until_ms=10**15, **scripted):
    monkeypatch.setattr(working, "MOST_IDS", most)
    monkeypatch.setattr(working, "of_ids", lambda *_: Scripted(**scripted))
    wanted = OffsetRange(Part("c", "orders", "id", 3), 1, 0, 100)
    request = RangeRequest(wanted, "nobody:1", Security(), BY_KEY, 1.0, 60.0, True)
    (folder / working.READ).mkdir()
    return working.work(ReadTask(request, "source-3", (0, 100), folder, 2, until_ms), OpenClusters())


def kept(folder):
    paths = sorted((folder / working.READ).glob("*.arrow"))
    return sorted(o for path in paths for bucket in range(2) for o in blocks.read_copies(path, bucket).offset.tolist())


def test_a_file_is_written_whenever_so_many_ids_were_read_and_the_reading_goes_on(tmp_path, monkeypatch):
    outcome = read(tmp_path, monkeypatch)

    assert (outcome.offsets, outcome.compared, outcome.error) == (70, 70, None)
    assert sorted(covered(tmp_path / working.READ)["source-3"]) == [(0, 30), (30, 60), (60, 70)]
    assert kept(tmp_path) == list(range(70))
    assert accounts(tmp_path / working.READ)["source-3"] == Account(visible=70, compared=70)


def test_what_is_purged_behind_the_last_file_is_accounted_for(tmp_path, monkeypatch):
    assert read(tmp_path, monkeypatch, most=35, gone=5).offsets == 75

    assert sorted(covered(tmp_path / working.READ)["source-3"]) == [(0, 40), (40, 75)]
    assert accounts(tmp_path / working.READ)["source-3"].purged == 5


@pytest.mark.parametrize("most", [5, 25, 1000])
def test_one_answer_is_read_where_there_is_no_time_left(tmp_path, monkeypatch, most):
    assert read(tmp_path, monkeypatch, most=most, until_ms=0).offsets == 10

    assert covered(tmp_path / working.READ) == {"source-3": [(0, 10)]}
    assert kept(tmp_path) == list(range(10))


def test_of_what_could_not_be_read_there_is_no_file(tmp_path, monkeypatch):
    outcome = read(tmp_path, monkeypatch, answers=0, error="nobody answered")

    assert (outcome.offsets, outcome.compared, outcome.error) == (0, 0, "nobody answered")
    assert list((tmp_path / working.READ).iterdir()) == []
