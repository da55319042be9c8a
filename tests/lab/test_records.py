from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from lab import records


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only while somebody sleeps."""
    now = [0.0]
    passing = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(records, "time", passing)  # of this module alone: other threads sleep too
    return now


def failing(times):
    left = [times]

    def ask():
        left[0] -= 1
        if left[0] >= 0:
            raise KafkaException(KafkaError(KafkaError.NOT_COORDINATOR))
        return "answer"

    return ask


def test_a_coordinator_that_moves_is_asked_again(clock):
    assert records.patiently(failing(3)) == "answer"
    assert clock[0] == 1.5


def test_patience_ends(clock):
    with pytest.raises(KafkaException):
        records.patiently(failing(1_000))
    assert 60 <= clock[0] < 62
