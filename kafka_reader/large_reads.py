"""Bytes are taken from a connection in large pieces: an answer of record batches has megabytes.

kafka-python 3.0.12 asks its socket for 4 KiB at a time: a call of the system for every few dozen records.
"""

from collections.abc import Callable
from typing import Any

from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

PIECE_BYTES = 1024 * 1024

Receive = Callable[[Any], tuple[bytes, Exception | None]]


class LargePieces:
    """A socket that gives as much as a piece holds, however little is asked for."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    def recv(self, _: int) -> bytes:
        data: bytes = self._sock.recv(PIECE_BYTES)
        return data


def in_large_pieces(receive: Receive) -> Receive:
    """The library's own receiving, with the socket under it reading more at once."""

    def received(transport: Any) -> tuple[bytes, Exception | None]:
        sock = transport._sock
        transport._sock = LargePieces(sock)
        try:
            return receive(transport)
        finally:
            transport._sock = sock

    return received


def read_in_large_pieces() -> None:
    """Once per process."""
    for transport in (KafkaTCPTransport, KafkaSSLTransport):
        transport._sock_recv = in_large_pieces(transport._sock_recv)
