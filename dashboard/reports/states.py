"""States of partitions over a long window: first which of them changed, day by day, then those few in full.

A month of 20,000 partitions restates every state by the hour; a day of it is what is held at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dashboard.queries import Question, Rows
from dashboard.replication_questions import HISTORY
from dashboard.reports import questions
from dashboard.reports.look import Look

BATCH = 2_000  # partitions asked for in full at a time
WHILE_OBSERVED = " while it was observed"
NOBODY_LOOKED = "Unknown: no partition was observed in the window."


@dataclass(frozen=True, slots=True)
class StatesSeen:
    """How many partitions were seen, of how many min ISR was unread at some time, and the names of two kinds of them.

    `below`: below min ISR or offline at some time. `elected`: seen with more than one leader epoch.
    """

    partitions: int
    unread: int
    below: tuple[str, ...]
    elected: tuple[str, ...]


def states_seen(look: Look) -> StatesSeen:
    epochs: dict[str, tuple[int, int]] = {}
    below, unread = set[str](), set[str]()
    for start, end in look.days():
        for row in look.between(start, end, questions.STATES):
            name = row["name"]
            first, last = epochs.get(name, (row["first_epoch"], row["last_epoch"]))
            epochs[name] = min(first, row["first_epoch"]), max(last, row["last_epoch"])
            below.update([name] if row["is_below"] else ())
            unread.update([name] if row["is_unread"] else ())
    elected = sorted(name for name, (first, last) in epochs.items() if first != last)
    return StatesSeen(len(epochs), len(unread), tuple(sorted(below)), tuple(elected))


def none_was(how: str, look: Look, seen: StatesSeen) -> str:
    """What a table without rows says: where nobody looked, not that there was nothing."""
    return f"None was {how} in the window{while_observed(look)}." if seen.partitions else NOBODY_LOOKED


def while_observed(look: Look) -> str:
    """What follows a count of a window in which nobody looked for some time."""
    return WHILE_OBSERVED if look.gaps else ""


def histories(look: Look, names: Sequence[str]) -> Iterator[Rows]:
    """Every state of these partitions in the window, the oldest first; those of one partition stand together."""
    yield from _in_batches(look, HISTORY, names)


def elections(look: Look, names: Sequence[str]) -> Iterator[Rows]:
    yield from _in_batches(look, questions.ELECTIONS, names)


def _in_batches(look: Look, question: Question, names: Sequence[str]) -> Iterator[Rows]:
    for first in range(0, len(names), BATCH):
        yield look.ask(question, partitions=list(names[first : first + BATCH]))
