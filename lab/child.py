"""A process the lab started: stopped by its handle, and never outliving the lab."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_TETHER = Path(__file__).with_name("tether.py")


class Child:
    """One child in a session of its own, so that Ctrl-C in the terminal reaches the lab alone, which stops it in order.

    Start children from a thread that lives as long as they should: Linux ties them to the thread, not to the process.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        environ: Mapping[str, str],
        *,
        orphaned_by: signal.Signals = signal.SIGKILL,
    ) -> None:
        """`orphaned_by` is what it gets when the lab vanishes: SIGTERM if it has processes of its own to end."""
        self.name = name
        self.log = log
        tether = [sys.executable, "-I", str(_TETHER), str(os.getpid()), str(int(orphaned_by))]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*tether, *command],
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        log.with_suffix(".pid").write_text(f"{self.pid}\n")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def wait(self, timeout_s: float) -> bool:
        """True when it has ended within the time."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def terminate(self) -> None:
        """Ask it to end; a paused process would not hear it, so it is resumed first."""
        self.resume()
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once; nothing it had not done yet happens any more."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def pause(self) -> None:
        """Returns once all its threads stand still: on a busy machine some go on for a while, and answer."""
        self._signal(signal.SIGSTOP)
        with suppress(ChildProcessError):  # it has ended
            os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self, timeout_s: float) -> None:
        """Ask first, then insist."""
        self.terminate()
        if not self.wait(timeout_s):
            self.kill()

    def last_words(self) -> str:
        """The last line it wrote that is not empty, for a sentence about its end."""
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1][:300] if lines else "no output"

    def _signal(self, number: signal.Signals) -> None:
        if self.is_running:
            self._process.send_signal(number)
