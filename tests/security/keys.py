"""Certificates of an authority made for one test run, as PEM files that Kafka and clients read."""

from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

KEY_PASSWORD = "key-pass-7"


@dataclass(frozen=True)
class Keys:
    """`server` holds key and certificate of the brokers; the client's key is encrypted with KEY_PASSWORD."""

    authority: Path
    server: Path
    client_certificate: Path
    client_key: Path
    other_authority: Path


def make_keys(folder: Path) -> Keys:
    """The brokers are known as 127.0.0.1, the client as CN=tidemark-client."""
    authority = trustme.CA(key_type=trustme.KeyType.RSA)
    brokers = authority.issue_cert("127.0.0.1", common_name="broker", key_type=trustme.KeyType.RSA)
    client = authority.issue_cert("client.invalid", common_name="tidemark-client", key_type=trustme.KeyType.RSA)
    keys = Keys(*(folder / name for name in ("ca.pem", "server.pem", "client.pem", "client.key", "other-ca.pem")))
    authority.cert_pem.write_to_path(keys.authority)
    trustme.CA().cert_pem.write_to_path(keys.other_authority)
    keys.server.write_bytes(_pkcs8(brokers, None) + _chain(brokers))
    keys.client_certificate.write_bytes(_chain(client))
    keys.client_key.write_bytes(_pkcs8(client, KEY_PASSWORD))
    return keys


def _chain(cert: trustme.LeafCert) -> bytes:
    return b"".join(part.bytes() for part in cert.cert_chain_pems)


def _pkcs8(cert: trustme.LeafCert, password: str | None) -> bytes:
    """Kafka reads no older form of a private key."""
    key = load_pem_private_key(cert.private_key_pem.bytes(), None)
    encryption = NoEncryption() if password is None else BestAvailableEncryption(password.encode())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
