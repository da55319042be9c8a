"""A value that could not be established is a value of its own."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unknown:
    """A number that could not be established, and why not. Never 0, −1, the old value, or green."""

    reason: str
