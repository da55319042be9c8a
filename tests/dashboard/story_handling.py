"""What people did in the story: the rewind was acknowledged and noted, also by a name that tries to break the page."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from guarantees.findings import Bounds, Finding, Unit
from guarantees.lifecycle import Change, FindingEvent
from store.findings import append_events
from store.log import SegmentLog
from store.segments import producer_name

NOTE = "Deployed 4.2, which seeks back on start.\n    # <b>not a heading</b>\n\n- nor a list"


def build(data_dir: Path, rewind: Finding, hostile: str) -> None:
    log = SegmentLog(data_dir, producer_name("host-1", "dashboard"))
    at = rewind.happened_at_ms
    log.append("operator_actions", [
        _action(1, "acknowledge", rewind, at + 60_000, "Ada", None),
        _action(2, "note", rewind, at + 90_000, "Ada", NOTE),
        _action(3, "note", rewind, at + 95_000, hostile[:80], hostile),
    ])  # fmt: skip
    log.close()


def _action(number: int, action: str, about: Finding, at_ms: int, who: str, note: str | None) -> dict[str, object]:
    return {"action_id": f"story-{number}", "observed_at": at_ms, "action": action, "finding_id": about.finding_id,
            "who": who, "note": note}  # fmt: skip


def spread(finding: Finding, partitions: int) -> list[Finding]:
    """The same finding on so many partitions, a few milliseconds apart, as one event leaves them."""
    return [
        replace(
            finding,
            place=replace(finding.place, partition=number),
            happened_at_ms=finding.happened_at_ms + number,
            bounds=Bounds(1, 1, 1, Unit.RECORDS),
        )
        for number in range(partitions)
    ]


def store(data_dir: Path, findings: Sequence[Finding]) -> None:
    """Findings of another process."""
    log = SegmentLog(data_dir, producer_name("host-2", "jobs"))
    append_events(log, [FindingEvent(Change.OPENED, one.happened_at_ms + 6_000, one) for one in findings])
    log.close()
