"""`tidemark check` against a broker with an authorizer: what is missing, what for, and what is too much."""

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from collectors.check import check
from settings import PipelineSettings
from tests.security.conftest import OPEN_TOPIC
from tests.security.secure_cluster import PLAIN_USER, Rights, allow

pytestmark = pytest.mark.integration

PIPELINE = PipelineSettings(name="p", cluster="PLAIN", source=OPEN_TOPIC, group="hidden-group", sink="hidden-sink")


def test_a_principal_with_little_is_told_what_it_will_not_know(door):
    said = check(door("PLAIN"), [PIPELINE])

    text = "\n".join(said)
    assert "connection: SASL_PLAINTEXT with PLAIN" in said
    assert "brokers that answer: 1" in said
    assert "READ: on all 1 visible topics" in said
    assert "DESCRIBE on topic hidden-sink" in text
    assert "DESCRIBE on group hidden-group" in text
    assert "DESCRIBE on every transactional id: what may not be described is left out, none seen is not none" in text
    assert "no group is visible: there is none, or DESCRIBE on groups is missing" in said
    assert "DESCRIBE on the cluster is missing, which is optional; unknown: how much replicas store" in text
    assert "may also" not in text


def test_a_principal_that_may_change_something_is_told_to_give_it_up(door, secure):
    rights, write = Rights(secure), [allow(AclOperation.WRITE, ResourceType.TOPIC, OPEN_TOPIC)]
    rights.grant(PLAIN_USER, write)
    try:
        said = check(door("PLAIN"))
    finally:
        rights.revoke(PLAIN_USER, write)

    assert "the principal may also WRITE: Tidemark needs none of these, take them away" in said


def test_a_super_user_lacks_nothing(door):
    said = check(door("plaintext"))

    assert "rights: 3 of 3 answered" in said
    assert not [sentence for sentence in said if "missing" in sentence or "not permitted" in sentence]


def test_a_password_that_is_refused_is_all_there_is_to_say(door):
    settings = door("PLAIN")
    with open(settings.security.password.file, "w") as file:
        file.write("wrong")

    assert check(settings)[-1].startswith("PLAIN: broker bootstrap-0 refused the login: Authentication failed")
