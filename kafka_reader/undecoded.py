"""Requests that are sent round after round: encoded once, their answers handed over as bytes.

kafka-python's connections stay in charge of versions, TLS, SASL and framing; only its decoder, which builds an object
for every field, is left out.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from kafka_reader.errors import CollectionError, UnreadableAnswerError

Sortable = TypeVar("Sortable", bound=Any)
Decoded = TypeVar("Decoded")


@dataclass(frozen=True, slots=True)
class Undecoded:
    """The body of an answer, after its header."""

    version: int
    data: bytes

    @classmethod
    def of(cls, version: int, body: memoryview) -> "Undecoded":
        return cls(version, bytes(body))

    @property
    def throttle_time_ms(self) -> int:
        """For kafka-python, which waits as long before it asks again: the first field of every answer read here."""
        return int.from_bytes(self.data[:4], "big", signed=True)


@dataclass(frozen=True, slots=True)
class Uncopied:
    """The body of an answer of megabytes, in the buffer into which it was received."""

    version: int
    data: memoryview

    @classmethod
    def of(cls, version: int, body: memoryview) -> "Uncopied":
        return cls(version, body.toreadonly())

    @property
    def throttle_time_ms(self) -> int:
        """As above."""
        return int.from_bytes(self.data[:4], "big", signed=True)


Body = type[Undecoded] | type[Uncopied]


def decoded(answer: Any, broker: object, decode: Callable[[bytes], Decoded]) -> Decoded | CollectionError:
    """What an undecoded Answer says, or the error that stands in its place: an answer may also mean nothing."""
    if isinstance(answer, CollectionError):
        return answer
    try:
        return decode(answer.response.data)
    except UnreadableAnswerError as exc:
        return UnreadableAnswerError(f"{broker} sent an answer that cannot be read ({exc})")


class Prepared:
    """A request of kafka-python's whose encoded body is kept, and what is known of the layout of its answer.

    All else is the request's own. `asked` is what it asks about; `layout` belongs to the request, since the same
    question is likely to be answered in the same layout. `bodies` are encodings made without kafka-python, by version.
    `answered` is what the answer is handed over as.
    """

    def __init__(
        self,
        request: Any,
        asked: tuple[Any, ...] = (),
        bodies: Mapping[int, bytes] | None = None,
        answered: Body = Undecoded,
    ) -> None:
        self._request = request
        self._answered = answered
        self._version: int | None = None
        self.asked = asked
        self._bodies = dict(bodies or {})
        self.layout: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)

    @property
    def API_VERSION(self) -> int | None:  # noqa: N802 — kafka-python's name
        return self._version

    @API_VERSION.setter
    def API_VERSION(self, version: int) -> None:  # noqa: N802
        self._version = self._request.API_VERSION = version

    @property
    def header(self) -> "_Header":
        return _Header(self._request.header, self._answered)

    def again(self) -> "Prepared":
        """To be sent once more, in whatever version the broker understands by then."""
        self._version = None
        return self

    def body(self, version: int) -> bytes:
        """The request without size and header."""
        if version not in self._bodies:
            self._bodies[version] = bytes(self._request.encode(version))
        return self._bodies[version]

    def encode(self, *, framed: bool, header: bool) -> bytes:
        """As kafka-python's parser asks for it, with size and header."""
        version = self._request.API_VERSION
        head = bytes(self._request.encode_header(flexible=self._request.flexible_version_q(version))) if header else b""
        message = head + self.body(version)
        return len(message).to_bytes(4, "big") + message if framed else message


class PreparedRequests:
    """The newest request of each kind to each broker, as long as it asks for the same."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, int], Prepared] = {}

    def get(self, build: Callable[[Iterable[Sortable]], Prepared], broker: int, asked: Iterable[Sortable]) -> Prepared:
        """What `build` makes of `asked`, or the last one to this broker where that asks for the same."""
        wanted = tuple(sorted(asked))
        kept = self._kept.get((build, broker))
        if kept is None or kept.asked != wanted:
            kept = self._kept[build, broker] = build(wanted)
        return kept.again()


class _Header:
    """A request's header that names a decoder which decodes nothing."""

    def __init__(self, header: Any, answered: Body) -> None:
        self._header = header
        self._answered = answered

    @property
    def correlation_id(self) -> int:
        number: int = self._header.correlation_id
        return number

    def get_response_class(self) -> "_AsBytes":
        return _AsBytes(self._header.get_response_class(), self._answered)


class _AsBytes:
    def __init__(self, response_class: Any, answered: Body) -> None:
        self._class = response_class
        self._answered = answered

    def parse_header(self, received: Any) -> Any:
        return self._class.parse_header(received)

    def decode(self, received: Any) -> Undecoded | Uncopied:
        return self._answered.of(self._class._class_version, memoryview(received)[received.tell() :])
