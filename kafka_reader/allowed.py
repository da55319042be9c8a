"""What may be asked of a watched cluster: requests that read, by api key. All else is refused before it is sent."""

from typing import Any

# Kafka's api keys (clients/src/main/resources/common/message). None needs a right to change anything.
READ_ONLY: dict[int, str] = {
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    9: "OffsetFetch",
    15: "DescribeGroups",
    16: "ListGroups",
    18: "ApiVersions",
    23: "OffsetForLeaderEpoch",
    32: "DescribeConfigs",
    35: "DescribeLogDirs",
    55: "DescribeQuorum",
    60: "DescribeCluster",
    61: "DescribeProducers",
    65: "DescribeTransactions",
    66: "ListTransactions",
    69: "ConsumerGroupDescribe",
    75: "DescribeTopicPartitions",
    77: "ShareGroupDescribe",
    89: "StreamsGroupDescribe",
    90: "DescribeShareGroupOffsets",
}

# What the client library sends by itself to be let in.
OF_CLIENTS: dict[int, str] = {
    17: "SaslHandshake",
    18: "ApiVersions",
    36: "SaslAuthenticate",
}


class ForbiddenRequestError(Exception):
    """Tidemark tried to send what could change the watched cluster: a bug, never a circumstance."""


def refuse_writes(request: Any) -> None:
    """Raise ForbiddenRequestError unless the request can only read.

    Metadata is a write in disguise while it may create the topics it names.
    """
    if request.API_KEY not in READ_ONLY:
        raise ForbiddenRequestError(f"{type(request).__name__} (api key {request.API_KEY}) may not be sent")
    if request.API_KEY == 3 and request.allow_auto_topic_creation:
        raise ForbiddenRequestError("Metadata may not be sent with allow_auto_topic_creation")
