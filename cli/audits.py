"""`tidemark jobs audit` and `jobs run`: an exact audit of a closed window, for people and schedulers.

The request is appended where every request stands. A resident session that holds the metrics runs it and this command
waits; where there is none, this command runs it itself.
"""

import argparse
import getpass
import json
import socket
import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from uuid import uuid4

from cli.audit_results import as_json, exit_code, progress
from cli.chosen import CommandError, add_settings_arguments, chosen_settings
from cli.part_log import log_to_file
from cli.stopping import stop_event
from dashboard.action_log import NotWritableError, append_row, open_log
from guarantees.audits import Job
from settings import PipelineSettings, Settings
from store.audit_requests import AuditRequest, Cancellation, RunState, cancel_row, request_row
from store.errors import StoreBusyError, StoreLockedError
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter, snapshot
from store.rows import python_rows

POLL_S = 0.5
TAKE_OVER_EVERY_S = 10.0  # a resident session that died comes back within that, or nobody runs the request

EXITS = (
    "Exit codes: 0 clean: all of the window was judged and nothing found (of a pipeline without a sink: clean of "
    "duplicates alone, losses are not observable); 1 found; 2 a mistake of the caller; 3 incomplete: not done, or "
    "nothing found and a part not judged, such as ids the group has not passed for long enough."
)

ALONE = (Job.DUPLICATES, Job.LOSSES, Job.ORDER, Job.CONTENT)

Row = Mapping[str, Any]


def add_audit(kinds: Any) -> None:
    """Describe `jobs audit` and `jobs run` to the command line."""
    audit = kinds.add_parser("audit", help="count duplicates and losses of a closed window exactly", epilog=EXITS)
    audit.set_defaults(job=Job.AUDIT)
    run = kinds.add_parser("run", help="one job over a closed window, exactly", epilog=EXITS)
    run.add_argument("job", type=Job, choices=ALONE, metavar=f"{{{','.join(ALONE)}}}")
    for command in (audit, run):
        add_settings_arguments(command)
        command.add_argument("--pipeline", required=True, help="its name in the settings")
        command.add_argument("--from", dest="begin", type=moment, required=True, metavar="TIME", help="ISO 8601, UTC")
        command.add_argument("--to", dest="end", type=moment, required=True, metavar="TIME", help="exclusive")
        command.add_argument("--who", help="whose wish it is (default: this user and host)")
        command.set_defaults(run=run_audit)


def moment(text: str) -> int:
    """Milliseconds since 1970; a time without a zone is UTC."""
    try:
        given = datetime.fromisoformat(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 2026-01-31T03:12:00Z") from exc
    return round((given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp() * 1000)


def run_audit(arguments: argparse.Namespace) -> int:
    """Ask, wait or work, and print one line of JSON. Exit codes: cli.audit_results."""
    settings = chosen_settings(arguments)
    declared(settings, arguments.pipeline)
    if arguments.begin >= arguments.end:
        raise CommandError("--from must be before --to")
    data_dir = Path(settings.store.data_dir)
    log_to_file(data_dir, "audit")
    who = arguments.who or f"{getpass.getuser()}@{socket.gethostname()}"
    request = AuditRequest(
        uuid4().hex, _now_ms(), who, arguments.job, arguments.pipeline, arguments.begin, arguments.end
    )
    stop = stop_event()
    try:
        log = open_log(data_dir, socket.gethostname(), "command")
        append_row(log, request_row(request))
    except NotWritableError as exc:
        raise CommandError(str(exc)) from exc
    try:
        _finish(settings, data_dir, request, log, stop)
    finally:
        log.close()
    return _print_result(data_dir, request.run_id)


def declared(settings: Settings, name: str) -> PipelineSettings:
    """The pipeline of that name, or the mistake with the nearest known one."""
    known = {pipeline.name: pipeline for pipeline in settings.pipelines}
    if name not in known:
        near = get_close_matches(name, known, n=1)
        raise CommandError(f"no pipeline is named {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return known[name]


def _finish(settings: Settings, data_dir: Path, request: AuditRequest, log: SegmentLog, stop: threading.Event) -> None:
    """Until the run is over, here or elsewhere; told to stop, it asks for the run to be cancelled and sees it end."""
    teller = Teller()
    cancel = threading.Thread(target=_cancel_when_told, args=(request, log, stop), daemon=True)
    cancel.start()
    next_try = 0.0
    while (row := run_row(data_dir, request.run_id)) is None or not RunState(row["state"]).is_over:
        if row is not None:
            teller.tell(row)
        if time.monotonic() >= next_try:
            _run_here(settings, data_dir, request.run_id, teller)
            next_try = time.monotonic() + TAKE_OVER_EVERY_S
        time.sleep(POLL_S)
    teller.tell(row)


def _run_here(settings: Settings, data_dir: Path, run_id: str, teller: "Teller") -> None:
    """Where nobody else writes the metrics."""
    try:
        metrics = MetricsWriter(data_dir / METRICS_FILE)
    except StoreLockedError:
        return
    # Imported here: PySpark costs a second that a command which only waits should not pay.
    from spark_jobs.audits.alone import run_alone
    from spark_jobs.java import NoJavaError

    with metrics:
        try:
            run_alone(settings, metrics, run_id, lambda run: teller.tell(run.row(_now_ms())))
        except NoJavaError as exc:
            raise CommandError(str(exc)) from exc


def _cancel_when_told(request: AuditRequest, log: SegmentLog, stop: threading.Event) -> None:
    stop.wait()
    append_row(log, cancel_row(Cancellation(uuid4().hex, _now_ms(), request.who, request.run_id)))


class Teller:
    """Says on stderr how far it is, each thing once."""

    def __init__(self) -> None:
        self._said = ""

    def tell(self, row: Row) -> None:
        if (line := progress(row)) != self._said:
            print(line, file=sys.stderr, flush=True)
            self._said = line


def run_row(data_dir: Path, run_id: str) -> Row | None:
    """What the metrics say of a run; None before it was seen, or while they stay locked."""
    try:
        rows = python_rows("audit_runs", snapshot(data_dir / METRICS_FILE, ["audit_runs"])["audit_runs"])
    except StoreBusyError:
        return None
    return next((row for row in rows if row["run_id"] == run_id), None)


def _print_result(data_dir: Path, run_id: str) -> int:
    tables = snapshot(data_dir / METRICS_FILE, ["audit_runs", "audit_ranges"])
    (run,) = [row for row in python_rows("audit_runs", tables["audit_runs"]) if row["run_id"] == run_id]
    ranges = [row for row in python_rows("audit_ranges", tables["audit_ranges"]) if row["run_id"] == run_id]
    print(json.dumps(as_json(run, ranges), sort_keys=True))
    return exit_code(run, ranges)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
