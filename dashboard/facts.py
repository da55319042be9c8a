"""Evidence as a person reads it: names in words, numbers in full digits, times in UTC, copies side by side."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from dashboard import wording
from guarantees.findings import Finding

EXAMPLES = "examples"
NOT_KNOWN = "not known"
MOMENTS = ("_at_ms", "since_ms", "after_ms", "timestamp_ms", "write_ms")  # what else ends in _ms is a length
# Facts whose absence is one: a partition without a leader, a producer that is not idempotent, a commit that is there.
SAID_BY_ABSENCE = frozenset(
    {
        "absent_since_ms", "ahead_by_ms", "leader", "leader_before", "new_member_id", "owner", "producer_epoch",
        "producer_id", "rebalance", "sequence", "unknown_condition",
    }
)  # fmt: skip


def facts(evidence: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Everything but the examples as (name, value), in the evidence's own order."""
    told = {**evidence, **dict.fromkeys(_left_open(evidence), NOT_KNOWN)}
    return [pair for name, value in told.items() if name != EXAMPLES for pair in _flat(name, value)]


def examples(evidence: Mapping[str, Any]) -> list[dict[str, str]]:
    """Each example as one row; of a duplicate one row for each stored copy."""
    return [row for example in evidence.get(EXAMPLES, ()) for row in _example(example)]


def places(finding: Finding) -> list[tuple[str, str]]:
    """Where it happened, part by part."""
    place = finding.place
    parts = (
        ("Topic", place.topic),
        ("Partition", place.partition),
        ("Group", place.group_id),
        ("Topic id", place.topic_id),
        ("Cluster id", place.cluster_id),
    )
    return [(name, str(value)) for name, value in parts if value is not None]


def raw(finding: Finding) -> str:
    """The evidence as it is stored. Text, because a browser's own numbers lose digits above 2^53."""
    return json.dumps(finding.evidence, indent=2, sort_keys=True, ensure_ascii=True)


def label(name: str) -> str:
    """`first_lost_offset` as `First lost offset`, without the unit that the value carries."""
    words = name.removesuffix("_ms").removesuffix("_s").replace("_", " ")
    return words[:1].upper() + words[1:]


def value(name: str, given: object) -> str:
    """One value: a moment as UTC, a length with its unit, a count in full digits, or that it is not known."""
    if given is None:
        return "none" if name in SAID_BY_ABSENCE else NOT_KNOWN
    if isinstance(given, bool):
        return "yes" if given else "no"
    if name.endswith(MOMENTS):
        return wording.utc(int(str(given)))
    if isinstance(given, str) and (moment := _iso(given)) is not None:
        return wording.utc(moment)
    if name.endswith("_ms"):
        return f"{given} ms"
    if name.endswith("_s") and isinstance(given, int | float):
        return f"{given:g} s"
    if isinstance(given, float):
        return f"{given:g}"
    return str(given)


def _left_open(evidence: Mapping[str, Any]) -> Iterator[str]:
    """Facts that nobody could tell: who holds a stable offset, and who owns a partition of a group nobody described."""
    if "held_since_ms" in evidence:
        yield from (name for name in ("producer_id", "producer_epoch") if evidence.get(name, "") is None)
    if evidence.get("members", "") is None and evidence.get("owner", "") is None:
        yield "owner"


def _flat(name: str, given: object) -> Iterator[tuple[str, str]]:
    if isinstance(given, Mapping):
        for inner, part in given.items():
            for inner_name, shown in _flat(inner, part):
                yield f"{label(name)}: {inner_name[:1].lower()}{inner_name[1:]}", shown
    elif isinstance(given, list | tuple):
        yield label(name), ", ".join(_item(part) for part in given) or "none"
    else:
        yield label(name), value(name, given)


def _item(part: object) -> str:
    if isinstance(part, list | tuple):
        return " → ".join(value("", inner) for inner in part)
    if isinstance(part, Mapping):
        return " ".join(f"{label(name).lower()} {value(name, inner)}" for name, inner in part.items())
    return value("", part)


def _example(example: Any) -> Iterator[dict[str, str]]:
    if not isinstance(example, Mapping):
        yield {"Example": _item(example)}
        return
    shared = {label(name): value(name, part) for name, part in example.items() if not isinstance(part, Mapping)}
    copies = {name: part for name, part in example.items() if isinstance(part, Mapping)}
    if not copies:
        yield shared
    for name, copy in copies.items():
        yield shared | {"Copy": label(name)} | {label(inner): value(inner, part) for inner, part in copy.items()}


def _iso(text: str) -> int | None:
    """Evidence may hold moments as ISO text."""
    if len(text) < 20 or text[4:5] != "-" or text[10:11] not in "T ":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
