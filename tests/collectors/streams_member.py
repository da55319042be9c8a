"""A member of a Streams group as its coordinator sees one (KIP-1071): heartbeats over a real connection, without Java.

It processes nothing: what the coordinator assigns is owned with the next heartbeat. Its topology is one subtopology
with a state store, which is what standby tasks keep copies of.
"""

import uuid
from types import TracebackType
from typing import Any

from kafka.protocol.api_message import ApiMessage

from tests.collectors import schemas
from tests.collectors.asked import ask

SUBTOPOLOGY = "0"
JOIN, LEAVE = 0, -1
KINDS = ("active_tasks", "standby_tasks", "warmup_tasks")


class StreamsGroupHeartbeatRequest(ApiMessage, load_json=schemas):
    pass


class StreamsGroupHeartbeatResponse(ApiMessage, load_json=schemas):
    pass


class StreamsMember:
    """One process with one thread; it leaves the group at the end of its `with` block."""

    def __init__(self, address: str, group_id: str, source: str, process_id: str) -> None:
        """`address`: of the group's coordinator; `source`: the topic it reads."""
        self.member_id = str(uuid.uuid4())
        self._address = address
        self._group_id = group_id
        self._source = source
        self._process_id = process_id
        self._epoch = JOIN
        self._owned: dict[str, list[Any]] = {kind: [] for kind in KINDS}

    def __enter__(self) -> "StreamsMember":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._epoch = LEAVE
        self.beat()

    @property
    def owned(self) -> tuple[list[int], list[int]]:
        """Partitions of its active and of its standby tasks."""
        return tuple([n for _, numbers in self._owned[kind] for n in numbers] for kind in KINDS[:2])

    def beat(self) -> None:
        """Say what is owned, and own what is assigned."""
        answer = ask(self._address, self._heartbeat(), StreamsGroupHeartbeatResponse)
        assert answer.error_code == 0, answer
        self._epoch = answer.member_epoch
        for kind in KINDS:
            given = getattr(answer, kind)
            if given is not None:
                self._owned[kind] = [(each.subtopology_id, list(each.partitions)) for each in given]

    def _heartbeat(self) -> StreamsGroupHeartbeatRequest:
        request, is_joining = StreamsGroupHeartbeatRequest, self._epoch == JOIN
        owned = {
            kind: [request.TaskIds(subtopology_id=name, partitions=partitions) for name, partitions in tasks]
            for kind, tasks in self._owned.items()
        }
        return request(
            group_id=self._group_id,
            member_id=self.member_id,
            member_epoch=self._epoch,
            endpoint_information_epoch=-1,
            instance_id=None,
            rack_id=None,
            rebalance_timeout_ms=60_000 if is_joining else -1,
            topology=self._topology() if is_joining else None,
            **owned,
            process_id=self._process_id if is_joining else None,
            user_endpoint=None,
            client_tags=[] if is_joining else None,
            task_offsets=None,
            task_end_offsets=None,
            shutdown_application=False,
        )

    def _topology(self) -> Any:
        subtopology = StreamsGroupHeartbeatRequest.Topology.Subtopology
        changelog = subtopology.TopicInfo(
            name=f"{self._group_id}-changelog", partitions=0, replication_factor=0, topic_configs=[]
        )
        only = subtopology(
            subtopology_id=SUBTOPOLOGY,
            source_topics=[self._source],
            source_topic_regex=[],
            state_changelog_topics=[changelog],
            repartition_sink_topics=[],
            repartition_source_topics=[],
            copartition_groups=[],
        )
        return StreamsGroupHeartbeatRequest.Topology(epoch=0, subtopologies=[only])
