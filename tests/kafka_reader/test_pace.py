import pytest

from kafka_reader.pace import Pace


class Clock:
    def __init__(self):
        self.now_s = 100.0
        self.slept_s = 0.0

    def __call__(self):
        return self.now_s

    def sleep(self, seconds):
        self.slept_s += seconds
        self.now_s += seconds


@pytest.fixture
def clock():
    return Clock()


def test_what_was_read_is_paid_for_with_time(clock):
    pace = Pace(1_000, clock, clock.sleep)

    for _ in range(5):
        pace.pay(2_000)

    assert clock.slept_s == pytest.approx(10.0)


def test_the_time_that_reading_took_counts(clock):
    pace = Pace(1_000, clock, clock.sleep)

    clock.now_s += 1.5
    pace.pay(2_000)

    assert clock.slept_s == pytest.approx(0.5)


def test_idle_time_is_not_saved_up_for_a_burst(clock):
    pace = Pace(1_000, clock, clock.sleep)
    clock.now_s += 60
    pace.pay(1_000)

    pace.pay(3_000)

    assert clock.slept_s == pytest.approx(3.0)


def test_without_a_cap_nobody_waits(clock):
    Pace(None, clock, clock.sleep).pay(10**12)

    assert clock.slept_s == 0
