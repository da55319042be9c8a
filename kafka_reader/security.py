"""The settings' words of security, as kafka-python wants them. Secrets are revealed here and in tokens.py alone."""

import importlib.util
import os
from typing import Any

from kafka.errors import KafkaConnectionError
from kafka.net.sasl.oauth import AbstractTokenProvider

from kafka_reader.tokens import TokenError, Tokens
from settings import GSSAPI, OAUTHBEARER, Secret, Security, SettingsError


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


def security_sentence(security: Security) -> str:
    """How a cluster is reached, for an operator."""
    login = "" if security.sasl_mechanism is None else f" with {security.sasl_mechanism}"
    return f"connection: {security.protocol}{login}"


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
            return self._tokens.current()
        except TokenError as exc:
            raise KafkaConnectionError(str(exc)) from exc


def _provider(security: Security) -> _Provider:
    return _Provider(Tokens(security))


def _check_files(security: Security) -> None:
    """The library does not name a file that it cannot read."""
    for name in ("ca_file", "certificate_file", "key_file"):
        path = getattr(security, name)
        if path is not None and not os.access(path, os.R_OK):
            raise SettingsError(f"security.{name} {path} cannot be read")


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
