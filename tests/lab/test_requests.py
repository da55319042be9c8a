"""How a fault is asked for in a lab that runs, and what comes back."""

import json
import os
import threading
import time

import pytest

from lab.errors import LabError
from lab.faults.catalogue import BESIDE_THE_WORKLOAD, INJECTABLE, mended
from lab.paths import LabPaths
from lab.requests import State, all_requests, current, finished, next_waiting, post, taken_up
from lab.running import request_fault
from tests.lab.builders import expected, injected


@pytest.fixture
def paths(tmp_path):
    found = LabPaths(tmp_path)
    found.create()
    found.running.write_text(json.dumps({"pid": os.getpid(), "bootstrap": "127.0.0.1:1"}))
    return found


def answer(paths, failure):
    """A lab that does what it is asked, or says why not."""
    while (found := next_waiting(paths)) is None:
        time.sleep(0.01)
    assert found.name == "S7"
    finished(taken_up(found), failure)


@pytest.mark.parametrize("failure", ["", "no broker came back"])
def test_who_asks_for_a_fault_learns_whether_it_was_injected(paths, failure):
    lab = threading.Thread(target=answer, args=(paths, failure))
    lab.start()
    if failure:
        with pytest.raises(LabError, match=f"S7 could not be injected: {failure}"):
            request_fault(paths, "S7")
    else:
        request_fault(paths, "S7")
    lab.join()
    assert [(each.name, each.state, each.failure) for each in all_requests(paths)] == [("S7", State.DONE, failure)]


def test_requests_are_taken_in_the_order_in_which_they_were_asked_and_each_says_how_far_it_is(paths):
    first, second = post(paths, "S7"), post(paths, "S11")
    assert next_waiting(paths).name == "S7"
    running = taken_up(first)

    assert (current(first).state, current(second).state) == (State.RUNNING, State.WAITING)
    assert next_waiting(paths).name == "S11"
    finished(running, "")
    assert current(first).state is State.DONE
    assert [each.asked_at_ms for each in all_requests(paths)] == [first.asked_at_ms, second.asked_at_ms]


def test_only_faults_that_make_sense_beside_the_workload_can_be_asked_for():
    assert {"S7", "S11", "S18"} <= set(BESIDE_THE_WORKLOAD)
    assert not {"S1", "S6", "S19", "C1", "C7"} & set(INJECTABLE)


def test_a_fault_after_which_nothing_is_to_be_mended_is_over_at_once():
    class Harmless:
        CODE, TITLE, BREAKS, SILENT, ALONE = "S0", "a", "b", "c", False

        def inject(self, ground):
            return injected(expected())

    assert mended(Harmless(), None, injected(expected())).recovered_at_ms is not None


def test_what_mends_a_fault_tells_the_whole_truth():
    class Mended:
        CODE, TITLE, BREAKS, SILENT, ALONE = "S0", "a", "b", "c", False

        def inject(self, ground):
            return injected(expected())

        def recover(self, ground, told):
            return injected(expected(count=9))

    assert mended(Mended(), None, injected(expected())).expected[0].count == 9
