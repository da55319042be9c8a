"""What a connection brings is taken in large pieces, by the library's own receiving."""

import socket
from types import SimpleNamespace

import pytest
from kafka.errors import KafkaConnectionError
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport
from kafka.protocol.consumer import FetchRequest
from kafka.protocol.parser import KafkaProtocol

import kafka_reader.connection as _connection  # noqa: F401 — it changes the library's receiving
from kafka_reader.large_reads import PIECE_BYTES, in_large_pieces
from kafka_reader.undecoded import Prepared, Uncopied


class CountedSocket:
    """The real one, and what was asked of it."""

    def __init__(self, sock):
        self.sock, self.asked = sock, []

    def recv(self, size):
        self.asked.append(size)
        return self.sock.recv(size)

    def __getattr__(self, name):
        return getattr(self.sock, name)


@pytest.mark.parametrize(("kind", "read"), [(KafkaSSLTransport, 100_000), (KafkaTCPTransport, PIECE_BYTES)])
def test_with_tls_all_that_has_come_is_read_in_large_pieces_and_without_it_the_first(kind, read):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 400_000)
        theirs.sendall(b"x" * 100_000)
        ours.setblocking(False)
        transport = SimpleNamespace(_sock=CountedSocket(ours))

        data, error = kind._sock_recv(transport)

    assert (data, error) == (b"x" * read, None)
    assert set(transport._sock.asked) == {PIECE_BYTES}
    assert len(transport._sock.asked) <= 4


def test_the_socket_is_the_librarys_own_again_when_receiving_breaks():
    transport = SimpleNamespace(_sock=SimpleNamespace(name="its own"))

    def broken(given):
        assert given._sock.name == "its own"
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        in_large_pieces(broken)(transport)
    assert transport._sock == SimpleNamespace(name="its own")


class Receiver:
    """A connection of the library's over a socket, whose one request was sent: what it makes of the bytes."""

    def __init__(self, sock):
        request = Prepared(FetchRequest(version=13), answered=Uncopied)
        request.API_VERSION = 13
        self.parser = KafkaProtocol()
        self.parser.send_request(request)
        self.transport = SimpleNamespace(_sock=sock, _protocol=self)
        self.found, self.error = [], None

    def wait(self):
        """As the transport does whenever the socket has something."""
        data, self.error = KafkaTCPTransport._sock_recv(self.transport)
        self.found += self.parser.receive_bytes(data)


def framed(answer):
    body = (1).to_bytes(4, "big") + b"\0" + answer  # correlation id, no tagged fields
    return len(body).to_bytes(4, "big") + body


ANSWER = bytes(range(256)) * 2000


@pytest.mark.parametrize("pieces", [
    [len(framed(ANSWER))],
    [3, 1, 1, 100, 200_000],
    [4, len(framed(ANSWER)) - 5],
    [9, len(framed(ANSWER)) - 10, 1],
], ids=["at once", "little by little", "all but the last byte", "the last byte by itself"])  # fmt: skip
def test_an_answer_is_the_same_in_whatever_pieces_it_arrives(pieces):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2_000_000)
        receiver, sent = Receiver(ours), framed(ANSWER)
        for size in [*pieces, len(sent)]:
            theirs.sendall(sent[:size])
            sent = sent[size:]
            receiver.wait()
        assert ours.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT) == 1, "the next answer may be a small one"

    ((_, answer),) = receiver.found
    assert bytes(answer.data) == ANSWER
    assert receiver.error is None


def test_a_large_answer_is_received_where_it_is_to_lie():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2_000_000)
        sock = CountedSocket(ours)
        receiver, sent = Receiver(sock), framed(ANSWER)
        theirs.sendall(sent[:10])
        receiver.wait()
        asked = len(sock.asked)
        theirs.sendall(sent[10:-5])
        receiver.wait()

    assert receiver.found == []
    assert len(sock.asked) == asked, "the library's own receiving was not needed"


def test_two_answers_that_arrive_together_are_two():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        receiver = Receiver(ours)
        second = Prepared(FetchRequest(version=13), answered=Uncopied)
        second.API_VERSION = 13
        receiver.parser.send_request(second)
        sent = framed(b"1234one") + framed(b"1234two").replace(b"\0\0\0\1\0", b"\0\0\0\2\0")
        theirs.sendall(sent[:6])
        receiver.wait()
        theirs.sendall(sent[6:])
        receiver.wait()
        receiver.wait()

    assert [bytes(answer.data) for _, answer in receiver.found] == [b"1234one", b"1234two"]


def test_an_end_of_the_connection_within_an_answer_is_an_error():
    ours, theirs = socket.socketpair()
    with ours:
        ours.setblocking(False)
        receiver = Receiver(ours)
        theirs.sendall(framed(ANSWER)[:1000])
        receiver.wait()
        theirs.close()
        receiver.wait()

    assert isinstance(receiver.error, KafkaConnectionError)
    assert receiver.found == []
