"""The settings' words of security, as each client library wants them. Secrets are revealed here and in tokens.py alone.

Both libraries do every mechanism but GSSAPI, which confluent-kafka's wheels leave out.
"""

import importlib.util
import os
from collections.abc import Iterator
from typing import Any

from kafka.errors import KafkaConnectionError
from kafka.net.sasl.oauth import AbstractTokenProvider

from kafka_reader.tokens import TokenError, Tokens
from settings import GSSAPI, OAUTHBEARER, Secret, Security, SettingsError

NO_GSSAPI = "confluent-kafka's wheels cannot do GSSAPI"


def kafka_python_options(security: Security) -> dict[str, Any]:
    """Options of kafka-python's connections; SCRAM takes the same two as PLAIN. Raises SettingsError."""
    if security.sasl_mechanism == GSSAPI and not has_gssapi():
        raise SettingsError("security.sasl_mechanism GSSAPI needs the Python package gssapi: install it, and Kerberos")
    _check_files(security)
    return _given(
        {
            "security_protocol": security.protocol,
            "sasl_mechanism": security.sasl_mechanism,
            "sasl_plain_username": security.username,
            "sasl_plain_password": _revealed(security.password),
            "sasl_oauth_token_provider": _provider(security) if security.sasl_mechanism == OAUTHBEARER else None,
            "sasl_kerberos_service_name": security.kerberos_service_name,
            "ssl_cafile": security.ca_file,
            "ssl_certfile": security.certificate_file,
            "ssl_keyfile": security.key_file,
            "ssl_password": _revealed(security.key_password),
        }
    )


def librdkafka_options(security: Security) -> dict[str, Any]:
    """Options of confluent-kafka's clients. Raises SettingsError where they cannot do what is asked."""
    if security.sasl_mechanism == GSSAPI:
        raise SettingsError(NO_GSSAPI)
    _check_files(security)
    return _given(
        {
            "security.protocol": security.protocol,
            "sasl.mechanism": security.sasl_mechanism,
            "sasl.username": security.username,
            "sasl.password": _revealed(security.password),
            "oauth_cb": _callback(security) if security.sasl_mechanism == OAUTHBEARER else None,
            "ssl.ca.location": security.ca_file,
            "ssl.certificate.location": security.certificate_file,
            "ssl.key.location": security.key_file,
            "ssl.key.password": _revealed(security.key_password),
        }
    )


def security_sentences(security: Security) -> Iterator[str]:
    """What the client libraries can do of it, for an operator."""
    mechanism = security.sasl_mechanism
    how = security.protocol if mechanism is None else f"{security.protocol} with {mechanism}"
    if mechanism == GSSAPI:
        yield f"connection: {how}, by kafka-python alone: {NO_GSSAPI}; unknown: what topic configurations say"
    else:
        yield f"connection: {how}, by both client libraries"


def has_gssapi() -> bool:
    """kafka-python does GSSAPI through a package that is none of its requirements."""
    return importlib.util.find_spec("gssapi") is not None


class _Provider(AbstractTokenProvider):
    """kafka-python asks for a token at each login."""

    def __init__(self, tokens: Tokens) -> None:
        super().__init__()
        self._tokens = tokens

    def token(self) -> str:
        try:
            return self._tokens.current().value
        except TokenError as exc:
            raise KafkaConnectionError(str(exc)) from exc


def _provider(security: Security) -> _Provider:
    return _Provider(Tokens(security))


def _callback(security: Security) -> Any:
    """librdkafka asks when it has none and shortly before one expires; an exception is a failed login."""
    tokens = Tokens(security)

    def give(_config: str) -> tuple[str, float]:
        token = tokens.current()
        return token.value, token.expires_at_s

    return give


def _check_files(security: Security) -> None:
    """Neither library names a file that it cannot read."""
    for name in ("ca_file", "certificate_file", "key_file"):
        path = getattr(security, name)
        if path is not None and not os.access(path, os.R_OK):
            raise SettingsError(f"security.{name} {path} cannot be read")


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
