"""A member commits a batch and dies before it processes it: nobody reads those orders again, nobody is paid."""

from guarantees.findings import Kind
from lab.commands import Command, Fault
from lab.deeds import polled
from lab.faults.crash import after_crash, crash, recovered
from lab.injected import Demand, Expected, Injected, expected_by_partition
from lab.pipelines import Lab
from lab.topics import ORDERS, PAYMENTS_SERVICE

NAME = "commit_before_processing"
BREAKS = "at least once: records are never processed"
RECORDS = 24


def inject(lab: Lab) -> Injected:
    """Crash a member between commit and processing; wait until its partitions have moved."""
    crashed = crash(lab, Command(Fault.COMMIT_FIRST, RECORDS))
    lost = polled(lab.lines(crashed.name))[-1]
    lost_at_ms = lab.lines(crashed.name)[-1].at_ms
    moved = after_crash(lab, crashed)
    return Injected(
        fault=NAME,
        injected_at_ms=crashed.asked_at_ms,
        evidence_at_ms=lost_at_ms,
        expected=(
            *expected_by_partition(Kind.LOST_WRITE, ORDERS, PAYMENTS_SERVICE, lost, lost_at_ms),
            *(_nothing_redelivered(partition, moved.at_ms) for partition in crashed.partitions),
        ),
        details=crashed.details(moved),
    )


def recover(lab: Lab, injected: Injected) -> Injected:
    """A fresh member takes its share."""
    return recovered(lab, injected)


def _nothing_redelivered(partition: int, moved_at_ms: int) -> Expected:
    """The member left and its partitions moved: a monitor may say that records could come again. None did."""
    return Expected(
        kind=Kind.POSSIBLE_REDELIVERY,
        topic=ORDERS,
        partition=partition,
        group_id=PAYMENTS_SERVICE,
        count=0,
        first_offset=None,
        last_offset=None,
        evidence_at_ms=moved_at_ms,
        demand=Demand.NONE,
    )
