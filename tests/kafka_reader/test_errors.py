import pickle

import pytest
from kafka import errors as kafka_errors

from guarantees.unknown import Unknown
from kafka_reader.errors import (
    BrokerLateError,
    BrokerUnavailableError,
    RequestRefusedError,
    UnreadableAnswerError,
    error_word,
    is_not_permitted,
    translated,
    unknown_because,
)


@pytest.mark.parametrize(
    ("raised", "kind", "sentence"),
    [
        (kafka_errors.RequestTimedOutError(), BrokerLateError, "broker 3 did not answer in time"),
        (kafka_errors.KafkaTimeoutError(), BrokerLateError, "broker 3 did not answer in time"),
        (
            kafka_errors.KafkaConnectionError("111 ECONNREFUSED"),
            BrokerUnavailableError,
            "broker 3 cannot be reached (111 ECONNREFUSED)",
        ),
        (kafka_errors.IncompatibleBrokerVersion(), RequestRefusedError, "broker 3: UNSUPPORTED_VERSION"),
        (
            kafka_errors.SaslAuthenticationFailedError("SaslAuthenticationFailedError: Invalid username or password"),
            RequestRefusedError,
            "broker 3 refused the login: Invalid username or password",
        ),
        (
            kafka_errors.SaslAuthenticationFailedError(),
            RequestRefusedError,
            "broker 3 refused the login: SASL_AUTHENTICATION_FAILED",
        ),
        (
            FileNotFoundError(2, "No such file or directory"),
            BrokerUnavailableError,
            "broker 3 cannot be reached ([Errno 2] No such file or directory)",
        ),
        (
            kafka_errors.InvalidReceiveError("Invalid frame length"),
            UnreadableAnswerError,
            "broker 3 sent an answer that cannot be read (InvalidReceiveError: Invalid frame length)",
        ),
    ],
)
def test_each_error_of_the_library_becomes_one_sentence(raised, kind, sentence):
    error = translated(raised, 3)

    assert type(error) is kind
    assert str(error) == sentence


@pytest.mark.parametrize(
    ("code", "word"),
    [(6, "NOT_LEADER_OR_FOLLOWER"), (78, "OFFSET_NOT_AVAILABLE"), (88, "UNSTABLE_OFFSET_COMMIT"), (999, "ERROR_999")],
)
def test_error_codes_are_told_in_kafkas_words(code, word):
    assert error_word(code) == word


@pytest.mark.parametrize("code", [29, 30, 31, 53])
def test_a_missing_right_is_told_apart_from_a_failure(code):
    assert is_not_permitted(unknown_because(code))


@pytest.mark.parametrize("value", [unknown_because(3), Unknown("broker 3 did not answer in time"), 0, None])
def test_other_failures_and_values_are_not_a_missing_right(value):
    assert not is_not_permitted(value)


def test_a_refusal_crosses_from_an_executor_to_the_driver():
    error = pickle.loads(pickle.dumps(RequestRefusedError("broker 3", "UNSUPPORTED_VERSION")))

    assert (str(error), error.error) == ("broker 3: UNSUPPORTED_VERSION", "UNSUPPORTED_VERSION")
