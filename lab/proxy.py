"""A proxy in front of a broker's outside listener that can lose the answer to a Produce request on the wire.

The record is written, the acknowledgement never arrives: both connections are closed instead of passing it on.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass

_PRODUCE = 0
_LOCALHOST = "127.0.0.1"


class LostAnswers:
    """Whose acknowledgements are lost next: client id and how many, and what happens when the last of them is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: dict[str, int] = {}
        self._then: Callable[[], None] = lambda: None

    def lose(self, *client_ids: str, then: Callable[[], None] = lambda: None) -> None:
        """One acknowledgement of each; `then` is called when all are lost, before the clients can notice."""
        with self._lock:
            self._left.update(dict.fromkeys(client_ids, 1))
            self._then = then

    def is_lost(self, client_id: str) -> bool:
        """The answer that is on its way to this client shall not arrive."""
        with self._lock:
            if not self._left.get(client_id):
                return False
            self._left[client_id] -= 1
            is_last, then = not any(self._left.values()), self._then
        if is_last:
            then()
        return True


@dataclass(frozen=True, slots=True)
class Passed:
    """What went through: requests, and the bytes of the answers with their sizes in front."""

    requests: int = 0
    answered_bytes: int = 0

    def __add__(self, other: "Passed") -> "Passed":
        return Passed(self.requests + other.requests, self.answered_bytes + other.answered_bytes)

    def since(self, before: "Passed") -> "Passed":
        return Passed(self.requests - before.requests, self.answered_bytes - before.answered_bytes)


class Proxy:
    """Listens on one port and passes everything on to another, but for what is to be lost."""

    def __init__(self, port: int, broker_port: int, lost: LostAnswers) -> None:
        self._broker_port, self._lost = broker_port, lost
        self._counting, self.passed = threading.Lock(), Passed()
        self._listener = socket.create_server((_LOCALHOST, port))
        self._open: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, name=f"proxy-{port}", daemon=True).start()

    def stop(self) -> None:
        for each in self._open:
            _close(each)

    def _count(self, passed: Passed) -> None:
        with self._counting:
            self.passed += passed

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                broker = socket.create_connection((_LOCALHOST, self._broker_port), 5)
            except OSError:
                _close(client)
                continue
            broker.settimeout(None)
            self._open += [client, broker]
            producing: dict[int, str] = {}
            for target in (self._to_broker, self._to_client):
                threading.Thread(target=target, args=(client, broker, producing), daemon=True).start()

    def _to_broker(self, client: socket.socket, broker: socket.socket, producing: dict[int, str]) -> None:
        with contextlib.suppress(OSError):
            while frame := _frame(client):
                api_key, _version, correlation = struct.unpack_from(">hhi", frame, 4)
                if api_key == _PRODUCE:
                    producing[correlation] = _client_id(frame)
                self._count(Passed(requests=1))
                broker.sendall(frame)
        _close(client, broker)

    def _to_client(self, client: socket.socket, broker: socket.socket, producing: dict[int, str]) -> None:
        with contextlib.suppress(OSError):
            while frame := _frame(broker):
                (correlation,) = struct.unpack_from(">i", frame, 4)
                client_id = producing.pop(correlation, None)
                if client_id is not None and self._lost.is_lost(client_id):
                    break
                self._count(Passed(answered_bytes=len(frame)))
                client.sendall(frame)
        _close(client, broker)


def _client_id(frame: bytes) -> str:
    """Of a request's header, after size, key, version and correlation id."""
    (length,) = struct.unpack_from(">h", frame, 12)
    return frame[14 : 14 + max(0, length)].decode()


def _frame(source: socket.socket) -> bytes:
    """The next whole request or answer with its size; empty when the connection has ended."""
    head = _read(source, 4)
    return head + _read(source, struct.unpack(">i", head)[0]) if head else b""


def _read(source: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = source.recv(min(65_536, size - len(found)))
        if not part:
            return b""
        found += part
    return found


def _close(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
