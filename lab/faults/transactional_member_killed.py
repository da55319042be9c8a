"""S16, consume-transform-produce in transactions, killed at random: nothing is lost and nothing is there twice.

The member of `shipping-ledger` is killed in the middle of whatever it does; its successor fences it, and reads on from
what was committed together with the entries.
"""

import random
import time
from dataclasses import replace

from guarantees.findings import Kind
from lab.deeds import of_event
from lab.injected import Demand, Expected, Injected
from lab.pipelines import Lab
from lab.topics import PARTITIONS, SHIPMENTS, SHIPPING_LEDGER
from lab.truth import Tail, now_ms

NAME = "transactional_member_killed"
BREAKS = "nothing: the protocol at work"
_KILLS = 2
# A transaction of the workload takes about a second: the moment falls anywhere in it.
_LIVES_S = (2.0, 5.0)


def inject(lab: Lab) -> Injected:
    """Returns when the last successor has committed."""
    injected_at_ms, killed = now_ms(), []
    for _ in range(_KILLS):
        time.sleep(random.uniform(*_LIVES_S))
        killed.append(lab.ledger_member)
        lab.end(lab.ledger_member)
        fresh = lab.start_ledger_member()
        lab.gather([Tail(lab.paths.truth(fresh), from_beginning=True)], of_event("committed"), 1)
    return Injected(
        fault=NAME,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=now_ms(),
        expected=tuple(_may_come_again(partition) for partition in range(PARTITIONS[SHIPMENTS])),
        details={"killed": killed},
    )


def recover(_lab: Lab, injected: Injected) -> Injected:
    """The last successor goes on."""
    return replace(injected, recovered_at_ms=now_ms())


def _may_come_again(partition: int) -> Expected:
    """What a member had read and not committed is read again: within Kafka, which is legal."""
    return Expected(
        kind=Kind.POSSIBLE_REDELIVERY,
        topic=SHIPMENTS,
        partition=partition,
        group_id=SHIPPING_LEDGER,
        count=None,
        first_offset=None,
        last_offset=None,
        evidence_at_ms=now_ms(),
        demand=Demand.NONE,
    )
