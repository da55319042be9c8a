"""A client, the proxy, and a broker in a thread that answers every request with nothing but its correlation id."""

import socket
import struct
import threading

import pytest

from lab.ports import free_ports
from lab.proxy import LostAnswers, Proxy

PRODUCE, METADATA = 0, 3


def request(api_key, correlation, client_id="app"):
    body = struct.pack(">hhih", api_key, 9, correlation, len(client_id)) + client_id.encode() + b"payload"
    return struct.pack(">i", len(body)) + body


def answer_of(connection):
    """The correlation id of the next answer; None when the connection ended instead."""
    head = connection.recv(4)
    if not head:
        return None
    body = connection.recv(struct.unpack(">i", head)[0])
    return struct.unpack_from(">i", body)[0]


@pytest.fixture
def broker():
    """What it was asked, in order, and its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    asked = []

    def serve(connection):
        while head := connection.recv(4):
            body = connection.recv(struct.unpack(">i", head)[0])
            api_key, _version, correlation = struct.unpack_from(">hhi", body)
            asked.append((api_key, correlation))
            connection.sendall(struct.pack(">ii", 4, correlation))

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield asked, listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@pytest.fixture
def lost(broker):
    return LostAnswers()


@pytest.fixture
def connect(broker, lost):
    (port,) = free_ports(1)
    proxy = Proxy(port, broker[1], lost)
    opened = []

    def connected():
        opened.append(socket.create_connection(("127.0.0.1", port), 5))
        return opened[-1]

    yield connected
    for each in opened:
        each.close()
    proxy.stop()


def test_everything_passes_that_is_not_to_be_lost(connect, broker):
    client = connect()
    for correlation, api_key in enumerate((METADATA, PRODUCE)):
        client.sendall(request(api_key, correlation))
        assert answer_of(client) == correlation
    assert broker[0] == [(METADATA, 0), (PRODUCE, 1)]


def test_one_answer_is_lost_though_the_broker_had_the_request_and_the_next_one_arrives(connect, broker, lost):
    lost.lose("app")
    client = connect()
    client.sendall(request(PRODUCE, 7))
    assert answer_of(client) is None

    again = connect()
    again.sendall(request(PRODUCE, 8))
    assert answer_of(again) == 8
    assert broker[0] == [(PRODUCE, 7), (PRODUCE, 8)]


def test_other_clients_and_other_requests_lose_nothing(connect, lost):
    lost.lose("app")
    other = connect()
    other.sendall(request(PRODUCE, 1, "another"))
    assert answer_of(other) == 1
    client = connect()
    client.sendall(request(METADATA, 2))
    assert answer_of(client) == 2


def test_what_shall_happen_happens_when_the_last_of_several_answers_is_lost(connect, lost):
    happened = []
    lost.lose("app", "second", then=lambda: happened.append(True))
    for client_id, so_far in (("app", []), ("second", [True])):
        client = connect()
        client.sendall(request(PRODUCE, 1, client_id))
        assert answer_of(client) is None
        assert happened == so_far
