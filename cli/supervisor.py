"""Starts the parts, restarts one that dies, stops all of them by their handles, and tells of each of these events."""

import ctypes
import logging
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cli.parts import ROOT, Part, deaths_in_a_row, restart_delay_s

log = logging.getLogger(__name__)

POLL_S = 0.2
STOP_WITHIN_S = 15.0
PR_SET_PDEATHSIG = 1

# (part, event, pid, exit code, restarts, message)
Record = Callable[[str, str, int, int | None, int, str], None]


@dataclass(slots=True)
class _Running:
    part: Part
    process: subprocess.Popen[bytes] | None = None
    started_at_s: float = 0.0
    start_again_at_s: float = 0.0
    deaths: int = 0
    restarts: int = 0


@dataclass(slots=True)
class Supervisor:
    """Keeps the parts running until `stop` is set. `record` is told of every start, death and stop.

    What a part prints, its last words above all, goes to `<part>.out` in `output_dir`, anew at each start of `up`.
    """

    parts: Sequence[Part]
    environment: Mapping[str, str]
    output_dir: Path
    record: Record
    running: list[_Running] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        """Start everything, look after it, and stop it by its handles when told to."""
        self.running = [_Running(part) for part in self.parts]
        try:
            while not stop.is_set():
                for running in self.running:
                    self._look_after(running, time.monotonic())
                stop.wait(POLL_S)
        finally:
            self._stop_all()

    def _look_after(self, running: _Running, now_s: float) -> None:
        if running.process is None:
            if now_s >= running.start_again_at_s:
                self._start(running, now_s)
        elif running.process.poll() is not None:
            self._bury(running, now_s)

    def _start(self, running: _Running, now_s: float) -> None:
        with (self.output_dir / f"{running.part.name}.out").open("ab" if running.restarts else "wb") as output:
            running.process = subprocess.Popen(
                running.part.command,
                cwd=ROOT,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Ctrl-C reaches this process alone, which then stops the parts in order.
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        running.started_at_s = now_s
        self.record(running.part.name, "started", running.process.pid, None, running.restarts, "")

    def _bury(self, running: _Running, now_s: float) -> None:
        process = running.process
        assert process is not None
        running.deaths = deaths_in_a_row(running.deaths, now_s - running.started_at_s)
        delay_s = restart_delay_s(running.deaths)
        running.process, running.start_again_at_s = None, now_s + delay_s
        running.restarts += 1
        message = f"{_how_it_ended(process.returncode)}; starts again in {delay_s:.0f} s"
        log.warning("part %s %s", running.part.name, message)
        self.record(running.part.name, "died", process.pid, process.returncode, running.restarts, message)

    def _stop_all(self) -> None:
        alive = [running for running in self.running if running.process is not None]
        for running in alive:
            _signal(running.process, signal.SIGTERM)
        deadline_s = time.monotonic() + STOP_WITHIN_S
        for running in alive:
            self._stopped(running, deadline_s)

    def _stopped(self, running: _Running, deadline_s: float) -> None:
        process = running.process
        assert process is not None
        try:
            process.wait(max(0.1, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            _signal(process, signal.SIGKILL)
            process.wait()
        self.record(running.part.name, "stopped", process.pid, process.returncode, running.restarts, "")


def _signal(process: subprocess.Popen[bytes] | None, number: int) -> None:
    if process is not None and process.poll() is None:
        process.send_signal(number)


def _how_it_ended(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def _die_with_parent() -> None:
    """A part must not outlive `up`, even one that was killed: Linux sends it SIGTERM (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
