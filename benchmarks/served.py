"""A Streamlit server in its own process, and what it uses: read from /proc, so on Linux."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Served:
    """A server that answers at `address`."""

    address: str
    pid: int

    def cpu_s(self) -> float:
        """CPU time so far, s: user and system."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS

    def resident_mib(self) -> float:
        """Resident memory now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


@contextmanager
def served(script: Path, log: Path, **environment: str) -> Iterator[Served]:
    """The script's server, ended by its handle afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    paths = {"PYTHONPATH": str(ROOT)}
    with log.open("w") as out:
        server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **paths, **environment}, stdout=out, stderr=out)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(address, server)
            yield Served(address, server.pid)
        finally:
            server.terminate()
            server.wait(timeout=20)


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended at once with {server.returncode}")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.read(16).strip() == b"ok":
                    return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the server did not answer within two minutes")
