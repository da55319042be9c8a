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
    killed_at_ms = _kill_the_only_one_in_sync(ground, topic, beyond, range(kept, kept + lost), killed, paused)
    led = ground.await_state(topic, 0, lambda seen: seen.leader == paused)
    after = ground.end_after_election(topic, before)
    if after.offset != kept:
        raise LabError(f"{topic} should end at {kept}, and its new leader says {after}")
    leaders = {
        "leader_before": killed,
        "leader": paused,
        "leader_epoch_before": before.leader_epoch,
        "leader_epoch": after.leader_epoch,
        "in_sync_replicas_before": [killed],
        "groups_beyond_end": [{"group_id": beyond, "committed_offset": kept + lost}],
        "first_lost_offset": kept,
    }
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=led.at_ms,
        expected=_expected(topic, beyond, range(kept, kept + lost), leaders, (killed_at_ms, led.at_ms)),
        details={"killed": killed, "paused": paused, "killed_at_ms": killed_at_ms, "topic": topic},
    )


def _kill_the_only_one_in_sync(ground: Ground, topic: str, group_id: str, lost: range, killed: int, paused: int) -> int:
    """The group reads what the leader alone has, a monitor could have seen it, and the leader dies; when it did."""
    ground.cluster.pause(paused)
    try:
        ground.await_state(topic, 0, lambda seen: seen.in_sync == (killed,))
        ground.produce(topic, len(lost))
        ground.read_to(group_id, topic, lost.stop)
        time.sleep(SEEN_AFTER_S)
        killed_at_ms = now_ms()
        ground.cluster.kill(killed)
    finally:
        ground.cluster.resume(paused)
    return killed_at_ms


def _expected(
    topic: str, beyond: str, lost: range, leaders: dict[str, object], elected_between_ms: tuple[int, int]
) -> tuple[Expected, ...]:
    cut = Expected(
        kind=Kind.LOG_TRUNCATED,
        topic=topic,
        partition=0,
        group_id=None,
        count=len(lost),
        first_offset=lost.start,
        last_offset=lost.stop - 1,
        evidence_at_ms=elected_between_ms[1],
        grade=Grade.PROVEN,
        facts={**leaders, "high_watermark_before": lost.stop, "high_watermark": lost.start, "is_unclean": True},
        happened_between_ms=elected_between_ms,
    )
    election = replace(
        cut, kind=Kind.UNCLEAN_ELECTION, count=None, grade=Grade.PROBABLE, facts={**leaders, "is_cut": True}
    )
    ahead = replace(
        cut,
        kind=Kind.COMMITTED_AHEAD,
        group_id=beyond,
        facts={"committed_offset": lost.stop, "high_watermark": lost.start},
        happened_between_ms=None,
    )
    stale = replace(ahead, kind=Kind.COMMIT_IN_TRUNCATED_LOG, grade=None, facts={}, demand=Demand.NONE)
    return cut, election, ahead, stale


def recover(ground: Ground, injected: Injected) -> Injected:
    """Start the killed broker again, and wait until both replicas are in sync."""
    killed, topic = int(str(injected.details["killed"])), str(injected.details["topic"])
    ground.cluster.restart(killed)
    ground.await_state(topic, 0, lambda seen: len(seen.in_sync) == 2)
    return replace(injected, recovered_at_ms=now_ms())
