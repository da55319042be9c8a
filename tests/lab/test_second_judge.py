from collections import Counter
from dataclasses import replace

import pytest

from guarantees.findings import Kind
from lab.checker.history import Operation, Outcome, Poll, Record, Send
from lab.deeds import Spot
from lab.injected import Demand
from lab.second_judge import (
    FINAL_READER,
    Anomaly,
    LogKey,
    Met,
    aborted_on_the_way,
    disagreements,
    in_words,
    lost_on_the_way,
    met,
    true,
    within,
)
from lab.self_check import Stored
from lab.story_clients import story_met
from lab.topics import LEDGER, ORDERS, PAYMENTS, PAYMENTS_SERVICE, SHIPMENTS
from tests.lab.builders import expected, injected, line

P0 = LogKey("payments", 0)


def sent(value, offset=None, key=P0, outcome=Outcome.OK, process="producer 1"):
    return Operation(process, outcome, (Send(key, Record(offset, value)),))


def read(values, key=P0, by=FINAL_READER, outcome=Outcome.OK):
    """`values`: by offset."""
    return Operation(by, outcome, (Poll({key: tuple(Record(offset, value) for offset, value in values.items())}),))


def test_a_log_that_holds_what_was_sent_and_is_read_once_meets_nothing():
    history = [sent("a", 0), sent("b", 1), read({0: "a"}, by="g"), read({1: "b"}, by="g"), read({0: "a", 1: "b"})]
    assert met(history) == Counter()


def test_a_record_stored_twice_is_a_duplicate_and_no_reader_has_gone_back():
    history = [sent("a", 2), sent("b", 3), *(read({o: v}, by="g") for o, v in enumerate("abab"))]
    assert met([*history, read(dict(enumerate("abab")))]) == {Met(Anomaly.DUPLICATE, "payments"): 2}


def test_what_the_final_reader_has_not_seen_is_lost_though_a_group_had_read_it():
    history = [sent("a", 0), sent("b", 1), read({0: "a"}, by="g"), read({1: "b"}, by="g"), read({0: "a"})]
    assert met(history) == {Met(Anomaly.LOST_WRITE, "payments"): 1}


def test_what_was_refused_or_never_acknowledged_is_not_lost():
    history = [sent("a", 0), sent("b", outcome=Outcome.FAIL), sent("c", outcome=Outcome.INFO), read({0: "a"})]
    assert met(history) == Counter()


def test_what_retention_deletes_and_what_went_with_its_topic_is_not_lost():
    anew = LogKey("payments", 0, created=2)
    gone = [sent("a", 0), sent("b", 0, key=anew), read({0: "b"}, key=anew)]

    assert met(gone) == Counter(), "the first topic cannot be read any more"
    assert met([sent("a", 0), read({})], expiring=["payments"]) == Counter()
    assert met([sent("a", 0), read({})]) == {Met(Anomaly.LOST_WRITE, "payments"): 1}


def test_a_group_that_is_given_records_again_meets_as_many_whoever_of_its_members_reads():
    history = [sent(v, o) for o, v in enumerate("abcd")] + [read(dict(enumerate("abcd")))]
    again = [read({o: v}, by="g") for o, v in [(0, "a"), (1, "b"), (2, "c"), (1, "b"), (2, "c"), (3, "d")]]
    assert met([*history, *again]) == {Met(Anomaly.NONMONOTONIC_POLL, "payments", "g"): 2}


def test_a_group_that_passes_records_over_meets_as_many():
    history = [sent(v, o) for o, v in enumerate("abcd")] + [read(dict(enumerate("abcd")))]
    skipping = [read({0: "a"}, by="g"), read({3: "d"}, by="g")]
    assert met([*history, *skipping]) == {Met(Anomaly.POLL_SKIP, "payments", "g"): 2}


def test_another_groups_reading_excuses_no_skip_and_makes_none():
    history = [sent(v, o) for o, v in enumerate("abc")] + [read(dict(enumerate("abc")))]
    others = [read({0: "a"}, by="g"), read({1: "b"}, by="other"), read({2: "c"}, by="other")]
    assert met([*history, *others]) == Counter()


def test_a_group_that_reads_what_was_aborted_meets_it():
    history = [sent("a", 0), sent("b", outcome=Outcome.FAIL), read({0: "a"}, by="g"), read({1: "b"}, by="g")]
    assert met([*history, read({0: "a"})]) == {Met(Anomaly.ABORTED_READ, "payments", "g"): 1}


def test_what_was_sent_again_after_it_was_aborted_is_no_aborted_read():
    history = [sent("a", 0, outcome=Outcome.FAIL), sent("a", 2), read({2: "a"}, by="g"), read({2: "a"})]

    assert met(history) == Counter()


@pytest.mark.parametrize(
    ("history", "anomaly"),
    [
        ([sent("a", 0), sent("b", 0), read({0: "a"}), read({0: "b"})], Anomaly.INCONSISTENT_OFFSETS),
        ([sent("b", 1), sent("a", 0), read({0: "a", 1: "b"})], Anomaly.NONMONOTONIC_SEND),
        ([sent("a", 0), sent("b", 1), read({1: "b", 0: "a"})], Anomaly.BACKWARDS_IN_A_POLL),
        ([Operation("p", Outcome.OK, (*sent("b", 1).actions, *sent("a", 0).actions)), read({0: "a", 1: "b"})],
         Anomaly.BACKWARDS_IN_A_SEND),
        ([Operation(FINAL_READER, Outcome.OK, (*sent("a", 0).actions, *read({0: "a"}).actions))],
         Anomaly.PRECOMMITTED_READ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_no_fault_of_the_lab_makes_is_noticed_all_the_same(history, anomaly):
    assert met(history) == {Met(anomaly, "payments"): 1}


def test_an_id_of_the_source_that_the_sink_lacks_is_lost_on_the_way_wherever_the_sink_keeps_the_others():
    orders = LogKey("orders", 0)
    history = [
        sent("a", 4, key=orders),
        sent("b", 5, key=orders),
        sent("b", 9),
        read({9: "b"}, key=LogKey("payments", 3)),
    ]

    assert lost_on_the_way(history, "orders", "payments") == {Met(Anomaly.LOST_WRITE, "orders"): 1}
    assert lost_on_the_way([*history, read({10: "a"})], "orders", "payments") == Counter()


def test_an_id_that_only_aborted_transactions_sent_and_the_sink_holds_was_read_although_aborted():
    orders, payments = LogKey("orders", 0), LogKey("payments", 3)
    gone = [sent(value, key=orders, outcome=Outcome.FAIL) for value in ("a", "b", "c")]
    history = [*gone, sent("b", 9, key=orders), read({0: "a", 1: "b"}, key=payments)]

    assert aborted_on_the_way(history, "orders", "payments") == {Met(Anomaly.ABORTED_AT_SINK, "orders"): 1}
    assert +aborted_on_the_way([*history, sent("a", 10, key=orders)], "orders", "payments") == Counter()
    assert +aborted_on_the_way([*gone, read({0: "a"}, key=payments, by="g")], "orders", "payments") == Counter()


def test_what_is_still_on_its_way_is_not_looked_at():
    assert met([*within([sent("a", 0), sent("b", 1)], {P0: 1}), read({0: "a"})]) == Counter()


def test_the_ground_truth_says_at_least_what_is_demanded_and_at_most_what_may_be_said():
    truth = injected(
        expected(Kind.RESENT_BATCH, count=3),
        expected(Kind.REWIND, group="g", count=5),
        expected(Kind.POSSIBLE_REDELIVERY, group="g", count=2, demand=Demand.NONE),
        expected(Kind.COMMITTED_AHEAD, group="g", count=9),
        expected(Kind.LOG_TRUNCATED, group=None, count=None),
    )
    assert true([truth]) == {
        Met(Anomaly.DUPLICATE, "payments"): range(3, 4),
        Met(Anomaly.NONMONOTONIC_POLL, "payments", "g"): range(5, 8),
    }


def test_a_disagreement_is_said_whichever_of_the_two_says_more():
    twice, gone = Met(Anomaly.DUPLICATE, "payments"), Met(Anomaly.LOST_WRITE, "orders")

    assert disagreements({twice: 3}, {twice: range(3, 4)}) == []
    assert disagreements({}, {twice: range(3, 4)}) == ["duplicate on payments: clients met 0, the ground truth says 3"]
    assert disagreements({gone: 1}, {}) == ["lost-write on orders: clients met 1, the ground truth says 0"]
    assert disagreements({twice: 9}, {twice: range(3, 6)}) == [
        "duplicate on payments: clients met 9, the ground truth says 3 to 5"
    ]


def test_what_was_met_is_summed_up_by_anomaly():
    found = {Met(Anomaly.DUPLICATE, "a"): 2, Met(Anomaly.DUPLICATE, "b"): 1_000, Met(Anomaly.POLL_SKIP, "a", "g"): 0}
    assert in_words(found) == ("duplicate 1,002",)


STORED = Stored(
    {ORDERS: [Spot(0, n, f"order-{n}") for n in range(3)], PAYMENTS: [Spot(0, n, f"order-{n}") for n in range(3)]}
    | {SHIPMENTS: [Spot(0, 0, "s"), Spot(0, 1, "t")], LEDGER: [Spot(0, 1, "s"), Spot(0, 3, "t")]},
    ends={ORDERS: {0: 3}, PAYMENTS: {0: 3}, SHIPMENTS: {0: 2}, LEDGER: {0: 5}},
)  # fmt: skip


def timed(at_ms, event, **facts):
    return replace(line(event, **facts), at_ms=at_ms)


def workload():
    """A quiet story: three orders paid, two shipments entered, one transaction aborted on the way."""
    orders = [timed(n, "acknowledged", message_id=f"order-{n}", partition=0, offset=n) for n in range(4)]
    taken = [[f"order-{n}", 0, n] for n in range(3)]
    paid = [[f"order-{n}", 0, n, 0, n] for n in range(3)]
    shipped = [timed(n, "acknowledged", message_id="st"[n], partition=0, offset=n) for n in range(2)]
    entered = [timed(5, "committed", records=[["s", 0, 0]]), timed(6, "aborted", records=[["t", 0, 1]]),
               timed(7, "committed", records=[["t", 0, 1]])]  # fmt: skip
    return {
        "orders-producer-1": orders,
        "payments-service-1": [timed(10, "polled", records=taken), timed(11, "processed", records=paid)],
        "shipments-producer-1": shipped,
        "shipping-ledger-1": entered,
        "audit-reader-1": [timed(1, "committed", offset=1)],
    }


def test_the_workload_meets_nothing_while_nothing_happens_to_it():
    assert story_met(workload(), STORED) == Counter(), "the fourth order is not committed yet"


def test_a_member_that_takes_up_what_another_had_taken_up_is_given_it_again():
    truths = workload() | {"payments-service-2": [timed(20, "polled", records=[["order-1", 0, 1], ["order-2", 0, 2]])]}
    assert story_met(truths, STORED) == {Met(Anomaly.NONMONOTONIC_POLL, ORDERS, PAYMENTS_SERVICE): 2}


def test_an_order_that_is_not_paid_is_lost_on_the_way():
    unpaid = replace(STORED, records=dict(STORED.records) | {PAYMENTS: STORED.records[PAYMENTS][:2]})
    truths = workload() | {"payments-service-1": workload()["payments-service-1"][:1]}
    assert story_met(truths, unpaid) == {Met(Anomaly.LOST_WRITE, ORDERS): 1}


def test_the_final_reader_is_no_group_that_goes_back():
    history = [sent("a", 0), sent("b", 1), read({0: "a", 1: "b"}), read({0: "a", 1: "b"})]
    assert met(history) == Counter()
