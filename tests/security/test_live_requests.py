"""The broker's own log of requests, over collectors and jobs of a whole run: Tidemark reads, and nothing else."""

import time
from collections import Counter
from dataclasses import replace

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from guarantees.findings import Kind
from kafka_reader.allowed import OF_CLIENTS, READ_ONLY
from settings import Security
from tests.security.requests_log import requests_served
from tests.security.secure_cluster import PASSWORD, PLAIN_USER, SASL, Rights, allow
from tests.spark_jobs.conftest import spark as spark
from tests.spark_jobs.scripted import Script, ids
from tests.spark_jobs.test_live import collecting, findings, live_rounds, until

# A broker, Spark and the collectors start here, one after another.
pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.timeout(400)]

EVERYTHING = [
    allow(AclOperation.READ, ResourceType.TOPIC, "*"),
    allow(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, "*"),
    allow(AclOperation.DESCRIBE, ResourceType.GROUP, "*"),
    allow(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, "*"),
]


@pytest.fixture
def rights(secure):
    """Everything that can be read; the authorizer would refuse, and say so in the log, whatever changes something."""
    granted = Rights(secure)
    granted.grant(PLAIN_USER, EVERYTHING)
    yield granted
    granted.revoke(PLAIN_USER, EVERYTHING)


def test_only_listed_requests_leave_tidemark_and_all_bear_its_name(spark, secure, rights, secret, tmp_path):
    script = Script(secure.bootstrap, replicas=1).create()
    settings = script.settings(tmp_path)
    security = Security(
        protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", username=PLAIN_USER, password=secret("password", PASSWORD)
    )
    watched = replace(
        settings.clusters[0],
        bootstrap_servers=secure.address(1, SASL),
        security=security,
        header_topics=(script.source,),
    )
    settings = replace(settings, clusters=(watched,))
    script.send(script.source, ids("a", 0, 20))
    script.send_in_transaction(script.source, ids("tx", 0, 5), is_committed=True)
    with collecting(settings), live_rounds(spark, settings, tmp_path) as rounds:
        rounds.run_round(time.time_ns() // 1_000_000)
        script.commit({0: 0, 1: 0})
        script.send(script.source, ids("a", 10, 20))
        until(rounds, lambda: findings(tmp_path, Kind.DUPLICATE_WRITE))

    served = [each for each in requests_served(secure.requests_log(1)) if each.principal == f"User:{PLAIN_USER}"]
    names = Counter(each.name for each in served)

    assert {each.client_id for each in served} == {"tidemark"}
    assert {each.api_key for each in served} <= READ_ONLY.keys() | OF_CLIENTS.keys(), names
    assert {"FETCH", "OFFSET_FETCH", "LIST_OFFSETS", "LIST_TRANSACTIONS", "DESCRIBE_CONFIGS"} <= names.keys()
    assert not [each for each in served if each.name == "METADATA" and each.body["allowAutoTopicCreation"]]
    assert {each.body["replicaId"] for each in served if each.name == "LIST_OFFSETS"} <= {-1, -2}
