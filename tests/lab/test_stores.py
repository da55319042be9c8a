import pytest

from lab.knowing_sink import KnowingSink
from lab.stores import STORES
from lab.workload.messages import ID_HEADER


class Taken:
    """A message as a consumer is given it."""

    def __init__(self, number, *, partition=0):
        self._id, self._partition, self._offset = f"record {partition}/{number}", partition, number

    def headers(self):
        return [(ID_HEADER, self._id.encode())]

    def value(self):
        return b"value"

    def partition(self):
        return self._partition

    def offset(self):
        return self._offset


class Noted:
    """A sink that notes what it gets."""

    def __init__(self):
        self.got = []

    def write(self, message_id, partition):
        self.got.append((message_id, partition))

    def flush(self):
        pass


@pytest.mark.parametrize("how", STORES)
def test_what_comes_again_is_recognised_and_published_once_also_by_a_successor(how, tmp_path):
    noted = Noted()
    sink = KnowingSink(noted, STORES[how](tmp_path / "store"))
    for message in (Taken(0), Taken(1), Taken(0, partition=1)):
        sink.put(message)
    assert (sink.count(), sink.recognised) == (3, 0)

    successor = STORES[how](tmp_path / "store")
    assert [successor.takes(message) for message in (Taken(0), Taken(1), Taken(2))] == [False, False, True]
    sink.put(Taken(2))
    assert (sink.count(), sink.recognised) == (4, 1)
    assert noted.got == [("record 0/0", 0), ("record 0/1", 0), ("record 1/0", 1), ("record 0/2", 0)]
