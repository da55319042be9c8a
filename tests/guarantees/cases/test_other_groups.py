"""Cases of groups that are no classic consumers of one cluster: copied offsets, the newer protocols, share groups."""

import uuid
from dataclasses import fields

from collectors import groups
from collectors.committed_offsets import TYPES_WITH_COMMITS
from guarantees.findings import Grade, Kind
from guarantees.lag import Lag
from guarantees.places import TopicPartition
from guarantees.view import member_count
from kafka_reader import consumer_groups
from kafka_reader.answer import Answer
from kafka_reader.groups import parse_groups
from kafka_reader.share_groups import DescribeShareGroupOffsetsResponse, offsets_request, parse_offsets
from tests.guarantees.builders import GROUP, finding, findings, lag_of, seen, watch
from tests.guarantees.test_lag import AHEAD
from tests.kafka_reader.answers import answer, described_group, listed_groups


def copied(committed, high, **given):
    """Offsets that a mirror has written for an empty group, over two rounds."""
    return [seen(s, high=high, committed=committed, members=(), **given) for s in (0, 5)]


# C31: source {S:100, H:100, C:100}; target {S:0, H:0, C:100, Empty}


def test_case_C31_the_literal_source_offset_lies_ahead_of_an_empty_target():
    target = copied(100, 0)
    ahead = finding(*target, kind=Kind.COMMITTED_AHEAD)

    assert lag_of(target[-1]) == Lag(purged=0, lag_hw=AHEAD, lag_lso=AHEAD, blocked=0, ahead=100)
    assert (ahead.severity, ahead.grade, ahead.bounds.lower, ahead.bounds.upper) == (3, Grade.PROVEN, 100, 100)
    assert ahead.statements[1].grade is Grade.POSSIBLE
    assert "Up to 100 records still to be written below 100 will be skipped" in ahead.statements[1].text
    assert ahead.evidence["members"] == 0
    assert "MirrorMaker 2" in ahead.evidence["possible_causes"][0]


def test_case_C31_the_emptied_source_is_silent():
    source = [seen(s, high=100, start=100, committed=100) for s in (0, 5)]

    assert lag_of(source[-1]) == Lag(purged=0, lag_hw=0, lag_lso=0, blocked=0, ahead=0)
    assert not findings(*source)


# C32: source 100 -> target 80; source C 150, of which 30 offsets are markers; target H 110


def test_case_C32_equal_steps_on_both_sides_put_the_commit_ahead():
    assert finding(*copied(80 + (150 - 100), 110), kind=Kind.COMMITTED_AHEAD).bounds.lower == 20


def test_case_C32_a_conservative_translation_stays_behind_and_its_distance_bounds_what_is_read_again():
    """How far the group had read on the source is in no answer of the target."""
    target = copied(80, 110)

    assert lag_of(target[-1]).lag_hw == 30
    assert not findings(*target)


# C41: ListGroups names a consumer group, Stable; DescribeGroups calls it Dead

MEMBERS = ("m1", "m2", "m3")


def described_consumer_group() -> Answer:
    described = consumer_groups.ConsumerGroupDescribeResponse.DescribedGroup
    member = described.Member
    nothing = {"topic_partitions": []}
    return answer(
        consumer_groups.ConsumerGroupDescribeResponse(
            version=0,
            groups=[
                described(
                    error_code=0,
                    error_message=None,
                    group_id="g",
                    group_state="Stable",
                    group_epoch=3,
                    assignment_epoch=3,
                    assignor_name="uniform",
                    members=[
                        member(
                            member_id=name,
                            instance_id=None,
                            rack_id=None,
                            member_epoch=3,
                            client_id="c",
                            client_host="/10.0.0.1",
                            subscribed_topic_names=[],
                            subscribed_topic_regex=None,
                            assignment=member.Assignment(**nothing),
                            target_assignment=member.Assignment(**nothing),
                        )
                        for name in MEMBERS
                    ],
                    authorized_operations=0,
                )
            ],
        )
    )


class TwoWaysToAsk:
    """A coordinator that answers each protocol's question as Kafka does for a group of the consumer protocol."""

    def send_all(self, requests):
        dead = described_group(
            group_id="g", group_state="Dead", protocol_type="", protocol_data="", error_code=0, authorized_operations=0
        )
        is_new = {b: isinstance(r, consumer_groups.ConsumerGroupDescribeRequest) for b, r in requests.items()}
        return {broker: described_consumer_group() if new else dead for broker, new in is_new.items()}


def described_as(listed_type):
    listed = listed_groups(
        {"group_id": "g", "protocol_type": "consumer", "group_state": "Stable", "group_type": listed_type}
    )
    return groups.collect(TwoWaysToAsk(), parse_groups(listed, 1))["g"]


def test_case_C41_a_group_that_is_listed_as_consumer_is_asked_in_its_own_words():
    state = described_as("Consumer")

    assert (state.state, state.group_type) == ("Stable", "consumer")
    assert tuple(m.member_id for m in state.members) == MEMBERS


def test_case_C41_a_group_that_looks_dead_has_an_unknown_number_of_members():
    state = described_as("Classic")
    memory, _ = watch([seen(0, high=9, committed=9, members=(), group_state="Dead")])

    assert state.state == "Dead"
    assert member_count(memory.groups[GROUP]) is None
    memory, _ = watch([seen(0, high=9, committed=9, members=())])
    assert member_count(memory.groups[GROUP]) == 0


# C68: deliveries 361..365, 366 five times, 367; the start offset is 368


def share_group(*starts, group_type="share"):
    return [seen(5 * n, high=400, committed=c, group_type=group_type) for n, c in enumerate(starts)]


def test_case_C68_a_share_group_is_not_rewound_and_a_classic_one_is():
    assert not findings(*share_group(366, 361, 366))
    assert [f.kind for f in findings(*share_group(366, 361, 366, group_type="classic"))] == [Kind.REWIND]


def test_case_C68_a_share_group_stands_at_its_start_offset_and_nobody_tells_accepted_from_archived():
    """361 and 366 were given up, the others accepted: the broker answers 368 for all of them, and no count."""
    stands = share_offset(start_offset=368, lag=0)

    assert "share" not in TYPES_WITH_COMMITS
    assert (stands.start_offset, stands.lag) == (368, 0)
    assert {field.name for field in fields(stands)} == {"topic_id", "start_offset", "lag"}


def share_offset(**given):
    """What is made of the coordinator's answer about one partition."""
    group = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup
    topic = group.DescribeShareGroupOffsetsResponseTopic
    part = topic.DescribeShareGroupOffsetsResponsePartition(
        partition_index=0, leader_epoch=0, error_code=0, error_message=None, **given
    )
    of_topic = topic(topic_name="orders", topic_id=uuid.UUID(int=1), partitions=[part])
    of_group = group(group_id="g", topics=[of_topic], error_code=0, error_message=None)
    told = answer(DescribeShareGroupOffsetsResponse(version=1, groups=[of_group]))
    return parse_offsets(offsets_request(["g"]), told, 1)["g"].partitions[TopicPartition("orders", 0)]
