"""A producer dies after the broker's acknowledgement and before its own record of it; its successor sends again.

The copies in `orders` carry another producer id. `payments-service` keeps its promise, at least once, and pays both.
"""

from dataclasses import replace

from guarantees.findings import Kind
from lab.commands import Command, Fault
from lab.deeds import acknowledged, of_event, payments, places, producer_id
from lab.injected import Injected, expected_by_partition
from lab.pipelines import Lab
from lab.topics import ORDERS, PAYMENTS
from lab.truth import Tail, now_ms

NAME = "producer_resends"
BREAKS = "records are stored twice, by two producers"
RECORDS = 30


def inject(lab: Lab) -> Injected:
    """Kill the producer, start another, and wait until the second copies have been paid as well."""
    dead, injected_at_ms = lab.orders_producer, now_ms()
    member_tails = [lab.tail(name) for name in lab.members]
    lab.ask(dead, Command(Fault.DIE_BEFORE_PROGRESS, RECORDS))
    lab.await_end(dead)
    message_ids = set(lab.lines(dead)[-1].facts["message_ids"])

    fresh = lab.start_orders_producer()
    fresh_truth = lab.paths.truth(fresh)
    resent = lab.gather(
        [Tail(fresh_truth, from_beginning=True)],
        lambda lines: [spot for spot in acknowledged(lines) if spot.message_id in message_ids],
        len(message_ids),
    )
    resent_at_ms = now_ms()
    paid_again = lab.gather(
        member_tails, lambda lines: [done.payment for done in payments(lines) if done.order in resent], len(resent)
    )
    paid_at_ms = now_ms()
    lab.gather([Tail(fresh_truth, from_beginning=True)], of_event("producer"), 1)
    return Injected(
        fault=NAME,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=paid_at_ms,
        expected=(
            *expected_by_partition(Kind.DUPLICATE_WRITE, ORDERS, None, resent, resent_at_ms),
            *expected_by_partition(Kind.DUPLICATE_WRITE, PAYMENTS, None, paid_again, paid_at_ms),
        ),
        details={
            "dead_producer": dead,
            "dead_producer_id": producer_id(lab.lines(dead)),
            "fresh_producer": fresh,
            "fresh_producer_id": producer_id(lab.lines(fresh)),
            "first_copies": places(spot for spot in acknowledged(lab.lines(dead)) if spot.message_id in message_ids),
            "second_copies": places(resent),
        },
    )


def recover(_lab: Lab, injected: Injected) -> Injected:
    """The second producer already goes on where the first one stood."""
    return replace(injected, recovered_at_ms=now_ms())
