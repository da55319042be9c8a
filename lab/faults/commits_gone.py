"""S12, a group goes on without its committed offsets, as after a fail-over to a cluster that does not have them.

Two groups have read everything and their commits are deleted with them. One starts again with
auto.offset.reset=earliest and is delivered all of it again; the other with latest, and never reads what was written in
between.
"""

import time
from dataclasses import replace

from confluent_kafka import Consumer

from guarantees.findings import Grade, Kind
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Expected, Injected
from lab.records import read_until
from lab.truth import now_ms

CODE = "S12"
TITLE = "a group without its commits: reset to earliest, reset to latest"
BREAKS = "earliest: everything is delivered again; latest: what was written meanwhile is never read"
SILENT = "no operator reset: nobody set an offset"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns when both groups have committed again."""
    written, between, then = ground.some(500, 1000), ground.some(100, 400), 50
    topic, end = ground.create_topic("bookings"), written + between + then
    again, skipping = ground.name("again"), ground.name("skipping")
    ground.produce(topic, written)
    ground.read_as_members(topic, {again: written, skipping: written})
    time.sleep(SEEN_AFTER_S)
    injected_at_ms = now_ms()
    gone_at_ms = _deleted(ground, again, skipping)
    ground.produce(topic, between)
    latest, skipped_at_ms = _goes_on_at_the_end(ground, topic, skipping, then, end)
    first = ground.some(50, 200)
    earliest, rewound_at_ms = _starts_anew(ground, topic, again, first)
    ground.hold(latest, earliest)
    everything, missed = range(written), range(written, written + between)
    absent = {"was_absent": True, "is_operator_reset": False, "committed_offset_before": written}
    skip = {"trigger": "commit_absent", "committed_offset_before": written}
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=rewound_at_ms,
        expected=(
            *(_commit_gone(topic, group_id, everything, gone_at_ms) for group_id in (again, skipping)),
            _moved(Kind.REWIND, topic, again, Grade.PROVEN, everything, rewound_at_ms, absent),
            _moved(Kind.SKIPPED_FORWARD, topic, skipping, Grade.POSSIBLE, missed, skipped_at_ms, skip),
        ),
        details={"topic": topic, "first_commit": first, "end": end},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """The group that reads again reads to the end; both leave in order."""
    latest, earliest = ground.held
    earliest.commit(message=read_until(earliest, int(str(injected.details["end"])) - 1), asynchronous=False)
    ground.leave(ground.name("skipping"), latest)
    ground.leave(ground.name("again"), earliest)
    return replace(injected, recovered_at_ms=now_ms())


def _deleted(ground: Ground, *group_ids: str) -> int:
    """The groups are gone, and a monitor could have seen that; when they were."""
    for deleted in ground.admin.delete_consumer_groups(list(group_ids)).values():
        deleted.result(timeout=30)
    gone_at_ms = now_ms()
    time.sleep(SEEN_AFTER_S)
    return gone_at_ms


def _goes_on_at_the_end(ground: Ground, topic: str, group_id: str, count: int, end: int) -> tuple[Consumer, int]:
    """auto.offset.reset=latest: the member gets only what is written once it is there."""
    member = ground.consumer(group_id, auto_offset_reset="latest")
    member.subscribe([topic])
    ground.await_that(
        lambda: member.poll(0.1) is None and len(member.assignment()) == 1, f"{group_id} has no partition"
    )
    member.poll(3)  # it asks for the end of the log with its first fetch
    ground.produce(topic, count)
    member.commit(message=read_until(member, end - 1), asynchronous=False)
    return member, now_ms()


def _starts_anew(ground: Ground, topic: str, group_id: str, first: int) -> tuple[Consumer, int]:
    """auto.offset.reset=earliest: the member gets everything again, and commits the first of it."""
    member = ground.consumer(group_id)
    member.subscribe([topic])
    member.commit(message=read_until(member, first - 1), asynchronous=False)
    return member, now_ms()


def _commit_gone(topic: str, group_id: str, read: range, at_ms: int) -> Expected:
    gone = {"committed_offset": read.stop}
    return replace(_moved(Kind.COMMIT_EXPIRED, topic, group_id, Grade.PROBABLE, read, at_ms, gone), count=None)


def _moved(
    kind: Kind, topic: str, group_id: str, grade: Grade, offsets: range, at_ms: int, facts: dict[str, object]
) -> Expected:
    return Expected(
        kind=kind,
        topic=topic,
        partition=0,
        group_id=group_id,
        count=len(offsets),
        first_offset=offsets.start,
        last_offset=offsets.stop - 1,
        evidence_at_ms=at_ms,
        grade=grade,
        facts=facts,
    )
