"""A part runs until it is told to stop: SIGTERM or Ctrl-C sets an event, the part ends its round and closes."""

import signal
import threading
from types import FrameType


def stop_event() -> threading.Event:
    """An event that SIGTERM and SIGINT set; to be made in the main thread."""
    stop = threading.Event()

    def ask_to_stop(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, ask_to_stop)
    signal.signal(signal.SIGINT, ask_to_stop)
    return stop
