"""Every way in that the settings know, against a real broker; and what is said where it does not open."""

from dataclasses import replace
from pathlib import Path

import pytest

from guarantees.observations import Signal
from guarantees.places import TopicPartition
from settings import SettingsError
from tests.security.conftest import OPEN_TOPIC
from tests.security.secure_cluster import PASSWORD
from tests.security.tokens import unsecured_token

pytestmark = pytest.mark.integration

PLACE = TopicPartition(OPEN_TOPIC, 0)

WAYS = [
    "plaintext",
    "mtls",
    "PLAIN",
    "SCRAM-SHA-256",
    "SCRAM-SHA-512",
    "OAUTHBEARER",
    "OAUTHBEARER-token",
    "PLAIN tls",
    "SCRAM-SHA-512 tls",
    "OAUTHBEARER tls",
]


def coverage(seen, signal):
    return next(each for each in seen.round.coverage if each.signal == signal)


def is_inside(seen):
    return seen.round.partitions.get(PLACE) is not None and seen.round.partitions[PLACE].high_watermark == 0


@pytest.mark.parametrize("way", WAYS)
def test_the_collectors_come_in(door, watch, way):
    seen = watch(door(way)).next()

    assert is_inside(seen), seen.round.coverage
    assert coverage(seen, Signal.CONFIGS).answered >= 1, coverage(seen, Signal.CONFIGS).error
    assert "min.insync.replicas" in seen.round.topic_settings[OPEN_TOPIC]


def wrong(settings, **changed):
    return replace(settings, security=replace(settings.security, **changed))


def test_a_wrong_password_is_said_and_a_mended_one_works(door, watch, secret):
    settings = door("SCRAM-SHA-512")
    password = Path(settings.security.password.file)
    password.write_text("wrong\n")
    rounds = watch(settings)

    refused = rounds.next()
    password.write_text(PASSWORD)
    mended = rounds.until(is_inside, within_s=15)

    error = coverage(refused, Signal.PARTITION_STATES).error
    assert "refused the login: Authentication failed" in error, error
    assert "SCRAM-SHA-512" in error
    assert coverage(mended, Signal.PARTITION_STATES).is_complete


def test_an_authority_nobody_trusts_is_said(door, watch, keys):
    seen = watch(wrong(door("PLAIN tls"), ca_file=str(keys.other_authority))).next()

    error = coverage(seen, Signal.PARTITION_STATES).error
    assert "certificate verify failed" in error, error


def test_a_client_without_a_certificate_is_turned_away_where_one_is_wanted(door, watch):
    seen = watch(wrong(door("mtls"), certificate_file=None, key_file=None, key_password=None)).next()

    assert not is_inside(seen)
    assert "no broker answers" in coverage(seen, Signal.PARTITION_STATES).error


def test_an_expired_token_is_said_and_a_new_one_works(door, watch):
    settings = door("OAUTHBEARER-token")
    token = Path(settings.security.token.file)
    token.write_text(unsecured_token("oauth-user", lifetime_s=-60))
    rounds = watch(settings)

    expired = rounds.next()
    token.write_text(unsecured_token("oauth-user"))
    rounds.until(is_inside, within_s=15)

    assert "refused the login" in coverage(expired, Signal.PARTITION_STATES).error


def test_a_token_endpoint_that_fails_is_said_and_not_stormed_and_comes_back(door, watch, endpoint):
    endpoint.is_down = True
    rounds = watch(door("OAUTHBEARER"))

    down = rounds.next()
    asked = endpoint.asked
    for _ in range(3):
        rounds.next()
    endpoint.is_down = False
    rounds.until(is_inside, within_s=20)

    assert "the token endpoint answered 503" in coverage(down, Signal.PARTITION_STATES).error
    assert endpoint.asked <= asked + 3


def test_a_file_that_is_missing_is_named(door, watch):
    with pytest.raises(SettingsError, match="security.ca_file /nowhere/ca.pem cannot be read"):
        watch(wrong(door("PLAIN tls"), ca_file="/nowhere/ca.pem"))


def test_a_broker_that_does_not_know_the_mechanism_says_which_it_knows(door, watch, secret):
    settings = door("PLAIN")
    # The plain door speaks no SASL at all.
    seen = watch(replace(settings, bootstrap_servers=door("plaintext").bootstrap_servers)).next()

    assert not is_inside(seen)
