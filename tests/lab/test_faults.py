"""The story on a real cluster, and the cluster itself is asked whether the ground truth is true."""

import pytest

from guarantees.findings import Kind
from lab.commands import Command, Fault
from lab.errors import LabError
from lab.faults import (
    commit_before_processing,
    consumer_dies,
    producer_resends,
    transaction_left_open,
    transactional_member_killed,
)
from lab.faults.catalogue import FAULTS
from lab.injected import load_injected
from lab.pipelines import Lab
from lab.self_check import disagreements, read_stored
from lab.story import tell

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def lab(cluster, tmp_path_factory):
    with Lab(cluster.bootstrap, tmp_path_factory.mktemp("lab"), progress=lambda _: None) as running:
        yield running


@pytest.fixture(scope="module")
def before(lab):
    """What the topics held before the first fault."""
    return read_stored(lab.bootstrap)


@pytest.fixture(scope="module")
def told(lab, before):
    return {injected.fault: injected for injected in tell(lab)}


@pytest.fixture(scope="module")
def after(lab, told):
    return read_stored(lab.bootstrap)


def ids(injected, kind, topic):
    return {
        message_id
        for each in injected.expected
        if (each.kind, each.topic) == (kind, topic)
        for message_id in each.message_ids
    }


def test_without_a_fault_nothing_is_lost_or_stored_twice(before):
    assert all(before.records.values()), "topics without records prove nothing"
    assert disagreements(before, []) == []


def test_a_second_lab_on_the_same_cluster_is_refused(lab, cluster, tmp_path):
    with pytest.raises(LabError, match="a cluster of its own"):
        Lab(cluster.bootstrap, tmp_path / "second").start()


def test_the_cluster_holds_exactly_what_was_injected(told, after):
    assert told.keys() == FAULTS.keys() - {transactional_member_killed.NAME}
    assert disagreements(after, list(told.values())) == []


@pytest.mark.parametrize(
    ("fault", "disagreeing"),
    [
        (producer_resends, ["extra copies in orders", "extra copies in payments"]),
        (commit_before_processing, ["ids lost between orders and payments"]),
        (consumer_dies, ["extra copies in payments"]),
    ],
)
def test_a_fault_that_was_not_written_down_is_noticed(told, after, fault, disagreeing):
    others = [injected for name, injected in told.items() if name != fault.NAME]
    assert [sentence.partition(":")[0] for sentence in disagreements(after, others)] == disagreeing


def test_the_truth_is_kept_in_the_labs_directory(lab, told):
    written = load_injected(lab.paths.injected)
    assert {injected.fault for injected in written} == told.keys()
    assert all(injected.recovered_at_ms for injected in written)


def test_a_producer_that_resends_stores_its_last_batch_twice(told):
    injected = told[producer_resends.NAME]

    resent = ids(injected, Kind.DUPLICATE_WRITE, "orders")
    assert len(resent) == producer_resends.RECORDS
    assert ids(injected, Kind.DUPLICATE_WRITE, "payments") == resent
    assert injected.details["dead_producer_id"] != injected.details["fresh_producer_id"]
    assert injected.details["first_copies"].keys() == injected.details["second_copies"].keys() == resent


def test_a_member_that_commits_first_loses_its_batch(told):
    lost = ids(told[commit_before_processing.NAME], Kind.LOST_WRITE, "orders")
    assert len(lost) == commit_before_processing.RECORDS


def test_a_member_that_dies_before_its_commit_has_its_batch_delivered_again(told):
    injected = told[consumer_dies.NAME]

    redelivered = ids(injected, Kind.POSSIBLE_REDELIVERY, "orders")
    assert len(redelivered) == consumer_dies.RECORDS
    assert ids(injected, Kind.DUPLICATE_WRITE, "payments") == redelivered
    on = {each.partition for each in injected.expected if each.kind is Kind.POSSIBLE_REDELIVERY}
    assert on <= set(injected.details["partitions_moved"])
    assert injected.details["dead_member_producer_id"] != injected.details["moved_to_producer_id"]


def test_a_transaction_left_open_holds_the_stable_offset_until_its_timeout(told):
    injected = told[transaction_left_open.NAME]
    (frozen,) = injected.expected

    assert frozen.kind is Kind.STABLE_OFFSET_FROZEN
    assert frozen.first_offset == injected.details["first_offset"]
    open_s = (injected.details["aborted_at_ms"] - injected.details["begun_at_ms"]) / 1000
    assert 58 < open_s < 80


def test_a_process_of_the_workload_that_dies_unasked_is_an_error_of_the_lab(lab, after):
    victim = lab.orders_producer
    lab.ask(victim, Command(Fault.DIE_BEFORE_PROGRESS, 1))

    with pytest.raises(LabError, match=f"{victim} ended by itself"):
        lab.gather([], list, 1)
