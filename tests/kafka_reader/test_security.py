import pytest

from kafka_reader.security import kafka_python_options, librdkafka_options
from settings import Secret, Security, SettingsError


@pytest.fixture
def security(tmp_path):
    password = tmp_path / "password"
    password.write_text("s3cret\n")
    return Security(
        protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        username="tidemark",
        password=Secret(file=str(password)),
        ca_file="ca.pem",
    )


def test_both_libraries_get_the_same_words(security):
    assert kafka_python_options(security) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "tidemark",
        "sasl_plain_password": "s3cret",
        "ssl_cafile": "ca.pem",
    }
    assert librdkafka_options(security) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "tidemark",
        "sasl.password": "s3cret",
        "ssl.ca.location": "ca.pem",
    }


def test_a_secret_is_not_in_the_settings_that_are_shown(security):
    assert "s3cret" not in repr(security)


def test_a_secret_that_cannot_be_read_is_named():
    with pytest.raises(SettingsError, match="secret nowhere/at/all cannot be read"):
        kafka_python_options(Security(password=Secret(file="nowhere/at/all")))


def test_without_security_only_the_protocol_is_given():
    assert kafka_python_options(Security()) == {"security_protocol": "PLAINTEXT"}
