"""An answer that arrives together with the end of its connection is an answer.

kafka-python 3.0.12 reads until nothing is left and, where the end of the connection is among it, drops what came
before. A broker that refuses a login says why and hangs up: without this, the operator reads "socket disconnected".
"""

from collections.abc import Callable
from typing import Any

from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

Receive = Callable[[Any], tuple[bytes, Exception | None]]


def data_before_the_end(receive: Receive) -> Receive:
    """What was read, without the error that followed: the next read meets it again."""

    def received(transport: Any) -> tuple[bytes, Exception | None]:
        data, error = receive(transport)
        return (data, None) if data else (data, error)

    return received


def keep_last_answers() -> None:
    """Once per process."""
    for transport in (KafkaTCPTransport, KafkaSSLTransport):
        transport._sock_recv = data_before_the_end(transport._sock_recv)
