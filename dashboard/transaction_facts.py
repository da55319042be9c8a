"""What is known of one open transaction, as sentences and rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dashboard import wording
from dashboard.transaction_commands import Part
from dashboard.transactions import Asked, OpenTransaction
from dashboard.view import View
from guarantees.findings import Finding
from guarantees.lag import MARKER_SLACK
from guarantees.rules.transactions import TransactionClass

Row = Mapping[str, Any]

SAME_AS_A_MISSING_RIGHT = (
    "A missing right looks the same: coordinators leave out, without a word, what Tidemark may not describe "
    "(DESCRIBE on the transactional id). Make sure with find-hanging, run by someone who may describe everything."
)
ABORT_LISTED = (
    "Do not abort it by start offset: one partition would be aborted while its coordinator may commit the others."
)


def none_chosen(chosen: str | None, asked: Asked) -> tuple[str, str]:
    """Why no transaction is shown in full; that the chosen one is not open is only said where everybody answered."""
    if chosen is None:
        return "Select a transaction in the table to see its partitions, who waits, and the commands to look at it.", ""
    if not asked.coordinators:
        return f"Whether this transaction is open is not known: {asked.missing} did not all tell.", "See Health."
    if not asked.leaders:
        return f"No coordinator lists this transaction; {asked.missing} did not all tell of theirs.", "See Health."
    return "This transaction was not open in the newest round.", "It may have ended: its outcome is below, if read."


def advice(one: OpenTransaction) -> list[str]:
    """What will happen to it by itself, and what must be true before anyone ends it."""
    said = [_by_itself(one)] if one.is_described else []
    if one.row["unlisted"]:
        said.append(_unlisted(one))
    return said


def _by_itself(one: OpenTransaction) -> str:
    """An ongoing transaction ends at its timeout; the coordinator looks every ten seconds for those past it."""
    started, timeout = one.row["transaction_started_at_ms"], one.row["timeout_ms"]
    if one.row["state"] != "Ongoing":
        said = f"Its end is decided ({one.row['state']}) and its markers are being written."
    elif started is None:
        said = f"Its coordinator aborts it {wording.duration(timeout)} after its begin, which it does not tell."
    elif one.seen_ms > started + timeout:
        said = f"Its coordinator was due to abort it at {wording.utc(started + timeout)}, and has not yet."
    else:
        said = f"Its coordinator aborts it by itself at {wording.utc(started + timeout)}, up to 10 s later."
    return f"{said} {ABORT_LISTED}"


def _unlisted(one: OpenTransaction) -> str:
    where = wording.plural(one.row["unlisted"], "partition")
    if one.is_denied is None:
        return f"Whether a coordinator lists it on {where} is not known: they did not all answer. Nothing to abort yet."
    seen = wording.duration(one.seen_ms - one.row["unlisted_from_ms"])
    outlook = "nobody will end it." if one.state is TransactionClass.HANGING else "too short to be sure that it hangs."
    return f"On {where} no coordinator has listed it for at least {seen}: {outlook} {SAME_AS_A_MISSING_RIGHT}"


def part_row(row: Row, one: OpenTransaction, view: View) -> dict[str, object]:
    """A partition of the transaction, every offset in full digits."""
    return {
        "Partition": f"{row['topic']}-{row['partition']}",
        "Listed": "yes" if row["is_listed"] else "no" if one.is_denied else "not known",
        "Held back": row["held_back"],
        "Start": _digits(row["current_transaction_start_offset"]),
        "Last stable": _digits(row["last_stable_offset"]),
        "High watermark": _digits(row["high_watermark"]),
        "Stands since": _standing(row, view),
        "Last write": "–" if row["last_timestamp_ms"] is None else wording.since(row["last_timestamp_ms"], view.to_ms),
        "Last sequence": _digits(row["last_sequence"]),
        "Coordinator epoch": _digits(row["coordinator_epoch"]),
        "Unknown because": gap(row),
    }


def gap(row: Row) -> str:
    """Why numbers of this partition are missing."""
    if row["observed_at_ms"] is None:
        return "its offsets were not sampled in the newest round"
    reasons = [row[name] for name in ("last_stable_offset_unknown", "high_watermark_unknown") if row[name]]
    if not reasons and row["current_transaction_start_offset"] is None:
        is_held = row["last_stable_offset"] != row["high_watermark"]
        reasons.append("its leader named no such producer" if is_held else "nothing of it is written there")
    return "; ".join(dict.fromkeys(reasons))


def _standing(row: Row, view: View) -> str:
    """Since when the stable offset stands, where something is held back; the first sample asked may be too late."""
    if not row["held_back"] or row["since_ms"] is None:
        return "–"
    since = wording.since(row["since_ms"], view.to_ms)
    return f"{since} or before" if row["since_ms"] == row["first_ms"] else since


def reader_row(row: Row) -> dict[str, object]:
    """A group's commit on a partition of the transaction, against the stable offset."""
    return {
        "Group": row["group_id"],
        "Partition": f"{row['topic']}-{row['partition']}",
        "Stands": stands(row),
        "Committed": _digits(row["committed_offset"]),
        "Last stable": _digits(row["last_stable_offset"]),
    }


def stands(row: Row) -> str:
    """Where a group's commit is, and whether it would wait; its isolation level is in no answer."""
    committed, stable = row["committed_offset"], row["last_stable_offset"]
    if row["is_pending"]:
        return "? its commit awaits the marker of a transaction"
    if committed is None or stable is None:
        return f"? {row['committed_offset_unknown'] or row['last_stable_offset_unknown'] or 'not observed'}"
    if committed > stable:
        return "past it: does not read read_committed"
    if stable - committed <= MARKER_SLACK:
        return "at it: waits, if read_committed"
    return f"{stable - committed:,} offsets before it: still has something to read"


def about(findings: Iterable[Finding], one: OpenTransaction) -> list[Finding]:
    """Findings that name its producer id or its transactional id, the newest first."""
    named = [finding for finding in findings if _names(finding, one)]
    return sorted(named, key=lambda finding: (finding.closed_reason is not None, -finding.last_seen_at_ms))


def _names(finding: Finding, one: OpenTransaction) -> bool:
    evidence, transactional_id = finding.evidence, one.row["transactional_id"]
    producers = (evidence.get("producer_id"), *_listed(evidence.get("producer_ids")))
    names = (evidence.get("transactional_id"), *_listed(evidence.get("transactional_ids")))
    return one.row["producer_id"] in producers or (transactional_id is not None and transactional_id in names)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def command_part(row: Row) -> Part:
    return Part(row["topic"], row["partition"], row["current_transaction_start_offset"], row["broker"])


def _digits(value: int | None) -> str:
    return "–" if value is None else str(value)
