"""What leaders of a real cluster say of old epochs after a clean and an unclean election, and what the rules find."""

import pytest

from guarantees.findings import Kind
from guarantees.places import GroupPartition, TopicPartition
from tests.guarantees.builders import watch as findings_of

pytestmark = pytest.mark.integration

LOSSES = {Kind.LOG_TRUNCATED, Kind.TAIL_TRUNCATED, Kind.UNCLEAN_ELECTION, Kind.COMMIT_IN_TRUNCATED_LOG}


def found_in(rounds, kinds):
    _, found = findings_of(rounds.observed)
    return {finding.kind: finding for finding in found.values() if finding.kind in kinds}


def ends(collected, partition):
    return [(end.answered_epoch, end.end_offset) for end in collected.round.epoch_ends.get(partition, ())]


def test_after_a_clean_fail_over_the_old_epoch_ends_where_it_was_read_to(cluster, watch, new_topic, produce, commit):
    topic = new_topic("clean", [[1, 2, 3]])
    partition = TopicPartition(topic, 0)
    produce(topic, 0, 100)
    commit("clean-readers", topic, 0, 100)
    rounds = watch(topic)
    before = rounds.next().round.partitions[partition]

    cluster.kill(1)
    try:
        produce(topic, 0, 50)
        asked = rounds.until(lambda seen: bool(ends(seen, partition)))
        again = rounds.next()
    finally:
        cluster.restart(1)

    assert asked.round.partitions[partition].leader_epoch > before.leader_epoch
    assert ends(asked, partition) == ends(again, partition) == [(before.leader_epoch, 100)]
    rounds.until(lambda seen: len(seen.round.states[partition].in_sync_replicas) == 3, 60)
    assert found_in(rounds, LOSSES) == {}


def test_an_unclean_election_is_found_with_what_it_cost_though_new_records_hide_it(
    cluster, watch, new_topic, produce, commit
):
    topic = new_topic("unclean", [[1, 3]], min_insync_replicas="1", unclean_leader_election_enable="true")
    partition = TopicPartition(topic, 0)
    produce(topic, 0, 1000)
    rounds = watch(topic)
    rounds.next()

    cluster.pause(3)
    try:
        rounds.until(lambda seen: seen.round.states[partition].in_sync_replicas == (1,), 60)
        produce(topic, 0, 500)
        commit("unclean-readers", topic, 0, 1500)
        reader = GroupPartition("unclean-readers", *partition)
        seen = rounds.until(
            lambda seen: seen.round.commits.get(reader) is not None, 60
        )  # its coordinator may have moved
        old = seen.round.partitions[partition]
        cluster.kill(1)
    finally:
        cluster.resume(3)
    try:
        produce(topic, 0, 800)
        asked = rounds.until(lambda seen: bool(ends(seen, partition)), 60)
        again = rounds.next()
    finally:
        cluster.restart(1)

    assert (old.high_watermark, asked.round.partitions[partition].high_watermark) == (1500, 1800)
    assert ends(asked, partition) == ends(again, partition) == [(old.leader_epoch, 1000)]
    found = found_in(rounds, LOSSES)
    assert found.keys() == {Kind.LOG_TRUNCATED, Kind.UNCLEAN_ELECTION}
    cut, election = found[Kind.LOG_TRUNCATED], found[Kind.UNCLEAN_ELECTION]
    assert (cut.bounds.lower, cut.evidence["first_lost_offset"], cut.evidence["is_unclean"]) == (500, 1000, True)
    beyond = [{"group_id": "unclean-readers", "committed_offset": 1500}]
    told = cut.evidence["groups_beyond_end"], cut.evidence["groups_unknown"]
    assert told in ((beyond, 0), ([], 1)), "the group's coordinator may have died with the leader"
    assert (election.severity, election.evidence["is_cut"], election.evidence["leader"]) == (4, True, 3)
    rounds.until(lambda seen: len(seen.round.states[partition].in_sync_replicas) == 2, 60)
    assert "stays lost" in found_in(rounds, LOSSES)[Kind.UNCLEAN_ELECTION].closed_reason
