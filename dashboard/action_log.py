"""Operator actions in the store, the only thing a page adds to it: under its own producer name, never changed."""

import time
from dataclasses import replace
from pathlib import Path

from dashboard.actions import Action, row
from store.errors import StoreError, StoreLockedError
from store.log import SegmentLog
from store.reading import read
from store.rows import Row, python_rows
from store.segments import producer_name

TABLE = "operator_actions"
PAGES = 8  # processes of one role that may write to one data directory from one host


class NotWritableError(Exception):
    """The page cannot write; the message says why in one sentence."""


def open_log(data_dir: Path, host: str, role: str = "dashboard") -> SegmentLog:
    """This process's end of the log. Another page of the same host has the first name: then the next free one.

    Raises NotWritableError where every name is taken, or the data directory cannot be written.
    """
    for number in range(1, PAGES + 1):
        try:
            return SegmentLog(data_dir, producer_name(host, role if number == 1 else f"{role}_{number}"))
        except StoreLockedError:
            continue
        except OSError as exc:
            raise NotWritableError(_not_writable(exc)) from exc
    raise NotWritableError(f"{PAGES} pages of this host already write to this data directory: close one of them.")


def append(log: SegmentLog, action: Action) -> None:
    """Store the action as done now; after return it is on the disk. Raises NotWritableError."""
    append_row(log, row(replace(action, at_ms=time.time_ns() // 1_000_000)))


def append_row(log: SegmentLog, action: Row) -> None:
    """Store a row of operator_actions; after return it is on the disk. Raises NotWritableError."""
    try:
        log.append(TABLE, [action])
    except (OSError, StoreError) as exc:
        raise NotWritableError(_not_writable(exc)) from exc


def load(data_dir: Path) -> list[dict[str, object]]:
    """Every action ever stored."""
    return python_rows(TABLE, read(data_dir, TABLE))


def _not_writable(error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"The data directory cannot be written ({why}). Nothing was stored; reading goes on."
