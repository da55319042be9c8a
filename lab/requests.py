"""Faults that somebody asks a running lab for: one small file each in its directory, renamed as it goes on."""

import json
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lab.paths import LabPaths


class State(StrEnum):
    """How far a request has come; also how its file ends."""

    WAITING = "request"
    RUNNING = "running"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Request:
    """`failure` says why the fault could not be injected; empty when it could, or while nobody knows yet."""

    name: str
    asked_at_ms: int
    state: State
    failure: str
    path: Path


def post(paths: LabPaths, name: str) -> Request:
    """Ask for a fault; the lab takes one after the other."""
    asked_at_ns = time.time_ns()
    path = paths.requests / f"{asked_at_ns}.{State.WAITING}"
    _write(path, name, "")
    return Request(name, asked_at_ns // 1_000_000, State.WAITING, "", path)


def all_requests(paths: LabPaths) -> list[Request]:
    """In the order in which they were asked for."""
    found = (path for path in paths.requests.glob("*") if path.suffix[1:] in set(State))
    return [_read(path) for path in sorted(found, key=lambda path: path.stem)]


def next_waiting(paths: LabPaths) -> Request | None:
    """The oldest one that nobody has taken up."""
    return next((each for each in all_requests(paths) if each.state is State.WAITING), None)


def taken_up(request: Request) -> Request:
    """From now on it is being injected."""
    return _moved(request, State.RUNNING, "")


def finished(request: Request, failure: str) -> Request:
    return _moved(request, State.DONE, failure)


def current(request: Request) -> Request:
    """How far it is now."""
    stages = (request.path.with_suffix(f".{state}") for state in (State.DONE, State.RUNNING, State.WAITING))
    return next((_read(path) for path in stages if path.exists()), request)


def _moved(request: Request, state: State, failure: str) -> Request:
    """The new file first: a reader that looks between the two sees it as it is now or as it was."""
    target = request.path.with_suffix(f".{state}")
    _write(target, request.name, failure)
    request.path.unlink()
    return Request(request.name, request.asked_at_ms, state, failure, target)


def _write(path: Path, name: str, failure: str) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"name": name, "failure": failure}))
    partial.replace(path)


def _read(path: Path) -> Request:
    fields = json.loads(path.read_text())
    return Request(fields["name"], int(path.stem) // 1_000_000, State(path.suffix[1:]), fields["failure"], path)
