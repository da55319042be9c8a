"""S6, a tail lost at a clean fail-over: records acknowledged with acks=1 that the new leader never had.

The follower is paused and stays in sync by the brokers' timings; records written to the leader alone are acknowledged
to a producer with acks=1 and never rise below the high watermark. The leader is killed, the follower, in sync and
eligible, leads. The high watermark never falls: only the log end of each replica shows what is gone.
"""

import time
from dataclasses import replace

from guarantees.findings import Grade, Kind
from lab.errors import LabError
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Expected, Injected
from lab.truth import now_ms

CODE = "S6"
TITLE = "acks=1, the leader dies with records its follower lacks"
BREAKS = "records acknowledged with acks=1 are lost"
SILENT = "nothing that could be read is gone; the election is clean"
ALONE = True

# Longer than replica.fetch.wait.max.ms (500): otherwise the fetch that waits at the leader is answered with the tail,
# lies in the paused follower's socket and is applied when it goes on.
_PARKED_FETCH_S = 0.8


def inject(ground: Ground) -> Injected:
    """Returns when the follower leads."""
    killed, paused = ground.two_to_hurt()
    kept, lost = ground.some(400, 1200), ground.some(100, 300)
    topic = ground.create_topic("clicks", [[killed, paused]], min_insync_replicas="1")
    ground.produce(topic, kept)
    ground.read_to(ground.name("counting"), topic, kept)
    before = ground.end_of(topic)
    time.sleep(SEEN_AFTER_S)
    injected_at_ms = now_ms()
    _kill_with_a_tail(ground, topic, lost, killed, paused)
    led = ground.await_state(topic, 0, lambda seen: seen.leader == paused)
    after = ground.end_after_election(topic, before)
    if after.offset != kept:
        raise LabError(f"{topic} should end at {kept}, and its new leader says {after}")
    epochs = {"leader_epoch_before": before.leader_epoch, "leader_epoch": after.leader_epoch}
    leaders = {"leader_before": killed, "leader": paused, **epochs}
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=led.at_ms,
        expected=(_cut(topic, kept, lost, led.at_ms, leaders),),
        details={"killed": killed, "paused": paused, "topic": topic},
    )


def _kill_with_a_tail(ground: Ground, topic: str, count: int, killed: int, paused: int) -> None:
    """The leader dies with records that it alone has, after a monitor could have seen them."""
    ground.cluster.pause(paused)
    try:
        time.sleep(_PARKED_FETCH_S)
        ground.produce(topic, count, acks="1")
        time.sleep(SEEN_AFTER_S)
        ground.cluster.kill(killed)
    finally:
        ground.cluster.resume(paused)


def _cut(topic: str, kept: int, lost: int, at_ms: int, leaders: dict[str, int]) -> Expected:
    ends = {"first_lost_offset": kept, "high_watermark_before": kept, "log_end_offset_before": kept + lost}
    return Expected(
        kind=Kind.TAIL_TRUNCATED,
        topic=topic,
        partition=0,
        group_id=None,
        count=lost,
        first_offset=kept,
        last_offset=kept + lost - 1,
        evidence_at_ms=at_ms,
        grade=Grade.PROBABLE,
        facts={**ends, **leaders},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """Start the killed broker again; it cuts its log to the new leader's."""
    ground.cluster.restart(int(str(injected.details["killed"])))
    ground.await_state(str(injected.details["topic"]), 0, lambda seen: len(seen.in_sync) == 2)
    return replace(injected, recovered_at_ms=now_ms())
