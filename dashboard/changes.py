"""What changed between two moments, as one list in the order of time, each with the page that shows it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from dashboard import change_questions as asked
from dashboard import wording
from dashboard.queries import Question, Rows
from guarantees.findings import Kind
from store.audit_requests import AUDIT, CANCEL

Row = Mapping[str, Any]
SETTINGS_SHOWN = 4
AUDIT_WORDS = {AUDIT: "asked for an exact audit", CANCEL: "cancelled the exact audit"}


class Sort(StrEnum):
    """The kinds of change, in the words of the page."""

    LEADER = "Leader"
    IN_SYNC = "In-sync replicas"
    REPLICAS = "Assigned replicas"
    TOPIC = "Topic"
    SETTING = "Setting"
    REBALANCE = "Rebalance"
    FINDING = "Finding"
    ACTION = "Person"
    TIDEMARK = "Tidemark itself"


@dataclass(frozen=True, slots=True)
class Change:
    """Seen at `at_ms`; it happened after `after_ms`, the last look before (None: there was none, it is the moment
    itself, or `what` says when it happened). `where` and `what` hold names from outside. `page` and `selected` lead
    to what shows it.
    """

    at_ms: int
    after_ms: int | None
    sort: Sort
    where: str
    what: str
    page: str
    selected: Mapping[str, str] = field(default_factory=dict)


def newest_first(answers: Mapping[Question, Rows]) -> list[Change]:
    """Every change the answers tell of."""
    made = [make(row) for question, make in MADE.items() for row in answers.get(question, ())]
    return sorted(made, key=lambda one: (-one.at_ms, one.sort, one.where))


def left_out(answers: Mapping[Question, Rows]) -> int:
    """How many rows the answers do not hold because there are too many: the oldest of each kind."""
    return sum(rows[0]["found"] - len(rows) for rows in answers.values() if rows)


def _leader(row: Row) -> Change:
    before, after = (
        "nobody" if row[name] is None else f"broker {row[name]}" for name in ("leader_before", "leader_after")
    )
    what = f"leader {before} → {after}"
    if row["leader_before"] == row["leader_after"]:
        what = "elected again, and still nobody leads" if row["leader_after"] is None else f"elected again: {after}"
    return _of_partitions(row, Sort.LEADER, what)


def _in_sync(row: Row) -> Change:
    said = (("left", "fell out of sync"), ("back", "in sync again"))
    what = "; ".join(f"{_brokers(row[name])} {words}" for name, words in said if row[name])
    return _of_partitions(row, Sort.IN_SYNC, what)


def _replicas(row: Row) -> Change:
    what = f"assigned to {_brokers(row['replicas_after'])} instead of {_brokers(row['replicas_before'])}"
    return _of_partitions(row, Sort.REPLICAS, what)


def _appeared(row: Row) -> Change:
    number = wording.plural(row["partitions"], "partition")
    what = {
        "added": f"{number} added, from {row['partition']} on",
        "anew": f"made anew, with {number} and another topic id",
        "new": f"appeared, with {number}: made, or visible, since",
    }[row["how"]]
    return _of_topic(row, what)


def _gone(row: Row) -> Change:
    return _of_topic(row, f"{row['reason']}: {wording.plural(row['partitions'], 'partition')}")


def _setting(row: Row) -> Change:
    before, after = json.loads(row["before"]), json.loads(row["configuration"])
    differing = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    said = [f"{name} {before.get(name, 'unset')} → {after.get(name, 'unset')}" for name in differing[:SETTINGS_SHOWN]]
    more = [f"{len(differing) - SETTINGS_SHOWN} more"] if len(differing) > SETTINGS_SHOWN else []
    return Change(row["at_ms"], row["after_ms"], Sort.SETTING, row["topic"], "; ".join(said + more), "replication")


def _rebalance(row: Row) -> Change:
    counts = {name: len(json.loads(row[name] or "[]")) for name in ("joined", "left", "moved")}
    moved = f"{wording.plural(counts['moved'], 'partition')} moved"
    members = [f"{wording.plural(counts[name], 'member')} {name}" for name in ("left", "joined") if counts[name]]
    cause = (row["cause"] or "").replace("partitions moved", moved)
    if cause == "all members left" and counts["left"]:
        cause = f"{members[0]}, and none stayed"
    # Most causes count the members themselves.
    what = "; ".join(filter(None, [cause, *(one for one in (*members, moved) if one not in cause)]))
    where = str(row["group_id"])
    return Change(row["at_ms"], row["after_ms"], Sort.REBALANCE, where, what, "rebalances", {"group": where})


def _finding(row: Row) -> Change:
    number = f"{row['findings']}, the gravest: " if row["findings"] > 1 else ""
    ended = f" ({row['closed_reason']})" if row["closed_reason"] else ""
    what = f"{row['change']}: {_kind(row['kind'])}, {_happened(row)}. {number}{row['title']}{ended}"
    where = " · ".join(filter(None, [row["topic"], row["group_id"]])) or "the cluster"
    link = {"finding": row["finding_id"]}
    return Change(row["at_ms"], None, Sort.FINDING, where, what, "violations", link)


def _happened(row: Row) -> str:
    """When, by the brokers or the records: often long before somebody looked. Of several, the first."""
    if row["happened_at_ms"] is None:
        return "when is not known"
    return f"happened {'from ' if row['findings'] > 1 else ''}{wording.since(row['happened_at_ms'], row['at_ms'])}"


def _action(row: Row) -> Change:
    if row["action"] in (AUDIT, CANCEL):
        return _audit(row)
    note = f": {row['note']}" if row["note"] else ""
    link = {"finding": row["finding_id"]} if row["finding_id"] else {}
    return Change(row["at_ms"], None, Sort.ACTION, row["who"] or "–", f"{row['action']}{note}", "violations", link)


def _audit(row: Row) -> Change:
    """An exact audit that was asked for, or is no longer wanted; its request is untrusted."""
    asked = row["asked"] or {}
    pipeline = _pipeline(asked.get("request"))
    link = {name: one for name, one in (("pipeline", pipeline), ("audit", asked.get("run_id"))) if one}
    what = " of ".join(filter(None, [AUDIT_WORDS[row["action"]], pipeline]))
    return Change(row["at_ms"], None, Sort.ACTION, row["who"] or "–", what, "audit", link)


def _pipeline(request: str | None) -> str | None:
    try:
        asked = json.loads(request or "{}")
    except ValueError:
        return None
    name = asked.get("pipeline") if isinstance(asked, dict) else None
    return name if isinstance(name, str) else None


def _part(row: Row) -> Change:
    message = f": {row['message']}" if row["message"] else ""
    return Change(row["at_ms"], None, Sort.TIDEMARK, row["part"], f"{row['event']}{message}", "health")


MADE: Mapping[Question, Callable[[Row], Change]] = {
    asked.LEADERS: _leader,
    asked.IN_SYNC: _in_sync,
    asked.REPLICAS: _replicas,
    asked.APPEARED: _appeared,
    asked.GONE: _gone,
    asked.SETTINGS: _setting,
    asked.REBALANCES: _rebalance,
    asked.FINDINGS: _finding,
    asked.ACTIONS: _action,
    asked.PARTS: _part,
}


def _of_partitions(row: Row, sort: Sort, what: str) -> Change:
    """Of one partition, or of all that did the same at the same moment."""
    first = f"{row['topic']}-{row['partition']}"
    others = row["partitions"] - 1
    where = first if not others else f"{first} and {wording.plural(others, 'partition')} more"
    where += f" of {wording.plural(row['topics'], 'topic')}" if row["topics"] > 1 else ""
    link = {"partition": f"{row['topic_id']}-{row['partition']}"}
    return Change(row["at_ms"], row["after_ms"], sort, where, what, "replication", link)


def _of_topic(row: Row, what: str) -> Change:
    link = {"partition": f"{row['topic_id']}-{row['partition']}"}
    return Change(row["at_ms"], row["after_ms"], Sort.TOPIC, row["topic"], what, "replication", link)


def _brokers(numbers: Sequence[int]) -> str:
    return f"{'broker' if len(numbers) == 1 else 'brokers'} {', '.join(map(str, numbers))}"


def _kind(kind: str) -> str:
    return wording.KINDS[Kind(kind)] if kind in set(Kind) else kind


def selections(found: Sequence[Change]) -> Iterator[str]:
    """A name for each change that stays the same while others come and go."""
    seen: dict[str, int] = {}
    for one in found:
        name = f"{one.at_ms}-{one.sort.name.lower()}-{one.where}"
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}-{seen[name]}"
