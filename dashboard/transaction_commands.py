"""The commands an operator would run about an open transaction: shown, never executed.

Options as Kafka's TransactionsCommand reads them (kafka-transactions.sh, KIP-664). Names come from the cluster, so each
word is quoted for the shell, and what a terminal would not show as it is, is written as an escape.
"""

import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from guarantees.rules.transactions import MAX_TIMEOUT_MS

TOOL = "kafka-transactions.sh"
CLIENT_CONFIG = "client.properties"
MAX_TIMEOUT_MIN = MAX_TIMEOUT_MS // 60_000
# Of so many partitions the command that reads is written out: for another one its topic and number are enough.
READ_PARTITIONS = 3


@dataclass(frozen=True, slots=True)
class Command:
    """One command line and what it does. `changes`: it does not only read."""

    line: str
    does: str
    changes: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A partition of a transaction. `leader` is the broker that answered for it, None where nobody did."""

    topic: str
    partition: int
    start_offset: int | None
    leader: int | None


def describe(connection: Sequence[str], transactional_id: str) -> Command | None:
    """None where no command line can carry the id: an argument ends at its first NUL."""
    if "\0" in transactional_id:
        return None
    return Command(
        _line(connection, "describe", ("--transactional-id", transactional_id)),
        "Reads what its coordinator says: state, timeout, start and partitions.",
    )


def describe_producers(connection: Sequence[str], part: Part) -> Command:
    return Command(
        _line(connection, "describe-producers", ("--topic", part.topic), ("--partition", str(part.partition))),
        "Reads what the leader says: which producers have a transaction open there, and from which offset on.",
    )


def find_hanging(connection: Sequence[str], leader: int) -> Command:
    return Command(
        _line(connection, "find-hanging", ("--broker-id", str(leader))),
        f"Reads every partition of broker {leader} and lists the transactions that no coordinator has and that are "
        f"silent for more than {MAX_TIMEOUT_MIN} min (--max-transaction-timeout, in minutes).",
    )


def abort(connection: Sequence[str], part: Part) -> Command | None:
    """None where the start offset is not known: without it nothing says which transaction is meant."""
    if part.start_offset is None:
        return None
    return Command(
        _line(
            connection, "abort", ("--topic", part.topic), ("--partition", str(part.partition)),
            ("--start-offset", str(part.start_offset)),
        ),
        f"WRITES an ABORT marker to {part.topic}-{part.partition}: what the producer wrote there from offset "
        f"{part.start_offset} on is never delivered to read_committed readers. It cannot be undone. Needs ALTER or "
        "CLUSTER_ACTION on the cluster.",
        changes=True,
    )  # fmt: skip


def reading(connection: Sequence[str], transactional_id: str | None, parts: Sequence[Part]) -> list[Command]:
    """What to look at first, from the coordinator's side and from the leaders'."""
    described = None if transactional_id is None else describe(connection, transactional_id)
    leaders = [part.leader for part in parts if part.leader is not None]
    return [
        *([described] if described else []),
        *(describe_producers(connection, part) for part in parts[:READ_PARTITIONS]),
        *(find_hanging(connection, leader) for leader in leaders[:1]),
    ]


def aborting(connection: Sequence[str], parts: Iterable[Part]) -> list[Command]:
    """How to end what hangs, partition by partition: each has a start offset of its own."""
    found = (abort(connection, part) for part in parts)
    return [command for command in found if command is not None]


def connection(bootstrap_servers: str, protocol: str) -> tuple[str, ...]:
    """How the tool reaches the cluster; a secured one needs a file with the credentials, which is the operator's."""
    reached = ("--bootstrap-server", bootstrap_servers)
    return reached if protocol == "PLAINTEXT" else (*reached, "--command-config", CLIENT_CONFIG)


def shell_word(text: str) -> str:
    """The text as one word of a shell: quoted, and with escapes where a terminal would hide or act on a character."""
    if all(_is_plain(char) for char in text):
        return shlex.quote(text)
    return "$'" + "".join(_escaped(char) for char in text) + "'"


def _line(connection: Sequence[str], command: str, *options: tuple[str, str]) -> str:
    words = [TOOL, *connection, command]
    for name, value in options:
        # A value that looks like an option is taken for its own only behind an equals sign.
        words += [f"{name}={value}"] if value.startswith("-") else [name, value]
    return " ".join(shell_word(word) for word in words)


def _is_plain(char: str) -> bool:
    return unicodedata.category(char)[0] != "C" and unicodedata.category(char) not in ("Zl", "Zp")


def _escaped(char: str) -> str:
    code = ord(char)
    if char in "\\'":
        return f"\\{char}"
    if _is_plain(char):
        return char
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
