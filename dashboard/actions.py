"""What persons did about findings: acknowledged, noted. Actions are only added; what they leave is a fold over them.

Names and notes are untrusted text. An acknowledgement says who looks after a finding; it closes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

WHO_LIMIT, NOTE_LIMIT = 80, 2_000  # characters


class Doing(StrEnum):
    """The actions a finding knows, as the store spells them."""

    ACKNOWLEDGE = "acknowledge"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person did. `at_ms` is when the page wrote it (ms since 1970, UTC)."""

    action_id: str
    at_ms: int
    doing: Doing
    finding_id: str
    who: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Handling:
    """What became of one finding in the hands of people: the first acknowledgement, and every action in order."""

    acknowledged: Action | None = None
    actions: tuple[Action, ...] = field(default=())


UNTOUCHED = Handling()


def refusal(doing: Doing, who: str, note: str) -> str | None:
    """Why this cannot be stored, as a sentence for the person who tries; None where it can."""
    if not who.strip():
        return name_refusal(who)
    if doing is Doing.NOTE and not note.strip():
        return "Write the note first."
    if len(who.strip()) > WHO_LIMIT or len(note.strip()) > NOTE_LIMIT:
        return f"Too long: a name has at most {WHO_LIMIT} characters, a note at most {NOTE_LIMIT:,}."
    return None


def name_refusal(who: str) -> str | None:
    """Why an action of this person cannot be stored; None where it can."""
    if not who.strip():
        return "Enter your name: an action without one helps nobody."
    return None if len(who.strip()) <= WHO_LIMIT else f"Too long: a name has at most {WHO_LIMIT} characters."


def row(action: Action) -> dict[str, object]:
    """The action as `operator_actions` keeps it."""
    return {
        "action_id": action.action_id,
        "observed_at": action.at_ms,
        "action": action.doing.value,
        "finding_id": action.finding_id,
        "who": action.who.strip(),
        "note": (action.note or "").strip() or None,
    }


def handled(rows: Iterable[Mapping[str, Any]]) -> dict[str, Handling]:
    """By finding id, what people did; rows may come in any order and more than once. Audits are not about this."""
    actions = {row["action_id"]: _parsed(row) for row in rows if row["action"] in set(Doing) and row["finding_id"]}
    by_finding: dict[str, list[Action]] = {}
    for action in sorted(actions.values(), key=lambda one: (one.at_ms, one.action_id)):
        by_finding.setdefault(action.finding_id, []).append(action)
    return {name: _handling(done) for name, done in by_finding.items()}


def _parsed(row: Mapping[str, Any]) -> Action:
    return Action(
        row["action_id"], row["observed_at"], Doing(row["action"]), row["finding_id"], row["who"] or "", row["note"]
    )


def _handling(done: list[Action]) -> Handling:
    first = next((action for action in done if action.doing is Doing.ACKNOWLEDGE), None)
    return Handling(first, tuple(done))
