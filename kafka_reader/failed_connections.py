"""A connection that could not be made leaves no open socket behind.

kafka-python 3.0.12 does not close the socket of an attempt that failed: its exception keeps it until Python looks for
cycles, which a collecting process does rarely. And it waits for ever for a TLS handshake with a broker that hangs. One
that is away is tried every second: files would run out.
"""

import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any

from kafka.net.inet import KafkaNetSocket
from kafka.net.transport import KafkaSSLTransport

HANDSHAKE_WITHIN_S = 10.0

Attempt = Callable[..., Awaitable[Any]]


def closing_what_failed(attempt: Attempt, socket_of: Callable[..., Any]) -> Attempt:
    """The attempt, with its socket closed where it fails."""

    async def attempted(*arguments: Any, **named: Any) -> Any:
        try:
            return await attempt(*arguments, **named)
        except BaseException:
            socket_of(*arguments).close()
            raise

    return attempted


def handshake_in_time(within_s: float) -> Attempt:
    """As the library's own, with an end."""

    async def shaken(transport: Any) -> None:
        timeout_at = time.monotonic() + within_s
        while True:
            try:
                transport._sock.do_handshake()
            except ssl.SSLWantReadError:
                await transport._net.wait_read(transport._sock, timeout_at=timeout_at)
            except ssl.SSLWantWriteError:
                await transport._net.wait_write(transport._sock, timeout_at=timeout_at)
            else:
                return

    return shaken


def close_failed_connections() -> None:
    """Once per process."""
    KafkaNetSocket.sock_connect = closing_what_failed(KafkaNetSocket.sock_connect, lambda _self, _net, sock, *_: sock)
    shaken = handshake_in_time(HANDSHAKE_WITHIN_S)
    KafkaSSLTransport.handshake = closing_what_failed(shaken, lambda transport: transport._sock)
