"""How a cluster is reached, and where the secrets for it are."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from settings.errors import SettingsError

# SASL mechanisms; those of the first take a user and a password.
BY_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
OAUTHBEARER = "OAUTHBEARER"
GSSAPI = "GSSAPI"


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret is, never the secret itself."""

    env: str | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if (self.env is None) == (self.file is None):
            raise SettingsError('a secret is { env = "NAME" } or { file = "path" }, one of them')

    def reveal(self) -> str:
        """The secret, read now; raises SettingsError where it is missing."""
        try:
            return os.environ[self.env] if self.env is not None else Path(str(self.file)).read_text().strip()
        except (KeyError, OSError) as exc:
            raise SettingsError(f"secret {self.env or self.file} cannot be read: {exc}") from exc


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """How to reach a cluster."""

    protocol: str = "PLAINTEXT"
    sasl_mechanism: str | None = None
    username: str | None = None
    password: Secret | None = None
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    key_password: Secret | None = None
    token: Secret | None = None
    token_endpoint: str | None = None
    client_id: str | None = None
    client_secret: Secret | None = None
    scope: str | None = None
    kerberos_service_name: str | None = None

    def __post_init__(self) -> None:
        _check_choice("security.protocol", self.protocol, ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"))
        if self.protocol.startswith("SASL") != (self.sasl_mechanism is not None):
            raise SettingsError("security.sasl_mechanism is needed with a SASL protocol, and with no other")
        if self.sasl_mechanism is not None:
            _check_choice("security.sasl_mechanism", self.sasl_mechanism, (*BY_PASSWORD, OAUTHBEARER, GSSAPI))
        if self.sasl_mechanism in BY_PASSWORD and None in (self.username, self.password):
            raise SettingsError(f"security.username and password are needed with {self.sasl_mechanism}")
        if self.sasl_mechanism == OAUTHBEARER and not self._has_token():
            raise SettingsError("security.token, or token_endpoint with client_id and client_secret, is needed")

    def _has_token(self) -> bool:
        by_endpoint = None not in (self.token_endpoint, self.client_id, self.client_secret)
        return (self.token is not None) != by_endpoint


def _check_choice(key: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise SettingsError(f"{key} {given!r} is none of {', '.join(known)}")
