import pytest

from kafka_reader import security as security_module
from kafka_reader.security import kafka_python_options, security_sentence
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


def test_the_settings_words_become_the_librarys(security, ca_file):
    assert kafka_python_options(security) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "tidemark",
        "sasl_plain_password": "s3cret",
        "ssl_cafile": ca_file,
    }


def test_a_secret_is_not_in_the_settings_that_are_shown(security):
    assert "s3cret" not in repr(security)


def test_a_secret_that_cannot_be_read_is_named():
    with pytest.raises(SettingsError, match="secret nowhere/at/all cannot be read"):
        kafka_python_options(Security(password=Secret(file="nowhere/at/all")))


def test_without_security_only_the_protocol_is_given():
    assert kafka_python_options(Security()) == {"security_protocol": "PLAINTEXT"}


def test_a_file_of_certificates_that_cannot_be_read_is_named():
    with pytest.raises(SettingsError, match="security.ca_file nowhere.pem cannot be read"):
        kafka_python_options(Security(protocol="SSL", ca_file="nowhere.pem"))


def test_gssapi_is_done_where_its_package_is_there(monkeypatch):
    kerberos = Security(protocol="SASL_SSL", sasl_mechanism="GSSAPI", kerberos_service_name="broker")
    monkeypatch.setattr(security_module, "has_gssapi", lambda: True)

    assert kafka_python_options(kerberos) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "GSSAPI",
        "sasl_kerberos_service_name": "broker",
    }


def test_how_a_cluster_is_reached_is_said_without_its_secrets(security):
    assert security_sentence(Security()) == "connection: PLAINTEXT"
    assert security_sentence(security) == "connection: SASL_SSL with SCRAM-SHA-512"


def test_gssapi_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr(security_module, "has_gssapi", lambda: False)
    with pytest.raises(SettingsError, match="needs the Python package gssapi"):
        kafka_python_options(Security(protocol="SASL_SSL", sasl_mechanism="GSSAPI"))


def test_a_token_in_a_file_is_read_again_at_each_login(tmp_path):
    path = tmp_path / "token"
    path.write_text("a token")
    bearer = Security(protocol="SASL_SSL", sasl_mechanism="OAUTHBEARER", token=Secret(file=str(path)))

    provider = kafka_python_options(bearer)["sasl_oauth_token_provider"]

    assert provider.token() == "a token"
    path.write_text("another")
    assert provider.token() == "another"
