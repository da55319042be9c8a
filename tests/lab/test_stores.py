import pytest

from lab.stores import STORES, KnowingSink
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

    def put(self, message):
        self.got.append((message.partition(), message.offset()))

    def flush(self):
        pass


@pytest.mark.parametrize("how", STORES)
def test_what_comes_again_is_recognised_and_not_handed_on(how):
    noted = Noted()
    sink = KnowingSink(noted, STORES[how]())
    first, again = [Taken(0), Taken(1), Taken(0, partition=1)], [Taken(0), Taken(1), Taken(2)]
    for message in (*first, *again):
        sink.put(message)

    assert noted.got == [(0, 0), (0, 1), (1, 0), (0, 2)]
    assert sink.recognised == 2
