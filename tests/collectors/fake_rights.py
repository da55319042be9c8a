"""What a broker in memory says of rights: refused before anyone looks whether the name exists."""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from kafka.protocol.admin import DescribeClusterResponse, DescribeGroupsResponse, DescribeTransactionsResponse
from kafka.protocol.metadata import MetadataResponse


@dataclass
class FakeRights:
    """`describable` are patterns, over topics, groups and transactional ids alike; `of_cluster` are operations."""

    describable: set[str] = field(default_factory=lambda: {"*"})
    of_cluster: set[int] = field(default_factory=set)

    def may_describe(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.describable)

    def is_asked(self, request: Any) -> bool:
        """The cluster is described for its brokers too; settings of topics tell of no right."""
        return request.API_KEY != 32 and (request.API_KEY != 60 or bool(request.include_cluster_authorized_operations))

    def answer(self, request: Any) -> tuple[str, Any]:
        answers = {3: self._topics, 15: self._groups, 60: self._cluster, 65: self._transactional_ids}
        return answers[request.API_KEY](request)

    def _topics(self, request: Any) -> tuple[str, Any]:
        topic = MetadataResponse.MetadataResponseTopic
        topics = [
            topic(error_code=3 if self.may_describe(asked.name) else 29, name=asked.name, partitions=[])
            for asked in request.topics
        ]
        return "topic rights", MetadataResponse(version=12, topics=topics)

    def _groups(self, request: Any) -> tuple[str, Any]:
        group = DescribeGroupsResponse.DescribedGroup
        groups = [group(error_code=16 if self.may_describe(name) else 30, group_id=name) for name in request.groups]
        return "group rights", DescribeGroupsResponse(version=5, groups=groups)

    def _transactional_ids(self, request: Any) -> tuple[str, Any]:
        state = DescribeTransactionsResponse.TransactionState
        states = [
            state(error_code=16 if self.may_describe(name) else 53, transactional_id=name)
            for name in request.transactional_ids
        ]
        return "transactional id rights", DescribeTransactionsResponse(version=0, transaction_states=states)

    def _cluster(self, request: Any) -> tuple[str, Any]:
        return "cluster rights", DescribeClusterResponse(
            version=1, error_code=0, authorized_operations=set(self.of_cluster)
        )
