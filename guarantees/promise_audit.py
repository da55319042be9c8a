"""What a promise would need of clients, topics and rights, what of it is seen, and what follows where it is missing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from guarantees.amounts import counted
from guarantees.pipeline_facts import Backlog, PipelineFacts, Producers
from guarantees.promises import Guarantee, Pipeline
from guarantees.unknown import Unknown

# An outage of the group as long as its present backlog must still fit into the retention.
SAFE_SHARE_OF_RETENTION = 0.5

ACKS = Unknown("not observable: a producer's acks are in no answer")
UNSENT = Unknown("not observable: a record that was never sent is in no topic")
ISOLATION = Unknown("not observable until the group passes a stable offset")
NO_RECORDS = Unknown("no record of it was sampled")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing a promise needs. `met` None: not known, and `seen` says why or how much; `consequence` if it fails."""

    name: str
    needed: str
    seen: str | Unknown
    met: bool | None
    consequence: str


def audited(pipeline: Pipeline, facts: PipelineFacts) -> tuple[Requirement, ...]:
    """Every requirement of the pipeline's promise, those that are missing first, then the unknown ones."""
    found = [r for promises, rule in RULES if pipeline.promise in promises for r in rule(pipeline, facts)]
    return tuple(sorted(found, key=lambda requirement: _MISSING_FIRST[requirement.met]))


_MISSING_FIRST = {False: 0, None: 1, True: 2}


def _acks(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    for topic in facts.topics:
        yield Requirement(
            f"acks of the producers of {topic.name}", "all", ACKS, None,
            "with acks 0 or 1 an acknowledged record dies with its leader",
        )  # fmt: skip


def _nothing_unsent(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    """Only a comparison with what a producer reads itself shows what it should have sent and did not."""
    yield Requirement(
        f"records that the producers of {facts.source.name} never sent", "none", UNSENT, None,
        "they are lost before the pipeline begins; seen by a pipeline from the topic the producers read to this one",
    )  # fmt: skip


def _effective_minimum(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    """min(min.insync.replicas, replicas) copies carry an acks=all write: with one, a single broker's loss is a loss."""
    for topic in facts.topics:
        copies, least = topic.replication_factor, topic.min_insync_replicas
        seen, met = _first_unknown(copies, least), None
        if isinstance(copies, int) and isinstance(least, int):
            seen, met = f"min.insync.replicas {least}, {counted(copies, 'replica')}", min(copies, least) >= 2
        yield Requirement(
            f"copies of an acknowledged record of {topic.name}", "2 or more", seen, met,
            "the loss of one broker may lose acknowledged records",
        )  # fmt: skip


def _clean_elections(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    for topic in facts.topics:
        allowed = topic.unclean_leader_election
        met = None if isinstance(allowed, Unknown) else not allowed
        yield Requirement(
            f"unclean.leader.election.enable of {topic.name}", "false", _word(allowed), met,
            "a replica that lags may become leader and drop acknowledged records",
        )  # fmt: skip


def _retention(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    """The oldest unread record has waited for less than half of the retention, by the samples' bounds."""
    kept = facts.source.retention_ms
    seen: str | Unknown = kept if isinstance(kept, Unknown) else _first_unknown(facts.backlog)
    met: bool | None = None
    if kept is None:
        seen, met = "kept for ever", True
    elif isinstance(kept, int) and isinstance(facts.backlog, Backlog):
        seen, met = f"retention.ms {kept:,}; {_waited(facts.backlog)}", _fits(kept, facts.backlog)
    yield Requirement(
        f"retention of {facts.source.name} against the backlog", "the oldest unread record below half of it", seen, met,
        "records expire before the group has read them",
    )  # fmt: skip


def _fits(kept_ms: int, backlog: Backlog) -> bool | None:
    limit_ms = SAFE_SHARE_OF_RETENTION * kept_ms
    if backlog.unread == 0 or (backlog.waited_at_most_ms is not None and backlog.waited_at_most_ms <= limit_ms):
        return True
    return False if backlog.waited_at_least_ms > limit_ms else None


def _waited(backlog: Backlog) -> str:
    if backlog.unread == 0:
        return "nothing is unread"
    least, most = backlog.waited_at_least_ms, backlog.waited_at_most_ms
    waits = f"{least / 1000:.0f} s or more" if most is None else f"{least / 1000:.0f} to {most / 1000:.0f} s"
    return f"the oldest of {backlog.unread:,} unread offsets waits for {waits}"


def _no_compaction(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    policy = facts.source.cleanup_policy
    met = None if isinstance(policy, Unknown) else "compact" not in policy
    yield Requirement(
        f"cleanup.policy of {facts.source.name}", "delete", policy, met,
        "compaction removes records that a newer one with the same key replaced before the group has read them",
    )  # fmt: skip


def _commits(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    seen, met = _first_unknown(facts.commits), None
    if not isinstance(facts.commits, Unknown):
        whole, without, unknown = facts.commits.partitions, facts.commits.without_commit, facts.commits.unknown
        seen = f"on {whole - without - unknown:,} of {whole:,} partitions"
        met = False if without else None if unknown else True
        seen = Unknown(f"{seen}; {facts.commits.unknown_reason}") if met is None else seen
    yield Requirement(
        f"commits of {pipeline.group_id} on every partition", "present", seen, met,
        "after a restart auto.offset.reset decides: everything again, or what was written meanwhile is skipped",
    )  # fmt: skip


def _idempotence(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    """Only batches of an idempotent producer carry a producer id, by which the broker drops a repeated batch."""
    for topic in facts.topics:
        seen, met = _all_of(topic.producers, lambda producers: producers.idempotent)
        yield Requirement(
            f"enable.idempotence of the producers of {topic.name}", "true: producer ids in all batches", seen, met,
            "a batch that is sent again after a lost acknowledgement is stored twice",
        )  # fmt: skip


def _transactions(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    if facts.sink is not None:
        seen, met = _all_of(facts.sink.producers, lambda producers: producers.transactional)
        yield Requirement(
            f"records of {facts.sink.name} in transactions", "all", seen, met,
            "output and commit are not one: a crash between them repeats or drops output",
        )  # fmt: skip


def _transactional_commits(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    """A pending commit is seen only while a transaction is open: that none was seen proves nothing."""
    at_ms = facts.pending_commit_at_ms
    seen: str | Unknown = "a commit awaited a transaction's marker"
    if isinstance(at_ms, Unknown):
        seen = at_ms
    elif at_ms is None:
        seen = Unknown("no commit was seen waiting for a marker, which proves nothing")
    yield Requirement(
        f"commits of {pipeline.group_id} inside the transaction", "sendOffsetsToTransaction",
        seen, None if isinstance(seen, Unknown) else True,
        "output and commit are not one: a crash between them repeats or drops output",
    )  # fmt: skip


def _transaction_version(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    version = facts.transaction_version
    seen, met = (version, None) if isinstance(version, Unknown) else (str(version), version >= 2)
    yield Requirement(
        "transaction.version of the cluster (KIP-890)", "2", seen, met,
        "a late write of a dead producer may enter its successor's transaction or hang in none",
    )  # fmt: skip


def _isolation(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    yield Requirement(
        f"isolation.level of {pipeline.group_id}", "read_committed", ISOLATION, None,
        "records of aborted transactions are processed",
    )  # fmt: skip


def _sink(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    yield Requirement(
        "sink declared", "the topic the group writes", pipeline.sink or "none", pipeline.sink is not None,
        "what the group did with a record is not observable: neither a loss nor a duplicate it makes can be found",
    )  # fmt: skip


def _sampled_ids(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    for topic in facts.topics:
        rate = topic.sampling_rate
        is_sampled = not isinstance(rate, Unknown)
        seen = f"none: {rate.reason}" if isinstance(rate, Unknown) else f"a share of {rate:.4g}"
        yield Requirement(
            f"message ids of {topic.name} sampled", "yes", seen, is_sampled,
            "records are not read: neither duplicates nor losses among them can be found",
        )  # fmt: skip


def _rights(pipeline: Pipeline, facts: PipelineFacts) -> Iterator[Requirement]:
    """DESCRIBE on topics and groups, DESCRIBE_CONFIGS, and READ to see who holds a stable offset (KIP-664)."""
    seen, met = _first_unknown(facts.refused), None
    if not isinstance(facts.refused, Unknown):
        words = "; ".join(f"{signal.replace('_', ' ')}: {why}" for signal, why in sorted(facts.refused.items()))
        seen, met = words or "nothing was refused in the newest round", not facts.refused
    yield Requirement(
        "rights to see it", "DESCRIBE, DESCRIBE_CONFIGS, READ", seen, met,
        "what is not permitted stays unknown, and is never counted as none",
    )  # fmt: skip


AT_MOST, AT_LEAST, EXACTLY = Guarantee.AT_MOST_ONCE, Guarantee.AT_LEAST_ONCE, Guarantee.EXACTLY_ONCE
ALL, NO_LOSS, NO_DUPLICATE = frozenset(Guarantee), frozenset({AT_LEAST, EXACTLY}), frozenset({AT_MOST, EXACTLY})

# Which promises need what.
RULES: Sequence[tuple[frozenset[Guarantee], Callable[[Pipeline, PipelineFacts], Iterator[Requirement]]]] = (
    (NO_LOSS, _nothing_unsent),
    (NO_LOSS, _acks),
    (NO_LOSS, _effective_minimum),
    (NO_LOSS, _clean_elections),
    (NO_LOSS, _retention),
    (NO_LOSS, _no_compaction),
    (ALL, _commits),
    (NO_DUPLICATE, _idempotence),
    (frozenset({EXACTLY}), _transactions),
    (frozenset({EXACTLY}), _transactional_commits),
    (frozenset({EXACTLY}), _transaction_version),
    (frozenset({EXACTLY}), _isolation),
    (ALL, _sink),
    (ALL, _sampled_ids),
    (ALL, _rights),
)


def _all_of(producers: Producers | Unknown, count: Callable[[Producers], int]) -> tuple[str | Unknown, bool | None]:
    if isinstance(producers, Unknown) or producers.records == 0:
        return (producers if isinstance(producers, Unknown) else NO_RECORDS), None
    return f"{count(producers):,} of {producers.records:,} sampled records", count(producers) == producers.records


def _first_unknown(*values: object) -> str | Unknown:
    """Why a requirement cannot be judged; empty where every value is known and the caller says what was seen."""
    return next((value for value in values if isinstance(value, Unknown)), "")


def _word(value: bool | Unknown) -> str | Unknown:
    return value if isinstance(value, Unknown) else str(value).lower()
