"""Producers that were fenced or timed out, restarts that fenced nobody, and torn transactions, out of the findings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dashboard import wording
from dashboard.names import cut
from dashboard.view import View
from guarantees.findings import Finding, Kind

KINDS = frozenset({Kind.PRODUCER_FENCED, Kind.UNFENCED_RESTART, Kind.TRANSACTION_TIMED_OUT, Kind.TORN_TRANSACTION})


@dataclass(frozen=True, slots=True)
class Event:
    """One of them. `old_epoch` is the one of the data, `new_epoch` the one that ended it; None where none is told.

    `number` tells the events of one finding apart. An unfenced restart has another producer id, not another epoch.
    """

    finding: Finding
    number: int
    at_ms: int
    producers: tuple[int, ...]
    names: tuple[str, ...]
    old_epoch: int | None
    new_epoch: int | None
    where: str

    @property
    def id(self) -> str:
        return f"{self.finding.finding_id}-{self.number}"


def events(findings: Iterable[Finding], from_ms: int, to_ms: int) -> list[Event]:
    """Those of the window, the newest first; a finding of several fencings is as many events."""
    found = [event for finding in findings if finding.kind in KINDS for event in _events(finding)]
    inside = [event for event in found if from_ms <= event.at_ms <= to_ms]
    return sorted(inside, key=lambda event: (-event.at_ms, event.id))


def _events(finding: Finding) -> Iterator[Event]:
    evidence = finding.evidence
    producers, names = _all(evidence, "producer_id"), _all(evidence, "transactional_id")
    if finding.kind is Kind.PRODUCER_FENCED:
        for number, fencing in enumerate(evidence["fencings"]):  # type: ignore[arg-type, misc, union-attr]
            where = f"{fencing['topic']}-{fencing['partition']}"
            yield Event(finding, number, fencing["ended_at_ms"], producers, names, *_epochs(fencing), where)
        return
    where = f"{finding.place.topic}-{finding.place.partition}"
    yield Event(finding, 0, finding.happened_at_ms, producers, names, *_epochs(evidence), where)


def _all(evidence: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    """What stands under a name or, of several, under its plural."""
    one = evidence.get(name)
    return tuple(evidence.get(f"{name}s") or ()) if one is None else (one,)


def _epochs(evidence: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The data's epoch and the marker's; a late write tells its own as the producer's."""
    return evidence.get("data_epoch", evidence.get("producer_epoch")), evidence.get("marker_epoch")


def table_row(event: Event, view: View) -> dict[str, object]:
    return {
        "What": wording.KINDS[event.finding.kind],
        "When (UTC)": wording.since(event.at_ms, view.to_ms),
        "Producer id": " → ".join(str(producer) for producer in event.producers) or "–",
        "Transactional id": " → ".join(cut(name, 60) for name in event.names) or "–",
        "Old epoch": _digits(event.old_epoch),
        "New epoch": _digits(event.new_epoch),
        "Where": cut(event.where),
        "Grade": str(event.finding.grade),
        "State": "open" if event.finding.closed_reason is None else "closed",
    }


def _digits(value: int | None) -> str:
    return "–" if value is None else str(value)
