import os
import signal
import sys
import threading
import time

import pytest

from cli.parts import Part
from cli.supervisor import Supervisor

SLEEPS = (sys.executable, "-c", "import time; time.sleep(60)")
FAILS = (sys.executable, "-c", "print('last words'); raise SystemExit(3)")


class Watched:
    """A supervisor in a thread, and what it recorded."""

    def __init__(self, output_dir, *parts):
        self.events = []
        self.stop = threading.Event()
        supervisor = Supervisor(parts, dict(os.environ), output_dir, self.record)
        self.thread = threading.Thread(target=supervisor.run, args=(self.stop,))

    def record(self, *event):
        self.events.append(event)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(20)

    def wait_for(self, event, count=1):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if len(found := [e for e in self.events if e[1] == event]) >= count:
                return found
            time.sleep(0.02)
        pytest.fail(f"{event} was not recorded {count} times: {self.events}")
        return None


def exists(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_part_that_is_killed_comes_back_and_its_death_is_told(tmp_path):
    with Watched(tmp_path, Part("collect", SLEEPS)) as watched:
        (first,) = watched.wait_for("started")
        os.kill(first[2], signal.SIGKILL)
        _, second = watched.wait_for("started", 2)

        died = watched.wait_for("died")[0]

    assert died[3] == -signal.SIGKILL
    assert "killed by SIGKILL; starts again in 1 s" in died[5]
    assert second[2] != first[2]
    assert second[4] == 1


def test_stopping_leaves_no_part_running(tmp_path):
    with Watched(tmp_path, Part("collect", SLEEPS), Part("jobs", SLEEPS)) as watched:
        pids = [event[2] for event in watched.wait_for("started", 2)]

    assert not [pid for pid in pids if exists(pid)]
    assert [event[1] for event in watched.events[-2:]] == ["stopped", "stopped"]


def test_a_part_that_fails_at_once_says_with_which_code(tmp_path):
    with Watched(tmp_path, Part("jobs", FAILS)) as watched:
        (died,) = watched.wait_for("died")

    assert died[3] == 3
    assert "last words" in (tmp_path / "jobs.out").read_text()
    assert "ended with exit code 3" in died[5]


def test_a_part_that_ignores_the_request_to_stop_is_killed(monkeypatch, tmp_path):
    deaf = "import signal,sys,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    monkeypatch.setattr("cli.supervisor.STOP_WITHIN_S", 1.0)
    with Watched(tmp_path, Part("deaf", (sys.executable, "-c", deaf))) as watched:
        (started,) = watched.wait_for("started")
        time.sleep(0.5)

    assert not exists(started[2])
    assert watched.events[-1][3] == -signal.SIGKILL
