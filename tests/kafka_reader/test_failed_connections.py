"""Attempts that fail leave no file open, even while Python looks for no cycles."""

import gc
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from kafka.errors import KafkaTimeoutError
from kafka.net.selector import NetworkSelector

from kafka_reader.connection import Connections
from kafka_reader.errors import BrokerUnavailableError
from kafka_reader.failed_connections import closing_what_failed, handshake_in_time
from settings import Security

ATTEMPTS = 12


@pytest.fixture
def no_cycles_collected():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def address_of_nobody() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def asked_in_vain(address: str, security: Security) -> int:
    """How many more files are open after so many attempts."""
    with Connections(address, security, request_timeout_s=0.3) as connections:
        with pytest.raises(BrokerUnavailableError):
            connections.metadata()
        before = open_files()
        for _ in range(ATTEMPTS):
            connections._manager.reset_backoff("bootstrap-0")
            with pytest.raises(BrokerUnavailableError):
                connections.metadata()
        return open_files() - before


def test_a_broker_that_refuses_connections_costs_no_open_files(no_cycles_collected):
    assert asked_in_vain(address_of_nobody(), Security()) < ATTEMPTS / 2


def test_a_broker_that_hangs_up_on_tls_costs_no_open_files(no_cycles_collected):
    with refusing() as address:
        assert asked_in_vain(address, Security(protocol="SSL")) < ATTEMPTS / 2


def test_a_tls_handshake_that_nobody_answers_ends_and_closes_its_socket():
    net, (ours, theirs) = NetworkSelector(), socket.socketpair()
    ours.setblocking(False)
    net.start()
    try:
        transport = SimpleNamespace(_net=net, _sock=ssl.create_default_context().wrap_socket(
            ours, server_hostname="nobody", do_handshake_on_connect=False))  # fmt: skip
        with pytest.raises(KafkaTimeoutError):
            net.run(closing_what_failed(handshake_in_time(0.2), lambda one: one._sock), transport)
        assert transport._sock.fileno() == -1
    finally:
        net.close()
        theirs.close()


@contextmanager
def refusing():
    """Takes every connection and closes it at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=hang_up, args=(server,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def hang_up(server):
    with suppress(OSError):
        while True:
            server.accept()[0].close()
