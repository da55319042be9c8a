"""One secure broker for the session, and who comes in by which of its doors."""

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AclOperation, NewTopic, ResourceType

from collectors.watched import Watched, open_cluster
from lab.clients import admin_client
from lab.cluster import Cluster
from settings import ClusterSettings, Secret, Security
from tests.collectors.conftest import Rounds
from tests.security.keys import KEY_PASSWORD, Keys, make_keys
from tests.security.secure_cluster import (
    MTLS,
    OAUTH_USER,
    PASSWORD,
    PLAIN_USER,
    SASL,
    SASL_TLS,
    SCRAM_USER,
    Rights,
    allow,
    open_secure_cluster,
)
from tests.security.tokens import TokenEndpoint, unsecured_token

OPEN_TOPIC = "open-to-all"

PutSecret = Callable[[str, str], Secret]


@pytest.fixture(scope="session")
def keys(tmp_path_factory) -> Keys:
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def secure(keys) -> Iterator[Cluster]:
    """One topic may be described and read by everybody who gets in."""
    with open_secure_cluster(keys) as cluster:
        admin = admin_client(cluster.bootstrap)
        admin.create_topics([NewTopic(OPEN_TOPIC, 1, 1)])[OPEN_TOPIC].result(30)
        rights = Rights(cluster)
        rights.add_scram_user()
        rights.grant("*", [allow(AclOperation.READ, ResourceType.TOPIC, OPEN_TOPIC)])
        rights.grant("*", [allow(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, OPEN_TOPIC)])
        yield cluster


@pytest.fixture
def secret(tmp_path) -> Callable[[str, str], Secret]:
    """A secret in a file, which the test may change."""

    def put(name: str, value: str) -> Secret:
        path = tmp_path / name
        path.write_text(f"{value}\n")
        return Secret(file=str(path))

    return put


@pytest.fixture
def endpoint() -> Iterator[TokenEndpoint]:
    opened = TokenEndpoint(OAUTH_USER, PASSWORD)
    yield opened
    opened.close()


@pytest.fixture
def door(secure, keys, secret, endpoint) -> Callable[[str], ClusterSettings]:
    """The settings of somebody who comes in as named: plaintext, mtls, or a mechanism with or without TLS."""

    def settings(way: str) -> ClusterSettings:
        mechanism, _, tls = way.partition(" ")
        listener = {"plaintext": None, "mtls": MTLS}.get(mechanism, SASL_TLS if tls else SASL)
        protocol = {None: "PLAINTEXT", MTLS: "SSL", SASL: "SASL_PLAINTEXT", SASL_TLS: "SASL_SSL"}[listener]
        security = Security(protocol=protocol, **_who(mechanism, keys, secret, endpoint), **_trust(listener, keys))
        # Patient: what is tested is who gets in, on a machine that is shared.
        return ClusterSettings(
            name=way,
            bootstrap_servers=secure.address(1, listener),
            security=security,
            include_topics=(OPEN_TOPIC,),
            request_timeout_s=5.0,
        )

    return settings


def _who(
    mechanism: str, keys: Keys, secret: Callable[[str, str], Secret], endpoint: TokenEndpoint
) -> dict[str, object]:
    if mechanism == "mtls":
        return {
            "certificate_file": str(keys.client_certificate),
            "key_file": str(keys.client_key),
            "key_password": secret("key-password", KEY_PASSWORD),
        }
    if mechanism == "OAUTHBEARER-token":
        return {"sasl_mechanism": "OAUTHBEARER", "token": secret("token", unsecured_token(OAUTH_USER))}
    if mechanism == "OAUTHBEARER":
        client = {"client_id": OAUTH_USER, "client_secret": secret("client-secret", PASSWORD)}
        return {"sasl_mechanism": mechanism, "token_endpoint": endpoint.url} | client
    if mechanism == "plaintext":
        return {}
    user = PLAIN_USER if mechanism == "PLAIN" else SCRAM_USER
    return {"sasl_mechanism": mechanism, "username": user, "password": secret("password", PASSWORD)}


def _trust(listener: str | None, keys: Keys) -> dict[str, str]:
    return {"ca_file": str(keys.authority)} if listener in (MTLS, SASL_TLS) else {}


@pytest.fixture
def watch() -> Iterator[Callable[..., Rounds]]:
    """Begin to watch with these settings."""
    opened: list[Watched] = []

    def begin(settings: ClusterSettings, *pipelines: object) -> Rounds:
        watched = open_cluster(settings, pipelines)  # type: ignore[arg-type]
        opened.append(watched)
        return Rounds(watched)

    yield begin
    for watched in opened:
        watched.close()
