"""A one-broker cluster with an authorizer and every kind of door: who comes in by which one, and what he may do."""

from collections.abc import Callable, Iterable

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from lab.clients import admin_client
from lab.cluster import Cluster
from tests.security.keys import Keys

PASSWORD = "s3cr3t-of-the-test"
PLAIN_USER, SCRAM_USER, OAUTH_USER = "plain-user", "scram-user", "oauth-user"
MTLS, SASL, SASL_TLS = "MTLS", "SASL", "SASLTLS"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")

_LOGIN = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule required "
    f'user_{PLAIN_USER}="{PASSWORD}" user_other="{PASSWORD}-other";',
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
    # Without a validator of its own Kafka takes unsecured tokens: the claims count, nobody signs them.
    "OAUTHBEARER": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
    'unsecuredLoginStringClaim_sub="broker";',
}


def open_secure_cluster(keys: Keys) -> Cluster:
    """Not started yet. Its plain listener lets everybody in as a super user: the lab's own door."""
    return Cluster(
        brokers=1,
        listeners={MTLS: "SSL", SASL: "SASL_PLAINTEXT", SASL_TLS: "SASL_SSL"},
        overrides=_authorizer() | _tls(keys) | _sasl(SASL) | _sasl(SASL_TLS),
        log_requests=True,
    )


def _authorizer() -> dict[str, str]:
    return {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


def _tls(keys: Keys) -> dict[str, str]:
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keys.server),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(keys.authority),
        f"listener.name.{MTLS.lower()}.ssl.client.auth": "required",
    }


def _sasl(listener: str) -> dict[str, str]:
    prefix = f"listener.name.{listener.lower()}"
    return {f"{prefix}.sasl.enabled.mechanisms": ",".join(MECHANISMS)} | {
        f"{prefix}.{mechanism.lower()}.sasl.jaas.config": login for mechanism, login in _LOGIN.items()
    }


class Rights:
    """Users and ACLs of the cluster, changed through the super user's door."""

    def __init__(self, cluster: Cluster) -> None:
        self._admin = admin_client(cluster.bootstrap)

    def add_scram_user(self, password: str = PASSWORD) -> None:
        """With one password for both mechanisms, which Kafka takes in a request each."""
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            credential = UserScramCredentialUpsertion(
                SCRAM_USER, ScramCredentialInfo(mechanism, 4096), password.encode()
            )
            self._admin.alter_user_scram_credentials([credential])[SCRAM_USER].result(30)

    def grant(self, user: str, acls: Iterable["Acl"]) -> None:
        for done in self._admin.create_acls([acl(user) for acl in acls]).values():
            done.result(30)

    def revoke(self, user: str, acls: Iterable["Acl"]) -> None:
        for done in self._admin.delete_acls([_filter(acl(user)) for acl in acls]).values():
            done.result(30)


Acl = Callable[[str], AclBinding]


def allow(operation: AclOperation, kind: ResourceType, name: str, pattern: str = "LITERAL") -> Acl:
    """An ACL still without its user."""
    return lambda user: AclBinding(
        kind, name, ResourcePatternType[pattern], f"User:{user}", "*", operation, AclPermissionType.ALLOW
    )


def _filter(acl: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        acl.restype, acl.name, acl.resource_pattern_type, acl.principal, acl.host, acl.operation, acl.permission_type
    )
