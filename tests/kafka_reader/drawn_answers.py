"""Random answers of brokers, with errors, null and empty and long metadata, many groups and no groups."""

from typing import Any

from hypothesis import strategies as st
from kafka.protocol.consumer import ListOffsetsResponse, OffsetFetchResponse
from kafka.protocol.metadata import MetadataResponse

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
# Long enough now and then for a length of two bytes.
NAMES = st.text(min_size=1, max_size=6) | st.text("ab", min_size=125, max_size=130)
METADATA = st.none() | st.just("") | st.text(max_size=5) | st.text("x", min_size=125, max_size=130)
ERRORS = st.just(0) | INT16


def _each(made: Any, most: int) -> Any:
    return st.lists(made, max_size=most)


def _named(names: Any, made: Any, most: int) -> Any:
    """Values by names that differ."""
    return st.dictionaries(names, made, max_size=most)


@st.composite
def offset_fetch(draw: Any, version: int = 8) -> OffsetFetchResponse:
    group, topic = OffsetFetchResponse.OffsetFetchResponseGroup, None
    topic = group.OffsetFetchResponseTopics
    metadata = draw(st.sampled_from([METADATA, st.just(""), st.just(None)]))
    commit = st.tuples(INT64, INT32, metadata, ERRORS)
    drawn = draw(_named(NAMES, st.tuples(_named(NAMES, _named(INT32, commit, 5), 3), ERRORS), 4))
    return OffsetFetchResponse(
        version=version,
        throttle_time_ms=draw(INT32),
        groups=[
            group(
                group_id=group_id,
                error_code=error_code,
                topics=[
                    topic(
                        name=name,
                        partitions=[
                            topic.OffsetFetchResponsePartitions(
                                partition_index=index,
                                committed_offset=offset,
                                committed_leader_epoch=epoch,
                                metadata=text,
                                error_code=error,
                            )
                            for index, (offset, epoch, text, error) in commits.items()
                        ],
                    )
                    for name, commits in topics.items()
                ],
            )
            for group_id, (topics, error_code) in drawn.items()
        ],
    )


@st.composite
def list_offsets(draw: Any) -> ListOffsetsResponse:
    topic = ListOffsetsResponse.ListOffsetsTopicResponse
    drawn = draw(_named(NAMES, _named(INT32, st.tuples(ERRORS, INT64, INT64, INT32), 5), 4))
    return ListOffsetsResponse(
        version=7,
        throttle_time_ms=draw(INT32),
        topics=[
            topic(
                name=name,
                partitions=[
                    topic.ListOffsetsPartitionResponse(
                        partition_index=index, error_code=error, timestamp=timestamp, offset=offset, leader_epoch=epoch
                    )
                    for index, (error, timestamp, offset, epoch) in partitions.items()
                ],
            )
            for name, partitions in drawn.items()
        ],
    )


@st.composite
def metadata(draw: Any, version: int = 12) -> MetadataResponse:
    topic, nodes = MetadataResponse.MetadataResponseTopic, _each(INT32, 4)
    alike = draw(st.sampled_from([nodes, st.just([1, 2, 3])]))
    partition = st.tuples(ERRORS, INT32, INT32, INT32, alike, alike, st.just([]) | nodes)
    drawn = draw(_named(NAMES, st.tuples(ERRORS, st.uuids(), st.booleans(), _each(partition, 6)), 4))
    brokers = draw(_each(st.tuples(INT32, NAMES, INT32, st.none() | NAMES), 3))
    return MetadataResponse(
        version=version,
        throttle_time_ms=draw(INT32),
        cluster_id=draw(st.none() | NAMES),
        controller_id=draw(INT32),
        brokers=[
            MetadataResponse.MetadataResponseBroker(node_id=node, host=host, port=port, rack=rack)
            for node, host, port, rack in brokers
        ],
        topics=[
            topic(
                error_code=error,
                name=name,
                topic_id=topic_id,
                is_internal=is_internal,
                partitions=[
                    topic.MetadataResponsePartition(
                        error_code=code,
                        partition_index=index,
                        leader_id=leader,
                        leader_epoch=epoch,
                        replica_nodes=replicas,
                        isr_nodes=in_sync,
                        offline_replicas=offline,
                    )
                    for code, index, leader, epoch, replicas, in_sync, offline in partitions
                ],
            )
            for name, (error, topic_id, is_internal, partitions) in drawn.items()
        ],
    )
