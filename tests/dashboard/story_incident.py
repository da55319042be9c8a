"""An incident in full, with the evidence as the rules store it: an unclean election cut a log, and what came of it.

`orders`-3 lost its newest records to an election, the group its place, ids never reached the sink, others came twice.
"""

from collections.abc import Sequence
from pathlib import Path

from dashboard.actions import Action, Doing
from dashboard.actions import row as action_row
from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.incidents import identity
from guarantees.lifecycle import Change, FindingEvent
from store.findings import append_events
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store as cluster

PIPELINE = "orders-to-payments"
OLD_END, NEW_END = cluster.BASE_OFFSET + 7_130, cluster.BASE_OFFSET + 7_100
LOST = (NEW_END + 3, NEW_END + 7, NEW_END + 11)
IDS = ("order-000777", cluster.HOSTILE, "=2+2")
COPIES = (cluster.BASE_OFFSET + 7_050, cluster.BASE_OFFSET + 7_061)
EXPLANATION = "The rack of broker 2 lost power."
NOTE = "Broker 2 was taken down by hand.\n=1+1"


def add(data_dir: Path, story_ms: int, ids: Sequence[str] = IDS) -> list[Finding]:
    """Written by another process than the rest of the story."""
    found = findings(story_ms, ids)
    log = SegmentLog(data_dir, producer_name("host-3", "collect"))
    append_events(log, [FindingEvent(Change.OPENED, one.happened_at_ms + 6_000, one) for one in found])
    log.close()
    page = SegmentLog(data_dir, producer_name("host-3", "dashboard"))
    note = Action("incident-1", story_ms - 10_000, Doing.NOTE, found[0].finding_id, "Grace", NOTE)
    about = identity(PIPELINE, found[0])
    why = Action("incident-2", story_ms - 9_000, Doing.EXPLAIN, None, "Ada", EXPLANATION, incident_id=about)
    page.append("operator_actions", [action_row(one) for one in (note, why)])
    page.close()
    return found


def findings(story_ms: int, ids: Sequence[str] = IDS) -> list[Finding]:
    """From the first cause to the last consequence."""
    at = story_ms - 50_000  # after all else: nothing of the story explains it
    return [_election(at), _cut(at + 1_000), _lost(at + 2_000, ids), _rewind(at + 5_000), _copies(at + 20_000)]


def _election(at: int) -> Finding:
    return _finding(
        Kind.UNCLEAN_ELECTION, None, 3, at, "orders-3 elected a leader that was not in sync", None,
        {"leader_before": 2, "leader": 1, "leader_epoch_before": 3, "leader_epoch": 4, "in_sync_replicas_before": [2],
         "observed_before_at_ms": at - 5_000, "observed_at_ms": at, "is_cut": True, "first_lost_offset": NEW_END},
    )  # fmt: skip


def _cut(at: int) -> Finding:
    cut, beyond = OLD_END - NEW_END, [{"group_id": "order-service", "committed_offset": OLD_END - 5}]
    return _finding(
        Kind.LOG_TRUNCATED, None, 4, at, f"orders-3 was cut by {cut} offsets", Bounds(cut, cut, cut, Unit.OFFSETS),
        {"first_lost_offset": NEW_END, "high_watermark_before": OLD_END, "high_watermark": NEW_END,
         "leader_epoch_before": 3, "leader_epoch": 4, "leader_before": 2, "leader": 1,
         "observed_before_at_ms": at - 5_000, "observed_at_ms": at, "groups_beyond_end": beyond},
        not_observable="Which of them a producer had been told were stored.",
    )  # fmt: skip


def _rewind(at: int) -> Finding:
    before, after = OLD_END - 5, NEW_END - 40
    return _finding(
        Kind.REWIND, "order-service", 3, at, f"order-service went back {before - after} offsets on orders-3",
        Bounds(0, 40, before - after, Unit.OFFSETS),
        {"committed_offset_before": before, "committed_offset": after, "observed_before_at_ms": at - 5_000,
         "observed_at_ms": at},
    )  # fmt: skip


def _lost(at: int, ids: Sequence[str]) -> Finding:
    lost = [
        {"message_id": name, "offset": offset, "observed_at_ms": at - 9_000, "commit_passed_at_ms": at}
        for name, offset in zip(ids, LOST, strict=True)
    ]
    return _finding(
        Kind.LOST_WRITE, "order-service", 4, at, f"{PIPELINE} lost 3 message ids between orders-3 and payments",
        Bounds(3, 3, 3, Unit.MESSAGE_IDS), {"lost": lost, "late": [], "sampled_lost": 3, "sink": "payments"},
        until=35_000,
    )  # fmt: skip


def _copies(at: int) -> Finding:
    first, last = COPIES
    copy = {"partition": 3, "producer_id": 9001, "producer_epoch": 0, "sequence": 5, "timestamp_ms": at}
    example = {"message_id": "order-000765", "first": copy | {"offset": first - 90}, "last": copy | {"offset": first}}
    number = last - first + 1
    return _finding(
        Kind.DUPLICATE_WRITE, None, 3, at, f"{number} records of payments-3 stored twice",
        Bounds(number, number, number, Unit.RECORDS),
        {"cause": "sent_twice", "producer_id": 9001, "producer_epoch": 0, "first_offset": first, "last_offset": last,
         "examples": [example]},
        topic=cluster.PAYMENTS,
    )  # fmt: skip


def _finding(
    kind: Kind, group: str | None, severity: int, at: int, title: str, bounds: Bounds | None,
    evidence: dict[str, object], *, topic: cluster.Topic = cluster.ORDERS, until: int = 0,
    not_observable: str | None = None,
) -> Finding:  # fmt: skip
    said = [Statement(Grade.PROVEN, f"{title}: offsets and epochs say so.")]
    if not_observable:
        said.append(Statement(Grade.NOT_OBSERVABLE, not_observable))
    place = Place(cluster.CLUSTER_ID, topic.name, topic.topic_id, 3, group)
    owner = PIPELINE if group else None
    return Finding(
        kind, place, f"incident {kind}", severity, title, tuple(said), bounds, evidence, at, at + until, owner
    )
