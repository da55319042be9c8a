"""Answers kept for all sessions: made once, also for those who ask at the same time; a failure is asked again."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from dashboard.remembered import as_key, remembered


def test_who_asks_while_an_answer_is_made_waits_for_that_one():
    made, may_end = [], Event()

    @remembered(4)
    def slow(name):
        made.append(name)
        may_end.wait(10)
        return name.upper()

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(slow, "orders") for _ in range(4)]
        may_end.set()
        answers = [one.result(10) for one in asked]

    assert answers == ["ORDERS"] * 4
    assert made == ["orders"]


def test_an_answer_may_ask_for_another_of_the_same_kind():
    @remembered(4)
    def sum_up_to(number):
        return number + sum_up_to(number - 1) if number else 0

    assert sum_up_to(3) == 6


def test_a_failure_is_not_kept():
    asked = []

    @remembered(4)
    def failing_once():
        asked.append(1)
        if len(asked) == 1:
            raise OSError("the store is busy")
        return "answered"

    with pytest.raises(OSError, match="busy"):
        failing_once()
    assert failing_once() == "answered"


def test_more_answers_than_are_kept_are_made_again():
    made = []

    @remembered(2)
    def answer(number):
        made.append(number)
        return number

    for number in (1, 2, 3, 3, 1):
        answer(number)

    assert made == [1, 2, 3, 1]


def test_lists_among_the_parameters_count_by_what_they_hold():
    assert as_key({"groups": ["a", "b"], "since_ms": 1}) == as_key({"since_ms": 1, "groups": ["a", "b"]})
    assert as_key({"groups": ["a", "b"]}) != as_key({"groups": ["b"]})
