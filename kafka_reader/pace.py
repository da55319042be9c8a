"""A cap on bytes a second for whoever reads records: what was read is paid for with time before the next is read."""

import time
from collections.abc import Callable


class Pace:
    """For one reading at a time; `bytes_per_s` None: no cap."""

    def __init__(
        self,
        bytes_per_s: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._bytes_per_s = bytes_per_s
        self._clock, self._sleep = clock, sleep
        self._paid_until_s = clock()

    def pay(self, size_bytes: int) -> None:
        """Wait as long as reading so much may take at least; time in which nothing was read is not saved up."""
        if self._bytes_per_s is None:
            return
        now_s = self._clock()
        self._paid_until_s += size_bytes / self._bytes_per_s
        if self._paid_until_s > now_s:
            self._sleep(self._paid_until_s - now_s)
        else:
            self._paid_until_s = now_s
