"""Ports for the cluster's listeners."""

import random
import socket
from contextlib import ExitStack

from lab.errors import LabError

# Below the range from which Linux gives ports to outgoing connections (32768 and up): a client that keeps trying to
# reach a stopped broker could otherwise be given, or even connect to, that very port.
_FIRST, _LAST = 20_000, 32_000
_ATTEMPTS = 200


def free_ports(count: int) -> list[int]:
    """Ports of the loopback address nobody listens on; all are held until all are found, so they differ."""
    found: list[int] = []
    with ExitStack() as held:
        for port in random.sample(range(_FIRST, _LAST), _ATTEMPTS):
            listener = held.enter_context(socket.socket())
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
            if len(found) == count:
                return found
    raise LabError(f"{count} free ports between {_FIRST} and {_LAST} were not found: stop other local servers.")


def is_listening(port: int) -> bool:
    """Somebody accepts connections on this port of the loopback address."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0
