"""What a person configured as a secret is in nothing that Tidemark prints, logs or stores, whether it opens or not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from store.reading import read
from store.rows import python_rows
from tests.security.conftest import OPEN_TOPIC
from tests.security.keys import KEY_PASSWORD
from tests.security.secure_cluster import MTLS, OAUTH_USER, PASSWORD, PLAIN_USER, SASL, SCRAM_USER

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
WRONG = "wr0ng-pass-phrase"


def cluster_text(name, address, **security):
    words = ", ".join(f"{key} = {value}" for key, value in security.items())
    return f"""
[[clusters]]
name = "{name}"
bootstrap_servers = "{address}"
request_timeout_s = 5
include_topics = ["{OPEN_TOPIC}"]
security = {{ {words} }}
"""


@pytest.fixture
def settings_file(secure, keys, endpoint, tmp_path):
    sasl = secure.address(1, SASL)
    login = {"protocol": '"SASL_PLAINTEXT"', "sasl_mechanism": '"SCRAM-SHA-256"', "username": f'"{SCRAM_USER}"'}
    plain = {"protocol": '"SASL_PLAINTEXT"', "sasl_mechanism": '"PLAIN"', "username": f'"{PLAIN_USER}"'}
    token = {"protocol": '"SASL_PLAINTEXT"', "sasl_mechanism": '"OAUTHBEARER"', "client_id": f'"{OAUTH_USER}"'}
    files = {"ca_file": keys.authority, "certificate_file": keys.client_certificate, "key_file": keys.client_key}
    certificate = {"protocol": '"SSL"'} | {name: f'"{path}"' for name, path in files.items()}
    (tmp_path / "key-password").write_text(KEY_PASSWORD)
    path = tmp_path / "tidemark.toml"
    path.write_text(
        cluster_text("open", sasl, **login, password='{ env = "RIGHT" }')
        + cluster_text("refused", sasl, **plain, password='{ env = "WRONG" }')
        + cluster_text("bearer", sasl, **token, token_endpoint=f'"{endpoint.url}"', client_secret='{ env = "RIGHT" }')
        + cluster_text("bearing", sasl, **token, token_endpoint=f'"{endpoint.url}"', client_secret='{ env = "WRONG" }')
        + cluster_text("mutual", secure.address(1, MTLS), **certificate, key_password='{ file = "key-password" }')
    )
    return path


def tidemark(settings_file, *arguments):
    """The command as a person runs it, in the folder of the settings."""
    secrets = {"RIGHT": PASSWORD, "WRONG": WRONG, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "cli", *arguments, "--settings", str(settings_file)],
        env=os.environ | secrets,
        cwd=settings_file.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_no_secret_is_printed_logged_or_stored(settings_file):
    printed = tidemark(settings_file, "collect", "--once", "--format", "json") + tidemark(settings_file, "check")

    data_dir = settings_file.parent / "data"
    logged = "".join(path.read_text() for path in (data_dir / "logs").iterdir())
    rows = python_rows("rounds", read(data_dir, "rounds", None))
    assert {row["cluster"] for row in rows} == {"open", "refused", "bearer", "bearing", "mutual"}
    errors = {row["cluster"]: row["error"] for row in rows if row["signal"] == "partition_states"}
    assert [errors[name] for name in ("open", "bearer", "mutual")] == [None, None, None]
    assert "refused the login" in errors["refused"]
    assert "the token endpoint answered 401" in errors["bearing"]
    everything = printed + logged + repr(rows)
    for secret in (PASSWORD, WRONG, KEY_PASSWORD):
        assert secret not in everything
