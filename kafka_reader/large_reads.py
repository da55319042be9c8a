"""Bytes are taken from a connection in large pieces, and those of a large answer where they are to lie.

kafka-python 3.0.12 asks its socket for 4 KiB at a time, a call of the system for every few dozen records, and copies
what it was given into the answer that it is putting together. An answer of record batches has megabytes.
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

PIECE_BYTES = 64 * 1024

Receive = Callable[[Any], tuple[bytes, Exception | None]]


class LargePieces:
    """A socket that gives as much as a piece holds, however little is asked for; after `most` pieces no more."""

    def __init__(self, sock: Any, most: int | None) -> None:
        self._sock = sock
        self._left = most

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    def recv(self, _: int) -> bytes:
        if self._left is not None:
            if not self._left:
                raise BlockingIOError
            self._left -= 1
        data: bytes = self._sock.recv(PIECE_BYTES)
        return data


def in_large_pieces(receive: Receive, most: int | None = None) -> Receive:
    """The library's own receiving, with the socket under it reading more at once."""

    def received(transport: Any) -> tuple[bytes, Exception | None]:
        sock = transport._sock
        transport._sock = LargePieces(sock, most)
        try:
            return receive(transport)
        finally:
            transport._sock = sock

    return received


def into_the_answer(receive: Receive) -> Receive:
    """What belongs to an answer that has begun is received into it, all but its last byte.

    The rest, and whatever goes wrong, is left to the library's own receiving: with the last byte it finds the answer
    complete. Until then the connection is looked at only when all that is lacking has come, or as much as the system
    keeps for a socket: each look costs more than it takes to copy a hundred records.
    """

    def received(transport: Any) -> tuple[bytes, Exception | None]:
        parser = getattr(getattr(transport, "_protocol", None), "parser", None)
        if parser is None or not parser._receiving:
            return receive(transport)
        lacking = _filled(transport._sock, parser._rbuffer)
        with suppress(OSError):
            transport._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, max(1, lacking))
        return (b"", None) if lacking else receive(transport)

    return received


def _filled(sock: Any, answer: Any) -> int:
    """How many bytes have yet to come before the last one; 0 also where the library must look what is wrong."""
    with memoryview(answer) as buffer:
        while (lacking := len(buffer) - 1 - answer.tell()) > 0:
            try:
                got = sock.recv_into(buffer[answer.tell() :], lacking)
            except (BlockingIOError, InterruptedError):
                return lacking
            except OSError:
                return 0
            if not got:
                return 0
            answer.seek(answer.tell() + got)
    return 0


def read_in_large_pieces() -> None:
    """Once per process. After the first piece of an answer the rest is received into it.

    Not so with TLS, which has buffers of its own: what has come must be read to the end, and through them.
    """
    KafkaSSLTransport._sock_recv = in_large_pieces(KafkaSSLTransport._sock_recv)
    KafkaTCPTransport._sock_recv = into_the_answer(in_large_pieces(KafkaTCPTransport._sock_recv, most=1))
