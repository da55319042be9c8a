"""One holder per role: a lock on a file that the operating system drops when the process ends, however it ends."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from store.errors import StoreLockedError

_NUMBER_BYTES = 20


class RoleLock:
    """Held from construction to `close`; raises StoreLockedError at once where another holds it.

    The file keeps one number of the holder, written without a sync: it survives the process, not a power cut.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), "r+b", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            self._file.close()
            raise StoreLockedError(f"{path} is held by another process: only one may have this role") from exc

    def number(self) -> int:
        """The number kept last; 0 where there is none."""
        text = os.pread(self._file.fileno(), _NUMBER_BYTES, 0)
        return int(text) if text.isdigit() else 0

    def keep_number(self, number: int) -> None:
        os.pwrite(self._file.fileno(), f"{number:0{_NUMBER_BYTES}d}".encode(), 0)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
