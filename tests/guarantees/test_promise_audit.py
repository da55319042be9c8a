from dataclasses import replace

import pytest

from guarantees.pipeline_facts import Backlog, Commits, Producers
from guarantees.promise_audit import audited
from guarantees.promises import Guarantee
from guarantees.unknown import Unknown
from tests.guarantees.pipeline_builders import DAY_MS, NOT_ASKED, PIPELINE, facts, topic

ALO, AMO, EO = Guarantee.AT_LEAST_ONCE, Guarantee.AT_MOST_ONCE, Guarantee.EXACTLY_ONCE


def requirements(promise=EO, *, has_sink=True, **changed):
    pipeline = replace(PIPELINE, promise=promise, sink="invoices" if has_sink else None)
    return {r.name: r for r in audited(pipeline, facts(**changed if has_sink else changed | {"sink": None}))}


def test_a_pipeline_in_order_misses_nothing_and_what_no_answer_tells_is_said():
    unknown = {name: r.seen for name, r in requirements().items() if r.met is not True}

    assert all(isinstance(seen, Unknown) and seen.reason.startswith("not observable") for seen in unknown.values())
    assert list(unknown) == [
        "records that the producers of orders never sent",
        "acks of the producers of orders",
        "acks of the producers of invoices",
        "isolation.level of payments",
    ]


COPIES = "copies of an acknowledged record of orders"
ELECTION = "unclean.leader.election.enable of orders"
RETENTION = "retention of orders against the backlog"
COMPACTION = "cleanup.policy of orders"
COMMITS = "commits of payments on every partition"
IDEMPOTENCE = "enable.idempotence of the producers of invoices"
TRANSACTIONS = "records of invoices in transactions"
PENDING = "commits of payments inside the transaction"
VERSION = "transaction.version of the cluster (KIP-890)"


ONE_FACT = [
    (COPIES, {}, True),
    (COPIES, {"source": topic("orders", min_insync_replicas=1)}, False),
    (COPIES, {"source": topic("orders", replication_factor=1)}, False),
    (COPIES, {"source": topic("orders", replication_factor=2)}, True),
    (COPIES, {"source": topic("orders", min_insync_replicas=NOT_ASKED)}, None),
    (ELECTION, {"source": topic("orders", unclean_leader_election=True)}, False),
    (ELECTION, {"source": topic("orders", unclean_leader_election=NOT_ASKED)}, None),
    (RETENTION, {"backlog": Backlog(5, DAY_MS // 2 - 1, DAY_MS // 2)}, True),
    (RETENTION, {"backlog": Backlog(5, DAY_MS // 2, DAY_MS // 2 + 1)}, None),
    (RETENTION, {"backlog": Backlog(5, DAY_MS // 2 + 1, DAY_MS)}, False),
    (RETENTION, {"backlog": Backlog(5, 0, None)}, None),
    (RETENTION, {"backlog": Backlog(0, 0, None)}, True),
    (RETENTION, {"backlog": NOT_ASKED}, None),
    (RETENTION, {"source": topic("orders", retention_ms=None), "backlog": NOT_ASKED}, True),
    (RETENTION, {"source": topic("orders", retention_ms=NOT_ASKED)}, None),
    (COMPACTION, {"source": topic("orders", cleanup_policy="compact,delete")}, False),
    (COMPACTION, {"source": topic("orders", cleanup_policy=NOT_ASKED)}, None),
    (COMMITS, {"commits": Commits(6, 1, 0, None)}, False),
    (COMMITS, {"commits": Commits(6, 0, 1, "no answer")}, None),
    (COMMITS, {"commits": NOT_ASKED}, None),
    (IDEMPOTENCE, {"sink": topic("invoices", producers=Producers(10, 9, 9))}, False),
    (IDEMPOTENCE, {"sink": topic("invoices", producers=Producers(0, 0, 0))}, None),
    (IDEMPOTENCE, {"sink": topic("invoices", producers=NOT_ASKED)}, None),
    (TRANSACTIONS, {"sink": topic("invoices", producers=Producers(10, 10, 9))}, False),
    (TRANSACTIONS, {"sink": topic("invoices", producers=NOT_ASKED)}, None),
    (PENDING, {"pending_commit_at_ms": None}, None),
    (PENDING, {"pending_commit_at_ms": NOT_ASKED}, None),
    (VERSION, {"transaction_version": 1}, False),
    (VERSION, {"transaction_version": NOT_ASKED}, None),
    ("message ids of orders sampled", {"source": topic("orders", sampling_rate=NOT_ASKED)}, False),
    ("rights to see it", {"refused": {"configs": "not permitted"}}, False),
    ("rights to see it", {"refused": NOT_ASKED}, None),
]


@pytest.mark.parametrize(("name", "changed", "expected"), ONE_FACT)
def test_one_fact_decides_one_requirement(name, changed, expected):
    before, after = requirements(), requirements(**changed)
    moved = {other for other in before if before[other].met is not after[other].met}

    assert after[name].met is expected
    assert moved <= ({IDEMPOTENCE, TRANSACTIONS} if name in (IDEMPOTENCE, TRANSACTIONS) else {name})


@pytest.mark.parametrize(
    ("name", "promises"),
    [
        (COPIES, {ALO, EO}),
        (RETENTION, {ALO, EO}),
        (IDEMPOTENCE, {AMO, EO}),
        (TRANSACTIONS, {EO}),
        ("isolation.level of payments", {EO}),
        (COMMITS, {AMO, ALO, EO}),
        ("sink declared", {AMO, ALO, EO}),
    ],
)
def test_a_promise_needs_what_would_break_it_and_no_more(name, promises):
    assert {promise for promise in Guarantee if name in requirements(promise)} == promises


def test_what_is_missing_comes_first_then_what_is_unknown():
    found = requirements(source=topic("orders", cleanup_policy="compact")).values()

    assert [r.met for r in found] == sorted((r.met for r in found), key=[False, None, True].index)
    assert next(iter(found)).name == COMPACTION


def test_without_a_sink_nothing_is_asked_of_one_and_its_absence_is_missing():
    found = requirements(has_sink=False)

    assert found["sink declared"].met is False
    assert not [name for name in found if "invoices" in name]


@pytest.mark.parametrize(
    ("changed", "name", "seen"),
    [
        ({}, COPIES, "min.insync.replicas 2, 3 replicas"),
        ({}, RETENTION, "retention.ms 86,400,000; the oldest of 120 unread offsets waits for 1 to 4 s"),
        ({"backlog": Backlog(7, 2_000, None)}, RETENTION,
         "retention.ms 86,400,000; the oldest of 7 unread offsets waits for 2 s or more"),
        ({"backlog": Backlog(7, 2_000_000, None)}, RETENTION,
         "retention.ms 86,400,000; the oldest of 7 unread offsets waits for 2000 s or more"),
        ({"backlog": Backlog(7, 1_000_000, 4_000_000)}, RETENTION,
         "retention.ms 86,400,000; the oldest of 7 unread offsets waits for 1000 to 4000 s"),
        ({"commits": Commits(6, 0, 2, "no answer")}, COMMITS, Unknown("on 4 of 6 partitions; no answer")),
        ({"refused": {"committed_offsets": "not permitted"}}, "rights to see it", "committed offsets: not permitted"),
        ({}, "message ids of orders sampled", "a share of 0.5"),
    ],
)  # fmt: skip
def test_what_was_seen_is_said_in_numbers(changed, name, seen):
    assert requirements(**changed)[name].seen == seen
