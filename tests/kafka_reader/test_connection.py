import time

import pytest
from kafka.protocol.admin import CreateTopicsRequest, DeleteGroupsRequest, ListGroupsRequest
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.producer import ProduceRequest

from kafka_reader.allowed import ForbiddenRequestError
from kafka_reader.answer import Answer
from kafka_reader.connection import Connections
from kafka_reader.errors import BrokerUnavailableError, RequestRefusedError
from kafka_reader.transactions import list_request as list_transactions
from settings import Security
from tests.kafka_reader.toy_broker import ToyBroker

TIMEOUT_S = 0.3


@pytest.fixture
def brokers():
    members = [ToyBroker(1), ToyBroker(2)]
    for each in members:
        each.members = members
    yield members
    for each in members:
        each.close()


@pytest.fixture
def connections(brokers):
    with Connections(brokers[0].address, Security(), request_timeout_s=TIMEOUT_S) as opened:
        yield opened


def both() -> dict[int, ListGroupsRequest]:
    return {1: ListGroupsRequest(), 2: ListGroupsRequest()}


def took_s(since_s: float) -> float:
    return time.monotonic() - since_s


def test_the_brokers_are_learned_from_whoever_answers(connections):
    assert connections.brokers == ()

    assert connections.metadata().response.cluster_id == "toy"

    assert connections.brokers == (1, 2)


def test_a_broker_can_be_asked_before_anyone_asked_for_the_metadata(connections):
    assert connections.send(2, ListGroupsRequest()).error_code == 0


def test_answers_carry_the_times_they_left_and_arrived(connections):
    before_ms = time.time_ns() // 1_000_000

    answer = connections.send_all(both())[1]

    assert isinstance(answer, Answer)
    assert before_ms <= answer.requested_at_ms <= answer.observed_at_ms <= time.time_ns() // 1_000_000


@pytest.mark.parametrize("request_type", [ProduceRequest, CreateTopicsRequest, DeleteGroupsRequest])
def test_a_request_that_writes_is_refused_before_anything_is_sent(brokers, connections, request_type):
    for send in (lambda r: connections.send(1, r), connections.send_any):
        with pytest.raises(ForbiddenRequestError):
            send(request_type())
    assert [broker.connected for broker in brokers] == [0, 0]


def test_metadata_that_may_create_topics_is_refused(connections):
    with pytest.raises(ForbiddenRequestError, match="auto_topic_creation"):
        connections.send_any(MetadataRequest(topics=[], allow_auto_topic_creation=True))


def test_a_silent_broker_delays_nothing_but_its_own_figures(brokers, connections):
    connections.send_all(both())
    brokers[1].is_silent = True

    started_s = time.monotonic()
    first = connections.send_all(both())
    first_took_s = took_s(started_s)
    started_s = time.monotonic()
    second = connections.send_all(both())
    second_took_s = took_s(started_s)

    for answers in (first, second):
        assert answers[1].observed_at_ms - answers[1].requested_at_ms < 1000 * TIMEOUT_S / 2
        assert str(answers[2]) == "broker 2 did not answer in time"
    assert TIMEOUT_S * 0.9 < first_took_s < TIMEOUT_S * 2
    assert second_took_s < TIMEOUT_S / 2, "asking a broker known to be silent fails at once"


def test_a_broker_that_answers_again_is_asked_again_without_anyones_help(brokers, connections):
    connections.send_all(both())
    brokers[1].is_silent = True
    connections.send_all(both())
    brokers[1].is_silent = False

    deadline_s = time.monotonic() + 5
    while not isinstance(connections.send_all(both())[2], Answer):
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def test_a_silent_broker_is_not_stormed_with_connections(brokers, connections):
    connections.send_all(both())
    brokers[1].is_silent = True
    connections.send_all(both())
    before = brokers[1].connected

    deadline_s = time.monotonic() + 2
    while time.monotonic() < deadline_s:
        connections.send_all(both())
        time.sleep(0.01)

    assert 1 <= brokers[1].connected - before <= 5


def test_where_nobody_listens_the_failure_is_told_at_once():
    nobody = ToyBroker(1)
    address = nobody.address
    nobody.close()
    with Connections(address, Security(), request_timeout_s=TIMEOUT_S) as connections:
        started_s = time.monotonic()
        with pytest.raises(BrokerUnavailableError, match="no broker answers"):
            connections.metadata()
        assert took_s(started_s) < TIMEOUT_S


def test_another_broker_is_asked_when_the_first_does_not_answer(brokers, connections):
    connections.metadata()
    brokers[0].is_silent = True

    assert connections.send_any(ListGroupsRequest()).response.error_code == 0


def test_a_broker_that_is_not_a_member_is_unavailable(connections):
    with pytest.raises(BrokerUnavailableError, match="broker 7 is not among the cluster's brokers"):
        connections.send(7, ListGroupsRequest())


def test_a_request_the_brokers_do_not_know_is_refused_and_the_connection_kept(brokers, connections):
    connections.send_all(both())
    before = brokers[0].connected

    with pytest.raises(RequestRefusedError) as refused:
        connections.send(1, list_transactions())

    assert refused.value.error == "UNSUPPORTED_VERSION"
    assert "ListTransactions" in connections.not_understood
    connections.send(1, ListGroupsRequest())
    assert brokers[0].connected == before
