import base64
import json

import pytest

from guarantees.unknown import Unknown
from kafka_reader import security as security_module
from kafka_reader.configurations import Configurations
from kafka_reader.security import kafka_python_options, librdkafka_options, security_sentences
from settings import Secret, Security, SettingsError


@pytest.fixture
def ca_file(tmp_path):
    path = tmp_path / "ca.pem"
    path.touch()
    return str(path)


@pytest.fixture
def security(tmp_path, ca_file):
    password = tmp_path / "password"
    password.write_text("s3cret\n")
    return Security(
        protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        username="tidemark",
        password=Secret(file=str(password)),
        ca_file=ca_file,
    )


def test_both_libraries_get_the_same_words(security, ca_file):
    assert kafka_python_options(security) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "tidemark",
        "sasl_plain_password": "s3cret",
        "ssl_cafile": ca_file,
    }
    assert librdkafka_options(security) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "tidemark",
        "sasl.password": "s3cret",
        "ssl.ca.location": ca_file,
    }


def test_a_secret_is_not_in_the_settings_that_are_shown(security):
    assert "s3cret" not in repr(security)


def test_a_secret_that_cannot_be_read_is_named():
    with pytest.raises(SettingsError, match="secret nowhere/at/all cannot be read"):
        kafka_python_options(Security(password=Secret(file="nowhere/at/all")))


def test_without_security_only_the_protocol_is_given():
    assert kafka_python_options(Security()) == {"security_protocol": "PLAINTEXT"}


def test_a_file_of_certificates_that_cannot_be_read_is_named():
    for options in (kafka_python_options, librdkafka_options):
        with pytest.raises(SettingsError, match="security.ca_file nowhere.pem cannot be read"):
            options(Security(protocol="SSL", ca_file="nowhere.pem"))


def test_gssapi_is_done_by_kafka_python_alone(monkeypatch):
    kerberos = Security(protocol="SASL_SSL", sasl_mechanism="GSSAPI", kerberos_service_name="broker")
    monkeypatch.setattr(security_module, "has_gssapi", lambda: True)

    assert kafka_python_options(kerberos) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "GSSAPI",
        "sasl_kerberos_service_name": "broker",
    }
    with pytest.raises(SettingsError, match="confluent-kafka's wheels cannot do GSSAPI"):
        librdkafka_options(kerberos)
    assert "by kafka-python alone" in next(security_sentences(kerberos))


def test_gssapi_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr(security_module, "has_gssapi", lambda: False)
    with pytest.raises(SettingsError, match="needs the Python package gssapi"):
        kafka_python_options(Security(protocol="SASL_SSL", sasl_mechanism="GSSAPI"))


def test_topic_configurations_are_unknown_with_the_reason_where_their_client_cannot_be_made():
    configurations = Configurations("nobody:9092", Security(protocol="SASL_SSL", sasl_mechanism="GSSAPI"))

    assert configurations.fetch(["orders"], 1.0) == {
        "orders": Unknown("no client for them: confluent-kafka's wheels cannot do GSSAPI")
    }


def test_both_libraries_take_the_same_token(tmp_path):
    path = tmp_path / "token"
    path.write_text(json_web_token(exp=5_000_000_000))
    bearer = Security(protocol="SASL_SSL", sasl_mechanism="OAUTHBEARER", token=Secret(file=str(path)))

    provider = kafka_python_options(bearer)["sasl_oauth_token_provider"]
    callback = librdkafka_options(bearer)["oauth_cb"]

    assert callback("") == (provider.token(), 5_000_000_000.0)
    path.write_text("another")
    assert provider.token() == callback("")[0] == "another"


def json_web_token(**claims):
    return f"e30.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}."
