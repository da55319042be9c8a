import pytest
from kafka.errors import KafkaConnectionError
from kafka.net.transport import KafkaTCPTransport

import kafka_reader.connection as _connection

ANSWER = b"the login was refused"


class Socket:
    """Has an answer, and then the end of the connection."""

    def __init__(self):
        self.parts = [ANSWER, b"", b""]

    def recv(self, _size):
        return self.parts.pop(0)


@pytest.fixture
def transport():
    """As connections have them; nothing of it but its socket is used in reading."""
    assert _connection.keep_last_answers
    made = KafkaTCPTransport.__new__(KafkaTCPTransport)
    made._sock = Socket()
    return made


def test_an_answer_that_comes_with_the_end_of_the_connection_is_read_and_the_end_afterwards(transport, monkeypatch):
    monkeypatch.setattr(KafkaTCPTransport, "__str__", lambda _: "transport")

    assert transport._sock_recv() == (ANSWER, None)
    data, error = transport._sock_recv()
    assert (data, type(error)) == (b"", KafkaConnectionError)
