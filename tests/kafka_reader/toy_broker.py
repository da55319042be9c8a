"""A broker on a real socket that knows three requests, counts what it is asked, and can fall silent."""

import socket
import struct
import threading
import time

from kafka.protocol.admin import ListGroupsResponse
from kafka.protocol.metadata import ApiVersionsResponse, MetadataResponse

SUPPORTED = {3: (0, 12), 16: (0, 5), 18: (0, 3)}


class ToyBroker:
    """While `is_silent` it accepts connections and requests, and answers nothing: a stopped process looks like that."""

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.members: list[ToyBroker] = [self]
        self.asked: list[int] = []
        self.connected = 0
        self.is_silent = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._accepted: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts, which else keeps listening
        self._listener.close()
        for connection in self._accepted:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connected += 1
            self._accepted.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            while size := connection.recv(4, socket.MSG_WAITALL):
                request = connection.recv(struct.unpack(">i", size)[0], socket.MSG_WAITALL)
                api_key, version, correlation_id = struct.unpack(">hhi", request[:8])
                self.asked.append(api_key)
                while self.is_silent:
                    time.sleep(0.01)
                connection.sendall(self._answer(api_key, version, correlation_id))
        except OSError:
            return

    def _answer(self, api_key: int, version: int, correlation_id: int) -> bytes:
        response = {3: self._metadata, 16: self._groups, 18: self._versions}[api_key](version)
        response.with_header(correlation_id)
        return bytes(response.encode(header=True, framed=True))

    def _versions(self, version: int) -> ApiVersionsResponse:
        keys = [
            ApiVersionsResponse.ApiVersion(api_key=key, min_version=low, max_version=high)
            for key, (low, high) in SUPPORTED.items()
        ]
        return ApiVersionsResponse(version=version, error_code=0, api_keys=keys)

    def _metadata(self, version: int) -> MetadataResponse:
        brokers = [
            MetadataResponse.MetadataResponseBroker(node_id=each.node_id, host="127.0.0.1", port=each.port, rack=None)
            for each in self.members
        ]
        return MetadataResponse(version=version, brokers=brokers, cluster_id="toy", controller_id=1, topics=[])

    def _groups(self, version: int) -> ListGroupsResponse:
        return ListGroupsResponse(version=version, error_code=0, groups=[])
