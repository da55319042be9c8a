"""S12, a group goes on without its committed offsets, as after a fail-over to a cluster that does not have them.

Two groups have read everything and their commits are deleted with them. One starts again with
auto.offset.reset=earliest and is delivered all of it again; the other with latest, and never reads what was written in
between.
"""

import time
from dataclasses import replace

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
    topic = ground.create_topic("bookings")
    again, skipping = ground.name("again"), ground.name("skipping")
    ground.produce(topic, written)
    ground.read_as_members(topic, {again: written, skipping: written})
    time.sleep(SEEN_AFTER_S)
    injected_at_ms = now_ms()
    for deleted in ground.admin.delete_consumer_groups([again, skipping]).values():
        deleted.result(timeout=30)
    gone_at_ms = now_ms()
    time.sleep(SEEN_AFTER_S)
    ground.produce(topic, between)
    end = written + between + then

    latest = ground.consumer(skipping, auto_offset_reset="latest")
    latest.subscribe([topic])
    ground.await_that(
        lambda: latest.poll(0.1) is None and len(latest.assignment()) == 1, f"{skipping} has no partition"
    )
    latest.poll(3)  # it asks for the end of the log with its first fetch
    ground.produce(topic, then)
    latest.commit(message=read_until(latest, end - 1), asynchronous=False)
    skipped_at_ms = now_ms()

    earliest = ground.consumer(again)
    earliest.subscribe([topic])
    first = ground.some(50, 200)
    earliest.commit(message=read_until(earliest, first - 1), asynchronous=False)
    rewound_at_ms = now_ms()
    ground.hold(latest, earliest)

    def expected(
        kind: Kind,
        group_id: str,
        grade: Grade,
        count: int | None,
        offsets: range,
        at_ms: int,
        facts: dict[str, object],
    ) -> Expected:
        return Expected(
            kind=kind,
            topic=topic,
            partition=0,
            group_id=group_id,
            count=count,
            first_offset=offsets.start,
            last_offset=offsets.stop - 1,
            evidence_at_ms=at_ms,
            grade=grade,
            facts=facts,
        )

    everything = range(written)
    gone = {"committed_offset": written}
    absent = {"was_absent": True, "is_operator_reset": False, "committed_offset_before": written}
    skip = {"trigger": "commit_absent", "committed_offset_before": written}
    missed = range(written, written + between)
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=rewound_at_ms,
        expected=(
            expected(Kind.COMMIT_EXPIRED, again, Grade.PROBABLE, None, everything, gone_at_ms, gone),
            expected(Kind.COMMIT_EXPIRED, skipping, Grade.PROBABLE, None, everything, gone_at_ms, gone),
            expected(Kind.REWIND, again, Grade.PROVEN, written, everything, rewound_at_ms, absent),
            expected(Kind.SKIPPED_FORWARD, skipping, Grade.POSSIBLE, between, missed, skipped_at_ms, skip),
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
