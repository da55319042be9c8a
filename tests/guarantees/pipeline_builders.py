"""A pipeline whose facts are all known and all in order; a test changes the one it is about."""

from guarantees.pipeline_facts import Backlog, Commits, PipelineFacts, Producers, TopicFacts
from guarantees.promises import Guarantee, Pipeline
from guarantees.unknown import Unknown

DAY_MS = 86_400_000
NOT_ASKED = Unknown("not asked")
PIPELINE = Pipeline("billing", "orders", "payments", "invoices", Guarantee.EXACTLY_ONCE)


def topic(name, **changed):
    known = {
        "replication_factor": 3,
        "min_insync_replicas": 2,
        "unclean_leader_election": False,
        "retention_ms": DAY_MS,
        "cleanup_policy": "delete",
        "producers": Producers(100, 100, 100),
        "sampling_rate": 0.5,
    }
    return TopicFacts(name=name, **known | changed)


def facts(**changed):
    known = {
        "source": topic("orders"),
        "sink": topic("invoices"),
        "commits": Commits(6, 0, 0, None),
        "pending_commit_at_ms": 1_700_000_000_000,
        "commit_moves": (30, 60_000),
        "backlog": Backlog(120, 1_000, 4_000),
        "transactions": (),
        "transaction_version": 2,
        "refused": {},
    }
    return PipelineFacts(**known | changed)
