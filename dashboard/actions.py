"""What persons did about findings and incidents. Actions are only added; what they leave is a fold over them.

Names and notes are untrusted text. No action changes a finding: an acknowledgement says who looks after it, and an
incident that a person closed is shown as before for as long as its findings last.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

WHO_LIMIT, NOTE_LIMIT = 80, 2_000  # characters


class Doing(StrEnum):
    """The actions as the store spells them. A finding knows the first two, an incident all."""

    ACKNOWLEDGE = "acknowledge"
    NOTE = "note"
    EXPLAIN = "explain"
    CLOSE = "close"
    REOPEN = "reopen"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person did about a finding or an incident. `at_ms` is when it was stored (ms since 1970, UTC)."""

    action_id: str
    at_ms: int
    doing: Doing
    finding_id: str | None
    who: str
    note: str | None = None
    incident_id: str | None = None


@dataclass(frozen=True, slots=True)
class Handling:
    """What became of one finding in the hands of people: the first acknowledgement, and every action in order."""

    acknowledged: Action | None = None
    actions: tuple[Action, ...] = field(default=())


UNTOUCHED = Handling()


class Attention(StrEnum):
    """Where people stand with an incident; whether its findings last is another matter."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    EXPLAINED = "explained"
    CLOSED = "closed"


LEADS_TO: Mapping[Doing, Attention] = {
    Doing.ACKNOWLEDGE: Attention.ACKNOWLEDGED,
    Doing.EXPLAIN: Attention.EXPLAINED,
    Doing.CLOSE: Attention.CLOSED,
    Doing.REOPEN: Attention.OPEN,
}


@dataclass(frozen=True, slots=True)
class IncidentHandling:
    """What people did about an incident, in order. `by` is the action that led to its state; None: nobody acted."""

    by: Action | None = None
    actions: tuple[Action, ...] = field(default=())

    @property
    def state(self) -> Attention:
        return LEADS_TO[self.by.doing] if self.by else Attention.OPEN


def refusal(doing: Doing, who: str, note: str) -> str | None:
    """Why this cannot be stored, as a sentence for the person who tries; None where it can."""
    if not who.strip():
        return name_refusal(who)
    if doing is Doing.NOTE and not note.strip():
        return "Write the note first."
    if doing is Doing.EXPLAIN and not note.strip():
        return "Write the explanation first, as the note."
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
        "incident_id": action.incident_id,
        "who": action.who.strip(),
        "note": (action.note or "").strip() or None,
    }


def handled(rows: Iterable[Mapping[str, Any]]) -> dict[str, Handling]:
    """By finding id, what people did; rows may come in any order and more than once. Audits are not about this."""
    return {name: _handling(done) for name, done in _by(rows, "finding_id").items()}


def of_incidents(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, list[Action]]:
    """By the identity the incident had when the person acted, the oldest first; rows as in `handled`."""
    return _by(rows, "incident_id")


def incident_handling(known_as: Collection[str], done: Mapping[str, list[Action]]) -> IncidentHandling:
    """What people did under any identity of one incident (guarantees.incidents), whichever finding came later."""
    told = sorted((action for name in known_as for action in done.get(name, ())), key=_order)
    changed = [action for action in told if action.doing in LEADS_TO]
    return IncidentHandling(changed[-1] if changed else None, tuple(told))


def _by(rows: Iterable[Mapping[str, Any]], name: str) -> dict[str, list[Action]]:
    actions = {row["action_id"]: _parsed(row) for row in rows if row["action"] in set(Doing) and row[name]}
    found: dict[str, list[Action]] = {}
    for action in sorted(actions.values(), key=_order):
        found.setdefault(getattr(action, name), []).append(action)
    return found


def _order(action: Action) -> tuple[int, str]:
    return action.at_ms, action.action_id


def _parsed(row: Mapping[str, Any]) -> Action:
    return Action(
        action_id=row["action_id"],
        at_ms=row["observed_at"],
        doing=Doing(row["action"]),
        finding_id=row["finding_id"],
        who=row["who"] or "",
        note=row["note"],
        incident_id=row["incident_id"],
    )


def _handling(done: list[Action]) -> Handling:
    first = next((action for action in done if action.doing is Doing.ACKNOWLEDGE), None)
    return Handling(first, tuple(done))
