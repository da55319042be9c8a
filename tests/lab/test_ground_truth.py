from guarantees.findings import Kind
from lab.deeds import Payment, Spot, acknowledged, assignment, owned_partitions, payments, polled, producer_id
from lab.injected import append_injected, expected_by_partition, load_injected
from lab.pipelines import is_calm
from lab.self_check import Stored, disagreements, extra_copies, missing
from lab.topics import LEDGER, ORDERS, PAYMENTS, SHIPMENTS
from lab.truth import Tail, TruthLog, read_truth
from tests.lab.builders import expected, injected, line


def test_a_line_being_written_waits_until_it_is_whole(tmp_path):
    path = tmp_path / "truth.jsonl"
    TruthLog(path).write("sending", message_ids=["a"])
    tail = Tail(path, from_beginning=True)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:10])

    assert [each.facts for each in tail.new_lines()] == [{"message_ids": ["a"]}]
    path.write_bytes(whole + whole)
    assert [each.event for each in tail.new_lines()] == ["sending"]


def test_a_tail_begins_where_the_file_ended(tmp_path):
    path = tmp_path / "truth.jsonl"
    log = TruthLog(path)
    log.write("before")
    tail = Tail(path)
    log.write("after")

    assert [each.event for each in tail.new_lines()] == ["after"]
    assert tail.new_lines() == []
    assert [each.event for each in read_truth(path)] == ["before", "after"]


def test_a_tail_of_a_process_that_has_not_started_waits_for_its_file(tmp_path):
    tail = Tail(tmp_path / "truth.jsonl")
    assert tail.new_lines() == []
    TruthLog(tmp_path / "truth.jsonl").write("started")
    assert [each.event for each in tail.new_lines()] == ["started"]


def test_acknowledgements_payments_and_batches_are_read_from_lines():
    lines = [
        line("acknowledged", message_id="order-1", partition=2, offset=7),
        line("polled", records=[["order-1", 2, 7]]),
        line("processed", records=[["order-1", 2, 7, 4, 9]]),
        line("producer", producer_id=0, producer_epoch=0),
    ]

    assert acknowledged(lines) == [Spot(2, 7, "order-1")]
    assert polled(lines) == [[Spot(2, 7, "order-1")]]
    assert payments(lines) == [Payment(order=Spot(2, 7, "order-1"), payment=Spot(4, 9, "order-1"))]
    assert producer_id(lines) == 0
    assert producer_id(lines[:3]) is None


def test_a_member_owns_what_it_was_assigned_last_and_has_committed_for():
    assigned, committed = line("assigned", partitions=[0, 1]), line("committed", offsets={"0": 4})

    assert owned_partitions([assigned]) == []
    assert owned_partitions([assigned, committed]) == [0, 1]
    assert owned_partitions([assigned, committed, line("revoked", partitions=[0, 1])]) == []
    assert owned_partitions([assigned, committed, line("revoked", partitions=[0, 1]), committed]) == []
    assert assignment([assigned, line("lost", partitions=[0, 1])]) == []


def test_a_group_is_calm_when_every_partition_has_one_owner_and_nobody_is_idle():
    def member(*partitions):
        return [line("assigned", partitions=list(partitions)), line("committed", offsets={})]

    assert is_calm([member(0, 1, 2), member(3, 4, 5)])
    assert not is_calm([member(0, 1, 2, 3, 4, 5), member()])
    assert not is_calm([member(0, 1, 2), member(2, 3, 4, 5)])
    assert not is_calm([member(0, 1, 2)])


def test_what_is_expected_is_summed_up_by_partition():
    spots = [Spot(1, 9, "c"), Spot(0, 5, "b"), Spot(0, 3, "a")]

    first, second = expected_by_partition(Kind.LOST_WRITE, ORDERS, "payments-service", spots, 99)

    assert (first.partition, first.count, first.first_offset, first.last_offset) == (0, 2, 3, 5)
    assert first.message_ids == ("a", "b")
    assert (second.partition, second.count, second.message_ids) == (1, 1, ("c",))


def test_a_fault_is_read_back_as_it_was_written_and_its_last_statement_counts(tmp_path):
    begun = injected(expected(), fault="producer_resends")
    path = tmp_path / "injected.jsonl"
    append_injected(path, begun)
    assert load_injected(path) == [begun]

    ended = type(begun)(**{name: getattr(begun, name) for name in begun.__slots__} | {"recovered_at_ms": 5})
    append_injected(path, ended)
    assert load_injected(path) == [ended]


def test_before_the_first_fault_nothing_was_injected(tmp_path):
    assert load_injected(tmp_path / "injected.jsonl") == []


def test_copies_beyond_the_first_are_extra():
    first, second, third = Spot(0, 1, "a"), Spot(0, 4, "a"), Spot(0, 9, "a")

    assert extra_copies([third, first, second, Spot(0, 2, "b")]) == [second, third]


def test_an_id_the_sink_does_not_hold_is_missing():
    assert missing([Spot(0, 1, "a"), Spot(0, 2, "b")], [Spot(3, 7, "b")]) == [Spot(0, 1, "a")]


def stored(orders, paid):
    return Stored({ORDERS: orders, PAYMENTS: paid, SHIPMENTS: [], LEDGER: []}, ends={})


def test_a_cluster_that_holds_what_was_injected_agrees():
    orders = [Spot(0, 0, "order-000000"), Spot(0, 1, "order-000001")]
    paid = [Spot(0, 0, "order-000000"), Spot(0, 1, "order-000000")]
    truth = injected(
        expected(topic=PAYMENTS, count=1),
        *expected_by_partition(Kind.LOST_WRITE, ORDERS, "payments-service", orders[1:], 1),
    )

    assert disagreements(stored(orders, paid), [truth]) == []


def test_a_copy_nobody_injected_is_a_disagreement():
    orders = [Spot(0, 0, "a"), Spot(0, 1, "a")]

    (sentence,) = disagreements(stored(orders, orders[:1]), [])

    assert sentence == "extra copies in orders: 0 injected, 1 stored; not injected ['a'], absent []"


def test_a_third_copy_where_one_extra_was_injected_is_a_disagreement():
    paid = [Spot(0, offset, "order-000000") for offset in range(3)]

    (sentence,) = disagreements(stored(paid[:1], paid), [injected(expected(topic=PAYMENTS, count=1))])

    assert sentence.startswith("extra copies in payments: 1 injected, 2 stored")


def test_an_injected_loss_that_did_not_happen_is_a_disagreement():
    truth = injected(*expected_by_partition(Kind.LOST_WRITE, ORDERS, "payments-service", [Spot(0, 0, "a")], 1))

    (sentence,) = disagreements(stored([Spot(0, 0, "a")], [Spot(0, 0, "a")]), [truth])

    assert sentence == "ids lost between orders and payments: 1 injected, 0 stored; not injected [], absent ['a']"
