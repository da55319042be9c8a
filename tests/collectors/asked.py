"""A request that Tidemark itself may not send, put to a real broker over a connection of its own."""

import socket
import struct
from typing import Any


def ask(address: str, request: Any, answered_by: type, version: int = 0) -> Any:
    """The broker's answer; `address` is its host and port."""
    request.API_VERSION = version
    request.with_header(correlation_id=1, client_id="tests")
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), 15) as connection, connection.makefile("rb") as answers:
        connection.sendall(bytes(request.encode(header=True, framed=True)))
        (size,) = struct.unpack(">i", answers.read(4))
        return answered_by.decode(answers.read(size), version=version, header=True)
