"""The whole path at once: real failures on a real cluster, found with the right counts though every part is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from store.reading import read

ROOT = Path(__file__).parents[1]
PARTS = ("collect", "maintain", "jobs", "page")
STORY_WITHIN_S = 600.0


def part_events(lab_directory):
    return read(lab_directory / "data", "part_events").to_pylist()


def started(events, part):
    return [event for event in events if event["part"] == part and event["event"] == "started"]


def wait_until(holds, what, within_s=240.0):
    deadline = time.monotonic() + within_s
    while not (found := holds()):
        assert time.monotonic() < deadline, f"{what} within {within_s:.0f} s"
        time.sleep(1)
    return found


@pytest.fixture
def story(tmp_path):
    """`python -m lab story --check`, with its directories below `tmp_path`, and what it prints."""
    output = tmp_path / "story.out"
    with output.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "lab", "story", "--check"],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        yield process, output
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(60)


@pytest.mark.integration
@pytest.mark.spark
@pytest.mark.timeout(STORY_WITHIN_S + 60)
def test_the_story_is_found_with_the_right_counts_although_every_part_is_killed(story, tmp_path):
    process, output = story
    wait_until(lambda: "dies before it processes" in output.read_text(), "the third fault")
    (lab_directory,) = tmp_path.glob("tidemark-lab-*")
    for part in PARTS:
        os.kill(started(part_events(lab_directory), part)[-1]["pid"], signal.SIGKILL)

    def all_back():
        events = part_events(lab_directory)
        return all(len(started(events, part)) == 2 for part in PARTS) and events

    events = wait_until(all_back, "every part comes back", within_s=30)
    process.wait(STORY_WITHIN_S)

    assert process.returncode == 0, output.read_text()
    died = [event for event in events if event["event"] == "died"]
    assert sorted(event["part"] for event in died) == sorted(PARTS)
    assert {event["exit_code"] for event in died} == {-signal.SIGKILL}
