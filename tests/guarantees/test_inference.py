import pytest

from guarantees.inference import NEVER_SEEN, inferred
from guarantees.pipeline_facts import Commits, OpenTransaction, Producers
from guarantees.promises import Guarantee
from guarantees.unknown import Unknown
from tests.guarantees.pipeline_builders import NOT_ASKED, facts, topic

STATES = "partition states"
ALO, EO = Guarantee.AT_LEAST_ONCE, Guarantee.EXACTLY_ONCE
PLAIN = {"pending_commit_at_ms": None, "sink": topic("invoices", producers=Producers(100, 100, 0))}


def transaction(name, *topics, commits_offsets=True):
    return OpenTransaction(name, frozenset(topics), commits_offsets)


CHANGES = [
    ({}, ALO),
    ({"pending_commit_at_ms": 1_700_000_000_000}, EO),
    ({"pending_commit_at_ms": NOT_ASKED}, ALO),
    ({"sink": topic("invoices", producers=Producers(100, 100, 100))}, EO),
    ({"sink": topic("invoices", producers=Producers(100, 100, 99))}, ALO),
    ({"sink": topic("invoices", producers=Producers(0, 0, 0))}, ALO),
    ({"sink": None, "source": topic("orders", producers=Producers(9, 9, 9))}, ALO),
    ({"transactions": (transaction("tx", "invoices"),)}, EO),
    ({"transactions": (transaction("tx", "invoices", commits_offsets=False),)}, ALO),
    ({"transactions": (transaction("tx", "other"),)}, ALO),
    ({"transactions": (transaction("payments-1f3a-1", "other"),)}, EO),
    ({"transactions": (transaction("payments2-1f3a-1", "other"),)}, ALO),
    ({"commits": Commits(6, 6, 0, None)}, ALO),
    ({"commits": Commits(6, 1, 2, "no answer"), "commit_moves": (700, 900_000)}, ALO),
    ({"source": topic("orders", min_insync_replicas=NOT_ASKED)}, ALO),
    ({"source": topic("orders", replication_factor=NOT_ASKED, unclean_leader_election=True)}, ALO),
]


@pytest.mark.parametrize(("changed", "promise"), CHANGES)
def test_exactly_once_is_inferred_from_transactions_of_the_group_or_its_sink_alone(changed, promise):
    assert inferred("payments", facts(**PLAIN | changed)).promise is promise


def test_every_reason_names_its_fact_and_its_source():
    reasons = {reason.fact: reason.source for reason in inferred("payments", facts(**PLAIN)).reasons}

    assert reasons == {
        "0 of 100 sampled records of invoices came in transactions.": "sampled records",
        "payments has commits on 6 of 6 partitions of orders.": "committed offsets",
        "Its commits moved 30 times in 60 s, as far as samples show.": "committed offsets",
        "100 of 100 sampled records of orders carry a producer id.": "sampled records",
        "100 of 100 sampled records of invoices carry a producer id.": "sampled records",
        "orders forbids unclean leader election.": "topic configuration",
        "invoices has 3 replicas and min.insync.replicas 2: acks=all writes have 2 copies at least.": STATES,
        "orders has 3 replicas and min.insync.replicas 2: acks=all writes have 2 copies at least.": STATES,
        "invoices forbids unclean leader election.": "topic configuration",
    }


def test_the_deciding_reason_comes_first_and_speaks_for_exactly_once():
    first = inferred("payments", facts()).reasons[0]

    assert (first.speaks_for, first.source) == (EO, "committed offsets, error 88")
    assert "2023-11-14 22:13:20.000 UTC" in first.fact


def test_a_minimum_above_the_replicas_counts_as_the_replicas():
    weak = facts(source=topic("orders", replication_factor=1))

    assert any("acks=all writes have 1 copies at least" in reason.fact for reason in inferred("payments", weak).reasons)


def test_what_could_not_be_seen_is_said_with_its_reason():
    refused = Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED (29)")
    blind = facts(
        source=topic("orders", producers=refused, unclean_leader_election=NOT_ASKED),
        sink=None,
        transactions=NOT_ASKED,
        pending_commit_at_ms=NOT_ASKED,
        commits=NOT_ASKED,
        commit_moves=NOT_ASKED,
    )
    said = inferred("payments", blind)

    assert said.unseen == (
        "Whether its commits are transactional is not known: not asked.",
        "Which transactions are open is not known: not asked.",
        "Whether producers of orders are idempotent is not known: not permitted: TOPIC_AUTHORIZATION_FAILED (29).",
        "Whether orders allows unclean leader election is not known: not asked.",
        "What the group does with a record is not observable: no sink is known.",
        *NEVER_SEEN,
    )
    assert [reason.source for reason in said.reasons] == ["partition states"]
