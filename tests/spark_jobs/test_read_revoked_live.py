"""A right to read that is taken away while the jobs run, by a real authorizer: what they read before is no evidence."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from dashboard import queries, record_reading
from guarantees.promises import Verdict
from settings import Secret, Security
from spark_jobs.live import warm_up
from tests.security.keys import make_keys
from tests.security.secure_cluster import PASSWORD, PLAIN_USER, SASL, Rights, allow, open_secure_cluster
from tests.spark_jobs.scripted import Script, ids
from tests.spark_jobs.test_live import live_rounds, metric, now_ms, until

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    with open_secure_cluster(make_keys(tmp_path_factory.mktemp("keys"))) as cluster:
        yield cluster


@pytest.fixture
def script(secure):
    return Script(secure.bootstrap, replicas=1).create()


@pytest.fixture
def settings(secure, script, tmp_path):
    """The jobs come in as somebody who has no right but those that a test grants."""
    password = tmp_path / "password"
    (tmp_path / "data").mkdir()
    password.write_text(f"{PASSWORD}\n")
    plain = script.settings(tmp_path / "data")
    security = Security(
        protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", username=PLAIN_USER, password=Secret(file=str(password))
    )
    mine = replace(plain.clusters[0], bootstrap_servers=secure.address(1, SASL), security=security)
    return replace(plain, clusters=(mine,))


def on(topics, operation):
    return [allow(operation, ResourceType.TOPIC, topic) for topic in topics]


def told(data_dir, topic):
    """What a page says of a topic at the end of the newest look of the jobs, as if they were to look every 50 ms."""
    rows = queries.ask(data_dir, 0, now_ms(), queries.LOOKS, {})
    at_ms = max((row["ended_at_ms"] for row in rows), default=0)
    return record_reading.how_read(record_reading.reading(record_reading.looks(rows, "test"), topic), at_ms, 50)


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        ([AclOperation.READ], "not permitted"),
        ([AclOperation.READ, AclOperation.DESCRIBE], "there is no such topic, or it may not be seen"),
    ],
)
def test_a_topic_that_may_not_be_read_any_more_is_named_and_what_was_read_before_tells_nothing_of_now(
    spark, secure, script, settings, taken, said
):
    data_dir, rights = Path(settings.store.data_dir), Rights(secure)
    readable = on((script.source, script.sink), AclOperation.READ)
    rights.grant(PLAIN_USER, [*readable, *on((script.source, script.sink), AclOperation.DESCRIBE)])
    script.send(script.source, ids("a", 0, 20))
    script.send(script.sink, ids("a", 0, 20))
    warm_up(spark)
    how = partial(told, data_dir)

    with live_rounds(spark, settings, data_dir) as rounds:
        until(rounds, lambda: sum(row["records"] for row in metric(data_dir, "ledger")) == 40)
        until(rounds, lambda: how(script.source).verdict is Verdict.OK)
        rights.revoke(PLAIN_USER, [acl for operation in taken for acl in on((script.source,), operation)])
        script.send(script.source, ids("b", 0, 20))
        until(rounds, lambda: said in (how(script.source).why or ""))
        rounds.run_round(now_ms())

        newest = max(metric(data_dir, "job_runs"), key=lambda row: row["observed_at"])
        assert [(cluster, topic) for cluster, topic, _ in json.loads(newest["unread"])] == [("test", script.source)]
        assert newest["backlog"] is None, "how much there is to read nobody counted"
        assert how(script.source).verdict is Verdict.STALE
        assert how(script.sink) == record_reading.HowRead(Verdict.OK)

        rights.grant(PLAIN_USER, on((script.source,), AclOperation.READ))
        until(rounds, lambda: how(script.source).verdict is Verdict.OK)
    assert sum(row["records"] for row in metric(data_dir, "ledger")) == 60
