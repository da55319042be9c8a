"""Grades as badges."""

from guarantees.findings import Grade

TONES = {Grade.PROVEN: "blue", Grade.PROBABLE: "violet", Grade.POSSIBLE: "gray", Grade.NOT_OBSERVABLE: "gray"}


def grade(known: Grade) -> str:
    """A grade as Markdown; it is not a state, so it has none of the states' colours."""
    return f":{TONES[known]}-badge[{known.replace('-', ' ')}]"
