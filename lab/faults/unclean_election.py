"""S7, an unclean leader election: a replica that had fallen behind leads, and what it lacks is gone.

A topic on two brokers with min.insync.replicas=1. The follower is paused until it is out of sync; records written and
committed then are acknowledged by the leader alone. The leader is killed and the follower resumed: unclean elections
are allowed, it leads, and its log ends where it was paused. One group had committed beyond that, another had not.
"""

import time
from dataclasses import replace

from guarantees.findings import Grade, Kind
from lab.errors import LabError
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Demand, Expected, Injected
from lab.truth import now_ms

CODE = "S7"
TITLE = "unclean leader election"
BREAKS = "records acknowledged with acks=all are lost; a group stands beyond the end of the log"
SILENT = "the group that had not read that far; topics on other brokers"
ALONE = True


def inject(ground: Ground) -> Injected:
    """Returns when the follower leads: from then on the cluster shows the loss."""
    killed, paused = ground.two_to_hurt()
    kept, lost = ground.some(800, 1200), ground.some(300, 700)
    topic = ground.create_topic(
        "orders", [[killed, paused]], min_insync_replicas="1", unclean_leader_election_enable="true"
    )
    beyond, behind = ground.name("billing"), ground.name("audit")
    ground.produce(topic, kept)
    ground.read_to(beyond, topic, kept)
    ground.read_to(behind, topic, kept - 1)
    before = ground.end_of(topic)
    injected_at_ms = now_ms()
    ground.cluster.pause(paused)
    try:
        ground.await_state(topic, 0, lambda seen: seen.in_sync == (killed,))
        ground.produce(topic, lost)
        ground.read_to(beyond, topic, kept + lost)
        time.sleep(SEEN_AFTER_S)
        killed_at_ms = now_ms()
        ground.cluster.kill(killed)
    finally:
        ground.cluster.resume(paused)
    led = ground.await_state(topic, 0, lambda seen: seen.leader == paused)
    after = ground.end_after_election(topic, before)
    if after.offset != kept:
        raise LabError(f"{topic} should end at {kept}, and its new leader says {after}")

    def expected(
        kind: Kind,
        grade: Grade | None,
        facts: dict[str, object],
        *,
        group_id: str | None = None,
        demand: Demand = Demand.EACH,
        has_time: bool = False,
    ) -> Expected:
        return Expected(
            kind=kind,
            topic=topic,
            partition=0,
            group_id=group_id,
            count=None if kind is Kind.UNCLEAN_ELECTION else lost,
            first_offset=kept,
            last_offset=kept + lost - 1,
            evidence_at_ms=led.at_ms,
            demand=demand,
            grade=grade,
            facts=facts,
            happened_between_ms=(killed_at_ms, led.at_ms) if has_time else None,
        )

    leaders = {
        "leader_before": killed,
        "leader": paused,
        "leader_epoch_before": before.leader_epoch,
        "leader_epoch": after.leader_epoch,
        "in_sync_replicas_before": [killed],
        "groups_beyond_end": [{"group_id": beyond, "committed_offset": kept + lost}],
        "first_lost_offset": kept,
    }
    cut = {**leaders, "high_watermark_before": kept + lost, "high_watermark": kept, "is_unclean": True}
    ahead = {"committed_offset": kept + lost, "high_watermark": kept}
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=led.at_ms,
        expected=(
            expected(Kind.LOG_TRUNCATED, Grade.PROVEN, cut, has_time=True),
            expected(Kind.UNCLEAN_ELECTION, Grade.PROBABLE, {**leaders, "is_cut": True}, has_time=True),
            expected(Kind.COMMITTED_AHEAD, Grade.PROVEN, ahead, group_id=beyond),
            expected(Kind.COMMIT_IN_TRUNCATED_LOG, None, {}, group_id=beyond, demand=Demand.NONE),
        ),
        details={"killed": killed, "paused": paused, "killed_at_ms": killed_at_ms, "topic": topic},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """Start the killed broker again, and wait until both replicas are in sync."""
    killed, topic = int(str(injected.details["killed"])), str(injected.details["topic"])
    ground.cluster.restart(killed)
    ground.await_state(topic, 0, lambda seen: len(seen.in_sync) == 2)
    return replace(injected, recovered_at_ms=now_ms())
