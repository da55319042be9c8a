"""A token endpoint of the test's own, and tokens as Kafka's unsecured login takes them: claims that nobody signed."""

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer


def unsecured_token(subject: str, lifetime_s: float = 600.0) -> str:
    now_s = int(time.time())
    claims = {"sub": subject, "iat": now_s - 5, "exp": int(now_s + lifetime_s)}
    return ".".join([_encoded({"alg": "none"}), _encoded(claims), ""])


def _encoded(part: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


class TokenEndpoint:
    """Gives `client_id` with `secret` a token; counts how often it was asked."""

    def __init__(self, client_id: str, secret: str) -> None:
        self.asked = 0
        self.is_down = False
        wanted = "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                endpoint.asked += 1
                self.rfile.read(int(self.headers["Content-Length"]))
                if endpoint.is_down:
                    self.send_error(503)
                    return
                if self.headers["Authorization"] != wanted:
                    self.send_error(401)
                    return
                body = json.dumps({"access_token": unsecured_token(client_id), "expires_in": 600}).encode()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """The test says what went wrong."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/token"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
