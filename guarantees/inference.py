"""Which promise a pipeline seems to make: inferred from what is seen, with every reason and what could not be seen."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from guarantees.pipeline_facts import PipelineFacts, TopicFacts
from guarantees.promises import Guarantee
from guarantees.times import utc
from guarantees.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Reason:
    """One fact in a sentence, the answer it was read from, and the promise it speaks for."""

    fact: str
    source: str
    speaks_for: Guarantee


@dataclass(frozen=True, slots=True)
class Inference:
    """`unseen` are sentences: what would have to be known to be sure, and why it is not."""

    promise: Guarantee
    reasons: tuple[Reason, ...]
    unseen: tuple[str, ...]


# Nobody outside the clients can tell a commit before the work from one after it, nor a reader's isolation.
NEVER_SEEN = (
    "Whether the group commits before or after it processes a record is not observable: so never at most once.",
    "The group's isolation.level is not observable until it passes a stable offset; exactly once needs read_committed.",
    "The producers' acks are in no answer.",
)

EXACTLY, AT_LEAST = Guarantee.EXACTLY_ONCE, Guarantee.AT_LEAST_ONCE


def inferred(group_id: str, facts: PipelineFacts) -> Inference:
    """Exactly once where the group's commits or its sink's records are seen inside transactions; else at least once.

    Commits are how Kafka hands records on after a failure, so a group that commits at all promises that much. What the
    topics are configured to keep is a reason for or against, and never makes a promise by itself.
    """
    reasons = tuple(reason for rule in RULES for reason in rule(group_id, facts))
    return Inference(inferred_promise(group_id, facts), reasons, (*_unknowns(facts), *NEVER_SEEN))


def inferred_promise(group_id: str, facts: PipelineFacts) -> Guarantee:
    """The promise alone, for thousands of groups at once."""
    reasons = (reason for rule in DECIDING for reason in rule(group_id, facts))
    return EXACTLY if any(reason.speaks_for is EXACTLY for reason in reasons) else AT_LEAST


def _pending_commit(group_id: str, facts: PipelineFacts) -> Iterator[Reason]:
    """A commit that awaits a transaction's marker (UNSTABLE_OFFSET_COMMIT, error 88, KIP-447) was made inside one."""
    at_ms = facts.pending_commit_at_ms
    if isinstance(at_ms, int):
        fact = f"A commit of {group_id} awaited a transaction's marker at {utc(at_ms)}: it commits in transactions."
        yield Reason(fact, "committed offsets, error 88", EXACTLY)


def _committing_transaction(group_id: str, facts: PipelineFacts) -> Iterator[Reason]:
    """A transaction that commits offsets and writes the sink, or is named after the group as Kafka Streams does."""
    for open_one in () if isinstance(facts.transactions, Unknown) else facts.transactions:
        writes_sink = facts.sink is not None and facts.sink.name in open_one.topics
        if open_one.commits_offsets and (writes_sink or open_one.transactional_id.startswith(f"{group_id}-")):
            wrote = f"writes {facts.sink.name}" if writes_sink and facts.sink else "is named after the group"
            fact = f"The transaction {open_one.transactional_id} commits offsets of a group and {wrote}."
            yield Reason(fact, "open transactions", EXACTLY)


def _transactional_sink(group_id: str, facts: PipelineFacts) -> Iterator[Reason]:
    """Every sampled record of the sink was written in a transaction."""
    if facts.sink is None:
        return
    seen = facts.sink.producers
    if isinstance(seen, Unknown) or not seen.records:
        return
    if seen.transactional == seen.records:
        fact = f"All {seen.records:,} sampled records of {facts.sink.name} were written in transactions."
        yield Reason(fact, "sampled records", EXACTLY)
    else:
        fact = f"{seen.transactional:,} of {seen.records:,} sampled records of {facts.sink.name} came in transactions."
        yield Reason(fact, "sampled records", AT_LEAST)


def _commits(group_id: str, facts: PipelineFacts) -> Iterator[Reason]:
    """The group stores how far it has read, so a restart goes on there."""
    if isinstance(facts.commits, Unknown):
        return
    known = facts.commits.partitions - facts.commits.without_commit - facts.commits.unknown
    if known:
        fact = f"{group_id} has commits on {known:,} of {facts.commits.partitions:,} partitions of {facts.source.name}."
        yield Reason(fact, "committed offsets", AT_LEAST)
    if not isinstance(facts.commit_moves, Unknown):
        moves, over_ms = facts.commit_moves
        fact = f"Its commits moved {moves:,} times in {over_ms / 1000:.0f} s, as far as samples show."
        yield Reason(fact, "committed offsets", AT_LEAST)


def _idempotent_producers(group_id: str, facts: PipelineFacts) -> Iterator[Reason]:
    """A producer id in a batch: the broker drops its repeats, so the producer asked for no duplicates by retries."""
    for topic in facts.topics:
        seen = topic.producers
        if not isinstance(seen, Unknown) and seen.records:
            fact = f"{seen.idempotent:,} of {seen.records:,} sampled records of {topic.name} carry a producer id."
            yield Reason(fact, "sampled records", AT_LEAST)


def _replication(group_id: str, facts: PipelineFacts) -> Iterator[Reason]:
    """How many copies an acknowledged write has at least, and whether an election may give them up."""
    for topic in facts.topics:
        copies, least = topic.replication_factor, topic.min_insync_replicas
        if isinstance(copies, int) and isinstance(least, int):
            fact = f"{topic.name} has {copies} replicas and min.insync.replicas {least}: acks=all writes have "
            yield Reason(fact + f"{min(copies, least)} copies at least.", "partition states", AT_LEAST)
        if isinstance(topic.unclean_leader_election, bool):
            word = "allows" if topic.unclean_leader_election else "forbids"
            yield Reason(f"{topic.name} {word} unclean leader election.", "topic configuration", AT_LEAST)


# What decides first, what merely fits after it.
DECIDING: Sequence[Callable[[str, PipelineFacts], Iterator[Reason]]] = (
    _pending_commit,
    _committing_transaction,
    _transactional_sink,
)
RULES: Sequence[Callable[[str, PipelineFacts], Iterator[Reason]]] = (
    *DECIDING,
    _commits,
    _idempotent_producers,
    _replication,
)


def _unknowns(facts: PipelineFacts) -> list[str]:
    """What a right, a setting or a collector would have told."""
    asked = (
        ("Whether its commits are transactional", facts.pending_commit_at_ms),
        ("Which transactions are open", facts.transactions),
        *((f"Whether producers of {topic.name} are idempotent", topic.producers) for topic in facts.topics),
        *(_of_topic(topic) for topic in facts.topics),
    )
    found = [f"{what} is not known: {value.reason}." for what, value in asked if isinstance(value, Unknown)]
    return [*found, *([] if facts.sink else ["What the group does with a record is not observable: no sink is known."])]


def _of_topic(topic: TopicFacts) -> tuple[str, object]:
    return f"Whether {topic.name} allows unclean leader election", topic.unclean_leader_election
