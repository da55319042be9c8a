"""The settings' words of security, as each client library wants them. Secrets are revealed here and nowhere else."""

from settings import Secret, Security


def kafka_python_options(security: Security) -> dict[str, str]:
    """Options of kafka-python's connections; SCRAM takes the same two as PLAIN."""
    return _given(
        {
            "security_protocol": security.protocol,
            "sasl_mechanism": security.sasl_mechanism,
            "sasl_plain_username": security.username,
            "sasl_plain_password": _revealed(security.password),
            "ssl_cafile": security.ca_file,
            "ssl_certfile": security.certificate_file,
            "ssl_keyfile": security.key_file,
            "ssl_password": _revealed(security.key_password),
        }
    )


def librdkafka_options(security: Security) -> dict[str, str]:
    """Options of confluent-kafka's clients."""
    return _given(
        {
            "security.protocol": security.protocol,
            "sasl.mechanism": security.sasl_mechanism,
            "sasl.username": security.username,
            "sasl.password": _revealed(security.password),
            "ssl.ca.location": security.ca_file,
            "ssl.certificate.location": security.certificate_file,
            "ssl.key.location": security.key_file,
            "ssl.key.password": _revealed(security.key_password),
        }
    )


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def _given(options: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in options.items() if value is not None}
