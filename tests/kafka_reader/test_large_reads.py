"""What a connection brings is taken in large pieces, by the library's own receiving."""

import socket
from types import SimpleNamespace

import pytest
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

from kafka_reader.large_reads import PIECE_BYTES, in_large_pieces


class CountedSocket:
    """The real one, and what was asked of it."""

    def __init__(self, sock):
        self.sock, self.asked = sock, []

    def recv(self, size):
        self.asked.append(size)
        return self.sock.recv(size)


@pytest.mark.parametrize("kind", [KafkaTCPTransport, KafkaSSLTransport])
def test_all_that_has_arrived_is_read_in_pieces_of_a_megabyte(kind):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 400_000)
        theirs.sendall(b"x" * 100_000)
        ours.setblocking(False)
        transport = SimpleNamespace(_sock=CountedSocket(ours))

        data, error = kind._sock_recv(transport)

    assert (data, error) == (b"x" * 100_000, None)
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
