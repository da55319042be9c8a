import re
from dataclasses import fields
from pathlib import Path

import pytest

from guarantees.promises import Guarantee
from guarantees.thresholds import Thresholds
from settings import (
    ClusterSettings,
    PageSettings,
    PipelineSettings,
    ReportSettings,
    Secret,
    Security,
    SettingsError,
    SparkSettings,
    SqlSettings,
    StoreSettings,
    bootstrap_settings,
    load_settings,
    parse_settings,
)

ROOT = Path(__file__).parents[1]
CLUSTER = {"name": "lab", "bootstrap_servers": "localhost:9092"}
PIPELINE = {"name": "orders", "cluster": "lab", "source": "orders", "group": "payments-service"}


def sasl(**security):
    return {"clusters": [{**CLUSTER, "security": {"protocol": "SASL_SSL", **security}}]}


def test_a_file_with_one_cluster_and_one_pipeline_is_read_whole(tmp_path):
    path = tmp_path / "tidemark.toml"
    path.write_text("""
        [[clusters]]
        name = "lab"
        bootstrap_servers = "localhost:9092"
        interval_s = 2
        [[pipelines]]
        name = "orders"
        cluster = "lab"
        source = "orders"
        group = "payments-service"
        sink = "payments"
        promise = "exactly_once"
        id = { header = "message-id" }
        rate = 1.0
    """)

    settings = load_settings(path)

    assert settings.clusters[0].interval_s == 2.0
    assert settings.pipelines[0].promise is Guarantee.EXACTLY_ONCE
    assert settings.pipelines[0].id.header == "message-id"
    assert settings.store.data_dir == str(tmp_path / "data")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"clusters": [{**CLUSTER, "intervall_s": 3}]},
            r"unknown key clusters\[0\].intervall_s; did you mean interval_s",
        ),
        ({"clusters": [{"name": "lab"}]}, r"clusters\[0\].bootstrap_servers is missing"),
        ({"clusters": [{**CLUSTER, "interval_s": "5"}]}, "must be of type float"),
        ({"clusters": [{**CLUSTER, "interval_s": True}]}, "must be of type float"),
        ({"clusters": [{**CLUSTER, "interval_s": 0.5}]}, "request_timeout_s must be positive and at most interval_s"),
        ({"clusters": [CLUSTER, CLUSTER]}, "two clusters have the same name"),
        ({"clusters": CLUSTER}, "clusters must be a list"),
        ({}, "clusters is missing"),
        ({"clusters": [CLUSTER], "pipelines": [{**PIPELINE, "cluster": "prod"}]}, "no cluster is named 'prod'"),
        ({"clusters": [CLUSTER], "pipelines": [{**PIPELINE, "promise": "always"}]}, "'always' is none of at_most_once"),
        ({"clusters": [CLUSTER], "pipelines": [{**PIPELINE, "rate": 0}]}, "rate is a share"),
        ({"clusters": [CLUSTER], "pipelines": [{**PIPELINE, "records_per_s": 0}]}, "records_per_s, of kept records"),
        ({"clusters": [CLUSTER], "pipelines": [{**PIPELINE, "id": {"header": "h", "key": True}}]}, "one of them"),
        ({"clusters": [{**CLUSTER, "security": {"protocol": "SASL_SSL"}}]}, "sasl_mechanism is needed"),
        (
            {"clusters": [{**CLUSTER, "security": {"sasl_mechanism": "PLAIN"}}]},
            "needed with a SASL protocol, and with no",
        ),
        (sasl(sasl_mechanism="KERBEROS"), "security.sasl_mechanism 'KERBEROS' is none of PLAIN, .*GSSAPI"),
        (sasl(sasl_mechanism="PLAIN", username="tidemark"), "username and password are needed with PLAIN"),
        (sasl(sasl_mechanism="OAUTHBEARER"), "security.token, or token_endpoint with client_id and client_secret"),
        (
            sasl(sasl_mechanism="OAUTHBEARER", token_endpoint="https://issuer.invalid", client_id="tidemark"),
            "security.token, or token_endpoint with client_id and client_secret",
        ),
        ({"clusters": [{**CLUSTER, "security": {"password": "hunter2"}}]}, "password must be a table"),
        ({"clusters": [CLUSTER], "store": {"history_retention_d": 0.5}}, "history_retention_d must be at least 1"),
    ],
)
def test_a_mistake_is_named_with_its_key(given, says):
    with pytest.raises(SettingsError, match=says):
        parse_settings(given)


@pytest.mark.parametrize(("order", "says"), [
    ({}, "one of them"), ({"header": "n", "timestamp": True}, "one of them"), ({"json": "a..b"}, "none of them empty"),
    ({"key": True}, "unknown key"),
])  # fmt: skip
def test_an_order_is_one_of_the_three(order, says):
    with pytest.raises(SettingsError, match=says):
        parse_settings({"clusters": [CLUSTER], "pipelines": [{**PIPELINE, "order": order}]})


def test_what_rises_within_a_key_is_declared_for_a_pipeline():
    given = [{**PIPELINE, "order": {"json": "payment.version"}}, {**PIPELINE, "name": "other"}]
    first, second = parse_settings({"clusters": [CLUSTER], "pipelines": given}).pipelines

    assert (first.order.json, second.order) == ("payment.version", None)


def test_a_secret_is_read_from_its_file_only_when_asked_for(tmp_path):
    path = tmp_path / "password"
    secret = Secret(file=str(path))
    with pytest.raises(SettingsError, match="cannot be read"):
        secret.reveal()
    path.write_text("hunter2\n")

    assert secret.reveal() == "hunter2"
    assert "hunter2" not in repr(secret)


def test_patterns_choose_topics_and_groups():
    cluster = parse_settings(
        {"clusters": [{**CLUSTER, "include_topics": ["orders*"], "exclude_topics": ["*-dlq"]}]}
    ).clusters[0]

    assert [t for t in ("orders", "orders-dlq", "payments") if cluster.watches_topic(t)] == ["orders"]
    assert cluster.watches_group("anything")


def test_a_bootstrap_address_alone_is_enough():
    assert bootstrap_settings("broker:9092").clusters[0].bootstrap_servers == "broker:9092"


def test_every_setting_is_explained_and_nothing_else_is():
    documented = set(re.findall(r"`(\w+)`", "\n".join(first_cells((ROOT / "docs" / "settings.md").read_text()))))

    assert documented == {
        field.name
        for kind in (
            ClusterSettings,
            Security,
            PipelineSettings,
            Thresholds,
            StoreSettings,
            SparkSettings,
            PageSettings,
            SqlSettings,
            ReportSettings,
        )
        for field in fields(kind)
    } - {"security"}


def first_cells(text):
    return [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
