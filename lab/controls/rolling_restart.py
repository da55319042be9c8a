"""C1, a rolling restart: each broker stops in order and comes back while a producer and a group go on."""

from dataclasses import replace

from guarantees.findings import Grade, Kind
from lab.controls.stated import control, may_be_said
from lab.ground import HURT, STAYS, Ground
from lab.injected import Injected
from lab.traffic import Traffic
from lab.truth import now_ms

CODE = "C1"
TITLE = "rolling restart of all brokers, with traffic"
BREAKS = "nothing"
SILENT = "everything"
ALONE = True
_REPLICAS = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]


def inject(ground: Ground) -> Injected:
    """Returns when the last broker is back and every replica in sync."""
    topic = ground.create_topic("orders", _REPLICAS, min_insync_replicas="2")
    # Two copies alone: each in its turn is all there is, and leads.
    for what, is_allowed in (("pair", "false"), ("unclean-pair", "true")):
        ground.produce(ground.create_topic(what, [list(HURT)], unclean_leader_election_enable=is_allowed), 100)
    injected_at_ms = now_ms()
    with Traffic(ground, topic, len(_REPLICAS), ground.name("readers")):
        for broker in (*HURT, STAYS):
            ground.cluster.restart(broker)
            for partition in range(len(_REPLICAS)):
                ground.await_state(topic, partition, lambda seen: seen.in_sync == seen.replicas)
            for what in ("pair", "unclean-pair"):
                ground.await_state(ground.name(what), 0, lambda seen: seen.in_sync == seen.replicas)
    # Between two samples of a monitor a leader may have caught up: from outside it looks like one that had not.
    may_be = may_be_said(Kind.UNCLEAN_ELECTION, ground.name("unclean-pair"), partition=0)
    return control(CODE, injected_at_ms, replace(may_be, grade=Grade.POSSIBLE))
