"""Which rights each signal needs, how their absence looks, and what is unknown without them.

The rights are Kafka's ACL operations on a kind of resource (KafkaApis checks them before it answers); seen live on 4.2
with its StandardAuthorizer. READ, WRITE, DELETE and ALTER on a resource include DESCRIBE; ALTER_CONFIGS includes
DESCRIBE_CONFIGS.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from guarantees.internal_records import CONSUMER_OFFSETS, TRANSACTION_STATE
from guarantees.observations import Signal

TOPIC, GROUP, TRANSACTIONAL_ID, CLUSTER = "topic", "group", "transactional id", "cluster"


@dataclass(frozen=True, slots=True)
class Right:
    """An operation on a kind of resource; `absence` is how the broker takes its lack, `told_by` whose coverage says so.

    `name`: the one resource it is about, where it is about one.
    What a broker leaves out of a list is told by asking for names: see the signal `rights`.
    """

    operation: str
    resource: str
    absence: str
    told_by: Signal
    name: str | None = None

    def __str__(self) -> str:
        return f"{self.operation} on the {self.resource}" + (f" {self.name}" if self.name else "")


@dataclass(frozen=True, slots=True)
class Need:
    """`requests` are Kafka's; `hides` is what nobody can say without the signal."""

    requests: str
    rights: tuple[Right, ...]
    hides: str


LEFT_OUT = "left out without a word"

_TOPIC = Right("DESCRIBE", TOPIC, f"{LEFT_OUT}; by name 29", Signal.PARTITION_STATES)
_GROUP = Right("DESCRIBE", GROUP, f"{LEFT_OUT}; by name 30", Signal.GROUPS)
_GROUPS_TOPIC = Right("DESCRIBE", TOPIC, f"{LEFT_OUT} of commits; a group of a newer protocol: 29", _TOPIC.told_by)
_TRANSACTIONS_TOPIC = Right("DESCRIBE", TOPIC, f"{LEFT_OUT} of its partitions", _TOPIC.told_by)

NEEDS: Mapping[str, Need] = {
    Signal.LOG_START: Need("ListOffsets", (_TOPIC,), "what expired unread"),
    Signal.COMMITTED_OFFSETS: Need("OffsetFetch", (_GROUP, _GROUPS_TOPIC), "lag, rewinds, skips"),
    Signal.END_OFFSETS: Need("ListOffsets", (_TOPIC,), "lag, truncation, frozen stable offsets"),
    Signal.PARTITION_STATES: Need("Metadata, DescribeTopicPartitions", (_TOPIC,), "replication, leader changes"),
    Signal.REPLICA_OFFSETS: Need("ListOffsets of each replica", (_TOPIC,), "which replica fell behind"),
    Signal.EPOCH_ENDS: Need("OffsetForLeaderEpoch", (_TOPIC,), "where a log was cut, commits of an old leader epoch"),
    Signal.GROUPS: Need(
        "ListGroups, DescribeGroups, ConsumerGroupDescribe, ShareGroupDescribe, StreamsGroupDescribe",
        (_GROUP, _GROUPS_TOPIC),
        "members, owners, rebalances",
    ),
    Signal.TRANSACTIONS: Need(
        "ListTransactions, DescribeTransactions",
        (
            Right("DESCRIBE", TRANSACTIONAL_ID, f"{LEFT_OUT}; by name 53", Signal.TRANSACTIONS),
            _TRANSACTIONS_TOPIC,
        ),
        "open and overdue transactions",
    ),
    Signal.PRODUCERS: Need(
        "DescribeProducers",
        (Right("READ", TOPIC, "29", Signal.PRODUCERS),),
        "who holds the stable offset, hanging transactions",
    ),
    Signal.CONFIGS: Need(
        "DescribeConfigs",
        (_TOPIC, Right("DESCRIBE_CONFIGS", TOPIC, "29", Signal.CONFIGS)),
        "partitions below min ISR",
    ),
    Signal.SHARE_OFFSETS: Need(
        "DescribeShareGroupOffsets",
        (_GROUP, Right("DESCRIBE", TOPIC, f"{LEFT_OUT} of what the group reads", _TOPIC.told_by)),
        "where share groups stand",
    ),
    Signal.LOG_DIRS: Need(
        "DescribeLogDirs",
        (Right("DESCRIBE", CLUSTER, "31", Signal.LOG_DIRS),),
        "how much replicas store, full and offline log directories",
    ),
    Signal.QUORUM: Need(
        "DescribeQuorum",
        (Right("DESCRIBE", CLUSTER, "31", Signal.QUORUM),),
        "which controller leads, and who has not followed it",
    ),
    Signal.FEATURES: Need("DescribeCluster, ApiVersions", (), "brokers out of service, versions, features in force"),
    Signal.GROUP_LOG: Need(
        f"Fetch of {CONSUMER_OFFSETS}",
        (Right("READ", TOPIC, "29", Signal.GROUP_LOG, CONSUMER_OFFSETS),),
        "commits between two samples, rebalances by their own time",
    ),
    Signal.TRANSACTION_LOG: Need(
        f"Fetch of {TRANSACTION_STATE}",
        (Right("READ", TOPIC, "29", Signal.TRANSACTION_LOG, TRANSACTION_STATE),),
        "what became of transactions between two samples",
    ),
    Signal.RIGHTS: Need(
        "Metadata, DescribeGroups, DescribeTransactions by name, DescribeCluster",
        (),
        "whether there is more than what is listed",
    ),
}


NARROWER = "DESCRIBE on what the settings name, or settings that name less"


def rights_in_words(signal: str) -> str:
    """What to grant: "DESCRIBE on the group, DESCRIBE on the topic"; unknown of a signal of another version."""
    need = NEEDS.get(signal)
    return "–" if need is None else ", ".join(map(str, need.rights)) or NARROWER


def hidden_without(signal: str) -> str:
    """What is unknown while the signal is missing."""
    need = NEEDS.get(signal)
    return "–" if need is None else need.hides


def table() -> list[str]:
    """The rights as lines of a Markdown table."""
    lines = ["| signal | requests | right | without it | told by | hidden meanwhile |", "|---|---|---|---|---|---|"]
    for signal, need in NEEDS.items():
        for right in need.rights:
            lines.append(
                f"| `{signal}` | {need.requests} | {right} | {right.absence} | `{right.told_by}` | {need.hides} |"
            )
        if not need.rights:
            lines.append(f"| `{signal}` | {need.requests} | none | – | – | {need.hides} |")
    return lines
