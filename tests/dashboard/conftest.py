"""Stores with known contents, and the page over them: in AppTest, and as a real server for the browser."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.dashboard import fixture_store, report_store
from tests.dashboard.report_store import Night

ROOT = Path(__file__).parents[2]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


# One for each module: what the story tells must still lie in the page's window when the last test of the run reads it.
@pytest.fixture(scope="module")
def believable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Settings of a store that stays fresh for ten minutes."""
    folder = tmp_path_factory.mktemp("believable")
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", now_ms(), quiet_minutes=10)
    return settings


# Its times are fixed, so it never grows old.
@pytest.fixture(scope="session")
def night(tmp_path_factory: pytest.TempPathFactory) -> Night:
    """A store of a night with an incident in it, and its reports in every format."""
    return report_store.build(tmp_path_factory.mktemp("night"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page over a believable store that stays fresh for the next minutes."""
    folder = tmp_path_factory.mktemp("served")
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", now_ms(), quiet_minutes=15)
    with running_page(settings) as address:
        yield address


@contextmanager
def running_page(settings: Path, **environment: str) -> Iterator[str]:
    """A server of the page over the store of a settings file, and its address."""
    port = free_port()
    server = start_page(settings, port, **environment)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_page(settings: Path, port: int, **environment: str) -> subprocess.Popen[bytes]:
    """A server of the page that answers; who starts it ends it."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    command += ["--server.port", str(port), "--server.address", "127.0.0.1"]
    with (settings.parent / "page.log").open("a") as log:
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment, "TIDEMARK_SETTINGS": str(settings)},
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until_healthy(f"http://127.0.0.1:{port}", server)
    except BaseException:
        server.kill()
        raise
    return server


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert server.poll() is None, "the page's server ended at once"
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.read(16).strip() == b"ok":  # any path answers 200: the body decides
                    return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the page's server did not answer within 60 s")
