"""How transactions are called and look: icon, word and colour, as wording.LOOKS does for verdicts."""

from collections.abc import Mapping
from enum import StrEnum

from dashboard.wording import Look
from guarantees.rules.transactions import TransactionClass

# The states of an open transaction, the worst first.
STATES: Mapping[TransactionClass, Look] = {
    TransactionClass.HANGING: Look("✕", "Hanging", "#D55E00", "red", "x"),
    TransactionClass.UNLISTED: Look("◇", "Unlisted", "#CC79A7", "violet", "diamond-open"),
    TransactionClass.OVERDUE: Look("■", "Overdue", "#D55E00", "red", "square"),
    TransactionClass.EXPIRING: Look("▲", "Expiring", "#E69F00", "orange", "triangle-up"),
    TransactionClass.LATE: Look("△", "Late", "#E69F00", "orange", "triangle-up-open"),
    TransactionClass.OPEN: Look("○", "Open", "#7A8793", "gray", "circle-open"),
}
MEANINGS: Mapping[TransactionClass, str] = {
    TransactionClass.HANGING: "no coordinator lists it, and it is silent for longer than any timeout",
    TransactionClass.UNLISTED: "no coordinator lists it, not for long enough to be sure that it hangs",
    TransactionClass.OVERDUE: "more than 5 min past its timeout, and its coordinator still lists it",
    TransactionClass.EXPIRING: "past its timeout, its coordinator is about to abort it",
    TransactionClass.LATE: "in the last part of its timeout",
    TransactionClass.OPEN: "within its timeout",
}


class Outcome(StrEnum):
    """How a transaction ended, or what was seen of its end."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    SLOW = "slow"  # ended past its share of the timeout
    TIMED_OUT = "timed out"
    FENCED = "fenced"


OUTCOMES: Mapping[Outcome, Look] = {
    Outcome.COMMITTED: Look("✓", "Committed", "#0072B2", "blue", "circle"),
    Outcome.ABORTED: Look("✕", "Aborted", "#E69F00", "orange", "x-thin"),
    Outcome.SLOW: Look("◔", "Slow, ended", "#56B4E9", "blue", "circle-open"),
    Outcome.TIMED_OUT: Look("▼", "Timed out", "#D55E00", "red", "triangle-down"),
    Outcome.FENCED: Look("⊘", "Fenced", "#CC79A7", "violet", "diamond"),
}


def legend(states: Mapping[TransactionClass, int]) -> str:
    """What the states that are shown mean, in Markdown."""
    return " · ".join(f"**{STATES[state].text}**: {MEANINGS[state]}" for state in STATES if state in states)
