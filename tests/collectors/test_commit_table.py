"""The commits of a round as columns: the same as the coordinators' answers, in the order of the places."""

from collectors import committed_offsets
from collectors.commit_places import places
from collectors.commit_table import commits, named_epochs
from collectors.committed_offsets import partitions_read
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.errors import BrokerUnavailableError
from kafka_reader.metadata import Topology
from kafka_reader.offset_fetch import commits_request, parse_commits
from store.rows import arrow_table, python_rows
from tests.kafka_reader.answers import fetched_offsets

WATCHED = [TopicPartition(topic, number) for topic in ("orders", "payments") for number in range(3)]
TOPOLOGY = Topology("c", (1, 2), {"orders": "id-1", "payments": "id-2"}, frozenset(), {}, {}, 0, 0)
SILENT = BrokerUnavailableError("broker 2 did not answer in time")


def at(offset: int, epoch: int = -1, error: int = 0) -> dict[str, int]:
    return {"committed_offset": offset, "committed_leader_epoch": epoch, "error_code": error}


def fetched(group_id="g", *given, broker=1, request=None):
    request = request or commits_request([group_id])
    answer = SILENT if given == (SILENT,) else fetched_offsets(group_id, *given)
    return parse_commits(request, answer, broker, 2_000)


def table(found, reads=None):
    return commits(places(found, reads or {}, WATCHED, None), found)


def offsets(found, reads=None):
    seen = committed_offsets.observations(table(found, reads), TOPOLOGY)
    return {(key.group_id, key.topic, key.partition): commit.committed_offset for key, commit in seen.items()}


def test_each_watched_partition_of_a_topic_a_group_reads_has_a_row_in_whatever_order_the_answer_came():
    found = fetched("g", ("orders", 2, at(12)), ("orders", 0, at(10)), ("unwatched", 0, at(1)))

    assert offsets(found) == {("g", "orders", 0): 10, ("g", "orders", 1): None, ("g", "orders", 2): 12}


def test_answers_of_several_coordinators_are_not_mixed_up():
    found = fetched("a", ("orders", 0, at(1))) | fetched("b", ("orders", 0, at(2)), ("payments", 1, at(3)), broker=2)

    seen = offsets(found)

    assert (seen["a", "orders", 0], seen["b", "orders", 0], seen["b", "payments", 1]) == (1, 2, 3)


def test_of_a_silent_coordinator_what_its_group_read_is_unknown_and_nothing_else_is_claimed():
    found = fetched("a", ("orders", 0, at(1))) | fetched("b", SILENT, broker=2)
    reads = {"b": frozenset({TopicPartition("payments", 2), TopicPartition("unwatched", 0)})}

    seen = offsets(found, reads)

    assert seen["b", "payments", 2] == Unknown("broker 2 did not answer in time")
    assert [key for key in seen if key[0] == "b"] == [("b", "payments", 2)]


def test_the_rows_of_the_store_say_what_the_rules_are_told():
    found = fetched("g", ("orders", 0, at(7, 3)), ("orders", 1, at(-1, error=88)), ("orders", 2, at(-1, error=3)))
    whole = table(found)

    rows = python_rows(
        "committed_offsets", arrow_table("committed_offsets", committed_offsets.rows("c", 4, whole, TOPOLOGY))
    )

    told = committed_offsets.observations(whole, TOPOLOGY)
    for row in rows:
        commit = told[GroupPartition(row["group_id"], row["topic"], row["partition"])]
        known = commit.committed_offset if isinstance(commit.committed_offset, int) else None
        assert (row["committed_offset"], row["is_pending"]) == (known, commit.is_pending)
        assert (row["topic_id"], row["tick"], row["broker"], row["observed_at"]) == (
            "id-1",
            4,
            1,
            commit.observed_at_ms,
        )
        assert row["committed_leader_epoch"] == commit.committed_leader_epoch
        reason = commit.committed_offset.reason if isinstance(commit.committed_offset, Unknown) else None
        assert row["committed_offset_unknown"] == reason
    assert [row["committed_offset"] for row in rows] == [7, None, None]


def test_the_epochs_that_commits_name_are_each_named_once():
    found = fetched("g", ("orders", 0, at(7, 3)), ("orders", 1, at(8)), ("payments", 0, at(9, 0)))
    found |= fetched("h", ("orders", 0, at(1, 3)), ("orders", 2, at(1, 4)), ("payments", 1, at(-1, 9)))

    assert named_epochs(table(found)) == {
        (TopicPartition("orders", 0), 3),
        (TopicPartition("orders", 2), 4),
        (TopicPartition("payments", 0), 0),
    }


def test_while_the_answers_keep_their_layout_the_places_are_the_very_same_and_a_new_commit_makes_new_ones():
    request, reads = commits_request(["g"]), {}
    first = places(fetched("g", ("orders", 0, at(7)), request=request), reads, WATCHED, None)
    second = places(fetched("g", ("orders", 0, at(9)), request=request), reads, WATCHED, first)
    third = places(fetched("g", ("orders", 0, at(9)), ("payments", 0, at(1)), request=request), reads, WATCHED, second)

    assert second is first
    assert third is not first
    assert GroupPartition("g", "payments", 2) in third.keys


def test_a_group_reads_what_it_committed_and_what_it_was_assigned_until_its_coordinator_says_otherwise():
    found = table(fetched("g", ("orders", 0, at(7))))
    assigned = {"g": [TopicPartition("payments", 0)]}

    reads = partitions_read({}, found, None, assigned, ())
    silent = table(fetched("g", SILENT, broker=2), reads)

    assert reads == {"g": {TopicPartition("orders", 0), TopicPartition("payments", 0)}}
    assert partitions_read(reads, silent, found.places, {}, ()) == reads
    assert partitions_read(reads, found, found.places, assigned, ()) is reads
    assert partitions_read(reads, found, found.places, {"g": [TopicPartition("payments", 1)]}, ()) != reads


def test_keys_that_new_places_share_with_those_before_are_the_very_same():
    before = places(fetched("g", ("orders", 0, at(7))), {}, WATCHED, None)
    after = places(fetched("g", ("orders", 0, at(7)), ("payments", 0, at(1))), {}, WATCHED, before)

    assert after.keys[: len(before.keys)] == before.keys
    assert all(one is other for one, other in zip(before.keys, after.keys, strict=False))


def test_what_groups_read_is_told_by_the_watched_partitions_own_keys():
    found = table(fetched("g", ("orders", 0, at(7))) | fetched("h", ("orders", 0, at(8))))

    reads = partitions_read({}, found, None, {"g": [TopicPartition("orders", 0)]}, WATCHED)

    assert {id(partition) for its in reads.values() for partition in its} == {id(WATCHED[0])}
