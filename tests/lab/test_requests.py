"""How a fault is asked for in a lab that runs, and what comes back."""

import json
import os
import threading
import time

import pytest

from lab.errors import LabError
from lab.faults.catalogue import BESIDE_THE_WORKLOAD, INJECTABLE, mended
from lab.paths import LabPaths
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
    while not (found := list(paths.requests.glob("*.request"))):
        time.sleep(0.01)
    assert found[0].read_text() == "S7"
    found[0].unlink()
    found[0].with_suffix(".done").write_text(failure)


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
    assert list(paths.requests.iterdir()) == []


def test_only_faults_that_make_sense_beside_the_workload_can_be_asked_for():
    assert {"S7", "S11", "S18"} <= set(BESIDE_THE_WORKLOAD)
    assert not {"S3", "S4", "S5", "S6", "C1", "C7"} & set(INJECTABLE)


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
