"""`tidemark up`: the four parts and the page, watched and restarted until Ctrl-C."""

import argparse
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from cli.chosen import CommandError, add_settings_arguments, chosen_environment, environment_settings
from cli.part_log import log_to_file
from cli.parts import part_environment, parts
from cli.stopping import stop_event
from cli.supervisor import Record, Supervisor
from settings import PageSettings
from store.log import SegmentLog
from store.segments import producer_name

PAGE_WITHIN_S = 60.0


def add_to(commands: Any) -> None:
    """Describe `up` to the command line."""
    command = commands.add_parser("up", help="start collectors, jobs, maintenance and the page")
    add_settings_arguments(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Start everything; returns when told to stop."""
    chosen = chosen_environment(arguments)
    settings = environment_settings(chosen)
    refuse_taken_port(settings.page)
    data_dir = Path(settings.store.data_dir)
    logs = log_to_file(data_dir, "up").parent
    stop = stop_event()
    events = SegmentLog(data_dir, producer_name(socket.gethostname(), "up"))
    threading.Thread(target=announce, args=(settings.page, data_dir, stop), daemon=True).start()
    try:
        environment = part_environment(os.environ, chosen)
        Supervisor(parts(settings.page), environment, logs, recorder(events)).run(stop)
    finally:
        events.close()
    return 0


def recorder(events: SegmentLog) -> Record:
    """Write each part's starts, deaths and stops to the store, where the page reads them."""

    def record(part: str, event: str, pid: int, exit_code: int | None, restarts: int, message: str) -> None:
        row = {
            "part": part,
            "observed_at": time.time_ns() // 1_000_000,
            "event": event,
            "pid": pid,
            "exit_code": exit_code,
            "restarts": restarts,
            "message": message or None,
        }
        events.append("part_events", [row])

    return record


def refuse_taken_port(page: PageSettings) -> None:
    """Say so at once when another program listens on the page's port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((page.address, page.port))
        except OSError as exc:
            raise CommandError(
                f"the page's port {page.address}:{page.port} cannot be used ({exc.strerror}); "
                "stop the program that has it, or set [page] port in tidemark.toml"
            ) from exc


def announce(page: PageSettings, data_dir: Path, stop: threading.Event) -> None:
    """Print the page's address once it answers, or where to look when it does not."""
    address = f"http://{page.address}:{page.port}"
    deadline = time.monotonic() + PAGE_WITHIN_S
    while not stop.is_set() and time.monotonic() < deadline:
        if answers(f"{address}/_stcore/health"):
            print(f"Tidemark: {address}   (logs: {data_dir / 'logs'}; Ctrl-C stops everything)", flush=True)
            return
        stop.wait(0.3)
    if not stop.is_set():
        print(
            f"Tidemark: the page did not answer within {PAGE_WITHIN_S:.0f} s; see {data_dir / 'logs'}", file=sys.stderr
        )


def answers(url: str) -> bool:
    """Whether Streamlit says `ok` there; an unknown path answers 200 with a page, so the body decides."""
    try:
        with urllib.request.urlopen(url, timeout=1) as response:
            return bool(response.read(16).strip() == b"ok")
    except (urllib.error.URLError, OSError):
        return False
