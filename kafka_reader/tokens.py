"""Bearer tokens for OAUTHBEARER: read where the settings say, or got from a token endpoint by client credentials.

The endpoint is asked with RFC 6749, section 4.4; a token is used until most of
its lifetime is over.
"""

import base64
import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass

from settings import Secret, Security, SettingsError

ENDPOINT_TIMEOUT_S = 3.0
# After a failure the endpoint rests: every broker of the cluster would ask it again at once.
REST_S = 5.0
USED_SHARE = 0.8
# Where the endpoint does not say it.
ASSUMED_LIFETIME_S = 300.0


class TokenError(Exception):
    """No token could be had; the message is one sentence without secrets."""


@dataclass(frozen=True, slots=True)
class Token:
    """`expires_at_s` in seconds since 1970, UTC."""

    value: str
    expires_at_s: float

    def __repr__(self) -> str:
        return f"Token(expires_at_s={self.expires_at_s})"


class Tokens:
    """The token of one cluster, renewed in time. Called from the client's network thread."""

    def __init__(self, security: Security) -> None:
        self._security = security
        self._token: Token | None = None
        self._renew_at_s = 0.0
        self._failure: TokenError | None = None

    def current(self) -> str:
        """Raises TokenError."""
        if self._security.token is not None:
            return given_token(self._security.token)
        now_s = time.time()
        if now_s < self._renew_at_s:
            if self._failure is not None:
                raise self._failure
            if self._token is not None:
                return self._token.value
        return self._renewed(now_s).value

    def _renewed(self, now_s: float) -> Token:
        try:
            self._token = fetch_token(self._security, now_s)
        except TokenError as exc:
            self._failure, self._renew_at_s = exc, now_s + REST_S
            raise
        self._failure, self._renew_at_s = None, now_s + USED_SHARE * (self._token.expires_at_s - now_s)
        return self._token


def given_token(token: Secret) -> str:
    """The token in the environment or a file, read anew each time: something else renews it there."""
    try:
        return token.reveal()
    except SettingsError as exc:
        raise TokenError(str(exc)) from exc


def token_request(security: Security) -> urllib.request.Request:
    """Client credentials in the Authorization header."""
    if security.token_endpoint is None or security.client_id is None or security.client_secret is None:
        raise TokenError("no token endpoint is given")
    credentials = ":".join(map(urllib.parse.quote_plus, (security.client_id, security.client_secret.reveal())))
    form = {"grant_type": "client_credentials"} | ({"scope": security.scope} if security.scope else {})
    return urllib.request.Request(
        security.token_endpoint,
        data=urllib.parse.urlencode(form).encode(),
        headers={"Authorization": f"Basic {base64.b64encode(credentials.encode()).decode()}"},
    )


def fetch_token(security: Security, now_s: float) -> Token:
    """Ask the token endpoint; certificates of `ca_file` are trusted beside the system's."""
    context = ssl.create_default_context()
    try:
        if security.ca_file is not None:
            context.load_verify_locations(security.ca_file)
        with urllib.request.urlopen(token_request(security), timeout=ENDPOINT_TIMEOUT_S, context=context) as answer:
            return parse_token(answer.read(), now_s)
    except urllib.error.HTTPError as exc:
        raise TokenError(f"the token endpoint answered {exc.code} {exc.reason}") from None
    except (OSError, SettingsError) as exc:
        raise TokenError(f"no token from {security.token_endpoint}: {getattr(exc, 'reason', exc)}") from None


def parse_token(answer: bytes, now_s: float) -> Token:
    """The endpoint's JSON; `expires_in` is recommended, not required."""
    try:
        given = json.loads(answer)
        return Token(str(given["access_token"]), now_s + float(given.get("expires_in", ASSUMED_LIFETIME_S)))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise TokenError("the token endpoint's answer holds no access_token") from None
