"""Kafka's errors in Tidemark's words: translated once, here. The caller's one question: can asking again help?"""

from typing import Any

from kafka import errors as kafka_errors

from guarantees.unknown import Unknown

NOT_PERMITTED = "not permitted"

# The one word of kafka-python's list that Kafka has renamed.
_RENAMED = {"NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER"}

_LATE = (kafka_errors.KafkaTimeoutError, kafka_errors.RequestTimedOutError)
_NOT_REACHED = (kafka_errors.NodeNotReadyError, kafka_errors.KafkaConnectionError, kafka_errors.Cancelled)


class CollectionError(Exception):
    """A figure could not be collected; the message is one sentence for the operator."""


class BrokerUnavailableError(CollectionError):
    """Nobody answered in time; the next round may succeed."""


class BrokerLateError(BrokerUnavailableError):
    """The broker was asked and did not answer in time."""


class UnreadableAnswerError(CollectionError):
    """An answer came and could not be decoded, or is larger than allowed."""


class RequestRefusedError(CollectionError):
    """The broker answered no; asking again will not help. `error` is Kafka's name of its reason."""

    def __init__(self, doing: str, error: str) -> None:
        super().__init__(doing, error)
        self.doing = doing
        self.error = error

    def __str__(self) -> str:
        return f"{self.doing}: {self.error}"


def translated(exc: kafka_errors.KafkaError | OSError, broker: object) -> CollectionError:
    """Tidemark's error for the library's; a file of certificates that cannot be read is an OSError."""
    if isinstance(exc, _LATE):
        return BrokerLateError(f"broker {broker} did not answer in time")
    if isinstance(exc, kafka_errors.UnknownBrokerIdError):
        return BrokerUnavailableError(f"broker {broker} is not among the cluster's brokers")
    if isinstance(exc, (*_NOT_REACHED, OSError)):
        return BrokerUnavailableError(f"broker {broker} cannot be reached ({_cause(exc)})")
    if isinstance(exc, kafka_errors.SaslAuthenticationFailedError):
        # The library puts its own class before the broker's words.
        told = str(exc.args[0]).removeprefix(f"{type(exc).__name__}: ") if exc.args else str(exc.message)
        return RequestRefusedError(f"broker {broker} refused the login", told)
    if isinstance(exc, kafka_errors.BrokerResponseError):
        return RequestRefusedError(f"broker {broker}", str(exc.message))
    return UnreadableAnswerError(f"broker {broker} sent an answer that cannot be read ({_cause(exc)})")


def error_word(code: int) -> str:
    """Kafka's name of an error code: 78 is OFFSET_NOT_AVAILABLE."""
    known = kafka_errors.for_code(code)
    if known.message == kafka_errors.UnknownError.message:
        return f"ERROR_{code}"
    return _RENAMED.get(known.message, known.message)


def is_refusal(code: int) -> bool:
    """The error says that a right is missing (29, 30, 31, 53 …)."""
    return issubclass(kafka_errors.for_code(code), kafka_errors.AuthorizationError)


def unknown_because(code: int) -> Unknown:
    """The value an error code leaves behind."""
    return Unknown(f"{NOT_PERMITTED}: {error_word(code)}" if is_refusal(code) else error_word(code))


def unknown_after(error: CollectionError) -> Unknown:
    """The value a failed request leaves behind."""
    return Unknown(str(error))


def is_not_permitted(value: Any) -> bool:
    """The value is unknown because a right is missing."""
    return isinstance(value, Unknown) and value.reason.startswith(NOT_PERMITTED)


def _cause(exc: Exception) -> str:
    return str(exc).removeprefix("KafkaConnectionError: ") or type(exc).__name__
