"""A member processes a batch, and dies before it commits it: its partitions move, and the batch is delivered again.

Legal under at least once; the sink then holds those ids twice, the second time from the surviving member's producer.
"""

from guarantees.findings import Kind
from lab.commands import Command, Fault
from lab.deeds import payments, places
from lab.faults.crash import after_crash, crash, recovered
from lab.injected import Demand, Injected, expected_by_partition
from lab.pipelines import Lab
from lab.topics import ORDERS, PAYMENTS, PAYMENTS_SERVICE
from lab.truth import now_ms

NAME = "consumer_dies"
BREAKS = "exactly once: records are delivered and processed twice"
RECORDS = 24


def inject(lab: Lab) -> Injected:
    """Crash a member between processing and commit; wait until the other one has paid the same orders again."""
    crashed = crash(lab, Command(Fault.DIE_BEFORE_COMMIT, RECORDS))
    batch = payments(lab.lines(crashed.name))[-RECORDS:]
    redelivered = [paid.order for paid in batch]
    moved = after_crash(lab, crashed)
    paid_again = lab.gather(
        [crashed.survivor_tail],
        lambda lines: [paid.payment for paid in payments(lines) if paid.order in redelivered],
        len(redelivered),
    )
    paid_at_ms = now_ms()
    # A partition the survivor has read to its end before anybody looked shows no sign of the move.
    possible = expected_by_partition(
        Kind.POSSIBLE_REDELIVERY, ORDERS, PAYMENTS_SERVICE, redelivered, moved.at_ms, Demand.ANY
    )
    return Injected(
        fault=NAME,
        injected_at_ms=crashed.asked_at_ms,
        evidence_at_ms=paid_at_ms,
        expected=(
            *possible,
            *expected_by_partition(Kind.DUPLICATE_WRITE, PAYMENTS, None, paid_again, paid_at_ms),
        ),
        details={**crashed.details(moved), "first_copies": places(paid.payment for paid in batch)},
    )


def recover(lab: Lab, injected: Injected) -> Injected:
    """A fresh member takes its share."""
    return recovered(lab, injected)
