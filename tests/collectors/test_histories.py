"""From records of Kafka's own topics to rows: nothing twice, nothing told by both sources, gaps told as gaps."""

import json
from dataclasses import replace

import pytest

from collectors import internal_tail, log_ledger
from collectors.histories import Context, Histories, Sampled, resumed, told
from collectors.internal_tail import FIRST_OFFSETS, FIRST_SIGHT, LogPosition, LogReading, Tail
from guarantees.group_history import SettledGroup, of_sample
from guarantees.internal_records import CONSUMER_OFFSETS, TRANSACTION_STATE
from guarantees.observations import GroupState, Member
from guarantees.places import TopicPartition
from guarantees.rebalances import rebalance
from guarantees.unknown import Unknown
from kafka_reader.internal_log import FetchedLog
from kafka_reader.keyed_records import KeyedRecord
from settings import ClusterSettings
from store.log import SegmentLog
from tests.collectors.fake_cluster import FakeCluster
from tests.kafka_reader.test_internal_records import ABORT_VALUE, COMMIT_KEY, COMMIT_VALUE, classic_value, key

NOW_MS = 1_795_824_200_000
FOLLOWS = LogPosition("topic-id", 0)
SETTINGS = ClusterSettings(name="lab", bootstrap_servers="localhost:9092")
REMOVED = "the offsets 70 to 99 were removed before they were read"
NO_SAMPLES = Sampled({}, {})
NOTHING_READ = LogReading(TRANSACTION_STATE)
COMMIT = (bytes.fromhex(COMMIT_KEY), bytes.fromhex(COMMIT_VALUE))
GENERATION = (key(2, "g"), classic_value(3))
ABORT = (key(0, "tx"), bytes.fromhex(ABORT_VALUE))


def context(**changes):
    return Context(replace(SETTINGS, **changes), "cluster-id", 7, {}, NOW_MS)


def fetched(*pairs, first=0, waiting=0, **changes):
    records = tuple(KeyedRecord(first + n, NOW_MS - 1_000, None, *pair) for n, pair in enumerate(pairs))
    end = first + len(records)
    ends = {"log_start_offset": 0, "last_stable_offset": end, "high_watermark": end + waiting, "observed_at_ms": NOW_MS}
    return FetchedLog(
        **{"records": records, "next_offset": end, "missing": 0, "is_out_of_range": False} | ends | changes
    )


def reading(*pairs, position=FOLLOWS, topic=CONSUMER_OFFSETS, **changes):
    """Of the one partition, from its position on."""
    return LogReading(topic, 1, {0: position}, {0: fetched(*pairs, first=position.offset, **changes)})


def state(*members, at_ms, name="Stable"):
    owners = [Member(m, None, "client", "/10.0.0.1", frozenset({TopicPartition("orders", 0)})) for m in members]
    return GroupState("classic", name, 1, tuple(owners), None, None, at_ms)


def sampled(before, after):
    return Sampled({"g": after}, {"g": rebalance(before, after)})


OLD, NEW = state("m-0", at_ms=NOW_MS - 5_000), state("m-1", at_ms=NOW_MS - 500)
FOLLOWED = Histories(groups={"g": of_sample(SettledGroup("classic", None, None, ()))})


def sources(found):
    return [row["source"] for row in found.rows["rebalances"]]


def test_a_commit_becomes_a_row_with_its_place_and_time():
    (row,) = told(Histories(), reading(COMMIT), NOTHING_READ, NO_SAMPLES, context()).rows["commits"]

    assert (row["group_id"], row["topic"], row["partition"]) == ("g-tx1795824005", "tin", 0)
    assert (row["committed_offset"], row["committed_at"]) == (5, 1_795_824_006_475)
    assert (row["previous_offset"], row["previous_offset_unknown"]) == (None, "the commit before it was not read")
    assert (row["log_partition"], row["log_offset"], row["read_at"]) == (0, 0, NOW_MS)


@pytest.mark.parametrize("excluded", [{"exclude_groups": ("g-*",)}, {"exclude_topics": ("tin",)}])
def test_commits_of_groups_and_topics_that_are_not_watched_are_left_out(excluded):
    assert told(Histories(), reading(COMMIT), NOTHING_READ, NO_SAMPLES, context(**excluded)).rows["commits"] == []


def test_groups_that_are_not_watched_are_not_followed():
    found = told(Histories(), reading(GENERATION), NOTHING_READ, NO_SAMPLES, context(exclude_groups=("g",)))

    assert found.histories.groups == {}


def test_a_clock_that_runs_ahead_writes_no_row_of_the_future():
    ahead = replace(fetched(COMMIT), records=(KeyedRecord(0, NOW_MS + 99_000, None, *COMMIT),))

    (row,) = told(
        Histories(), LogReading(CONSUMER_OFFSETS, 1, {0: FOLLOWS}, {0: ahead}), NOTHING_READ, NO_SAMPLES, context()
    ).rows["commits"]

    assert row["observed_at"] == NOW_MS


def test_a_rebalance_that_a_record_tells_is_not_told_by_samples_too():
    found = told(FOLLOWED, reading(GENERATION), NOTHING_READ, sampled(OLD, NEW), context())

    (row,) = found.rows["rebalances"]
    assert (row["source"], row["generation"], json.loads(row["joined"])) == (CONSUMER_OFFSETS, 4, ["m-1"])
    assert row["group_leader"] == "m-1"


@pytest.mark.parametrize(
    ("before", "log"),
    [
        (Histories(), reading()),
        (FOLLOWED, LogReading(CONSUMER_OFFSETS, 1, {0: FOLLOWS}, {0: Unknown("not permitted")})),
        (FOLLOWED, LogReading(CONSUMER_OFFSETS)),
        (FOLLOWED, reading(waiting=3)),
        (FOLLOWED, reading(position=LogPosition("topic-id", 9, FIRST_SIGHT))),
        (FOLLOWED, reading((key(2, "other"), b"\\x00\\x09"))),
    ],
    ids=["not followed", "not permitted", "switched off", "behind a transaction", "after a gap", "not readable"],
)  # fmt: skip
def test_what_the_records_do_not_tell_is_told_by_samples(before, log):
    assert sources(told(before, log, NOTHING_READ, sampled(OLD, NEW), context())) == ["samples"]


def test_a_record_that_is_read_late_does_not_tell_again_what_samples_told():
    late = told(FOLLOWED, reading(waiting=1), NOTHING_READ, sampled(OLD, NEW), context())
    again = told(late.histories, reading(GENERATION), NOTHING_READ, NO_SAMPLES, context())

    assert sources(late) == ["samples"]
    assert sources(again) == []


def test_a_settled_sample_begins_a_group_and_a_record_of_the_same_round_does_not_let_it():
    alone = told(Histories(), reading(), NOTHING_READ, Sampled({"g": NEW}, {}), context())
    moving = told(Histories(), reading((key(3, "g"), bytes.fromhex("00000000000200"))), NOTHING_READ,
                  Sampled({"g": NEW}, {}), context())  # fmt: skip

    assert alone.histories.groups["g"].settled is not None
    assert moving.histories.groups["g"].settled is None


def test_a_transaction_becomes_a_step():
    log = reading(ABORT, topic=TRANSACTION_STATE)

    (row,) = told(Histories(), LogReading(CONSUMER_OFFSETS), log, NO_SAMPLES, context()).rows["transaction_steps"]

    assert (row["transactional_id"], row["step"], row["producer_id"]) == ("tx", "ending", 5)
    assert row["partitions"] == '[["zt", 0]]'


def test_the_ledger_tells_what_was_read_what_was_not_and_why():
    log = reading(COMMIT, (key(17, "g"), b""), (key(17, "h"), b""), position=LogPosition("topic-id", 9, FIRST_SIGHT))

    (row,) = told(Histories(), log, NOTHING_READ, NO_SAMPLES, context()).rows["log_ranges"]

    assert (row["first_offset"], row["next_offset"], row["records"]) == (9, 12, 3)
    assert json.loads(row["unread"]) == {"key 17: streams group: not read": 2}
    assert row["break_reason"] == FIRST_SIGHT


def test_nothing_new_is_no_range():
    assert told(Histories(), reading(), NOTHING_READ, NO_SAMPLES, context()).rows["log_ranges"] == []


# Over a restart.


def stored(data_dir, found, *, is_ledger_cut_off=False):
    log = SegmentLog(data_dir, "host_collect")
    for table, rows in found.rows.items():
        if table != log_ledger.TABLE or not is_ledger_cut_off:
            log.append(table, rows)
    log.close()


def test_reading_goes_on_where_it_was_and_groups_from_their_last_sample(tmp_path):
    stored(tmp_path, told(Histories(), reading(COMMIT), NOTHING_READ, NO_SAMPLES, context()))

    again = resumed(tmp_path, "cluster-id", NOW_MS, {"g": NEW})

    assert again.group_tail.positions == {0: LogPosition("topic-id", 1)}
    assert again.groups["g"].settled.members[0].member_id == "m-1"


def test_what_was_stored_before_a_death_is_not_stored_again(tmp_path):
    stored(tmp_path, told(Histories(), reading(COMMIT), NOTHING_READ, NO_SAMPLES, context()), is_ledger_cut_off=True)
    again = resumed(tmp_path, "cluster-id", NOW_MS, {})

    found = told(again, reading(COMMIT, COMMIT, (COMMIT[0], None)), NOTHING_READ, NO_SAMPLES, context())

    assert again.group_tail.positions == {}
    assert [(row["log_offset"], row["committed_offset"]) for row in found.rows["commits"]] == [(2, None)]


def test_a_rebalance_of_a_partition_that_was_idle_for_days_is_not_stored_again(tmp_path):
    stored(tmp_path, told(FOLLOWED, reading(GENERATION), NOTHING_READ, NO_SAMPLES, context()))
    again = resumed(tmp_path, "cluster-id", NOW_MS + 3 * log_ledger.DAY_MS, {})

    found = told(replace(again, groups=FOLLOWED.groups), reading(GENERATION), NOTHING_READ, NO_SAMPLES, context())

    assert again.group_tail.positions == {}
    assert found.rows["rebalances"] == []


# Where each partition is read on.


@pytest.mark.parametrize(
    ("before", "start", "end", "position"),
    [
        (None, 0, 5_000, LogPosition("id", 5_000 - FIRST_OFFSETS, FIRST_SIGHT)),
        (None, 0, 10, LogPosition("id", 0, FIRST_SIGHT)),
        (None, 4_500, 5_000, LogPosition("id", 4_500, FIRST_SIGHT)),
        (LogPosition("old", 70), 0, 10, LogPosition("id", 0, internal_tail.MADE_ANEW)),
        (LogPosition("id", 70), 100, 500, LogPosition("id", 100, REMOVED)),
        (LogPosition("id", 70), 0, 60, LogPosition("id", 60, internal_tail.LOG_CUT)),
        (LogPosition("id", 70), 0, 80, LogPosition("id", 70)),
        (None, Unknown("no"), 80, Unknown("no")),
    ],
)  # fmt: skip
def test_a_partition_that_is_new_or_lost_begins_where_its_log_allows(before, start, end, position):
    assert internal_tail._found("id", before, start, end) == position


@pytest.mark.parametrize(
    ("one", "position"),
    [
        (fetched(COMMIT, COMMIT), LogPosition("topic-id", 2)),
        (fetched(is_out_of_range=True), replace(FOLLOWS, is_lost=True)),
        (
            fetched(COMMIT, last_stable_offset=900_001),
            LogPosition("topic-id", 898_001,
                        "more is written than may be read (history_bytes_per_s): 898,000 offsets are left out"),
        ),
    ],
)  # fmt: skip
def test_the_next_reading_follows_this_one(one, position):
    read = LogReading(CONSUMER_OFFSETS, 1, {0: FOLLOWS}, {0: one})

    assert internal_tail.after(Tail(), read).positions == {0: position}


def test_a_partition_that_failed_is_read_again_from_the_same_offset():
    read = LogReading(CONSUMER_OFFSETS, 2, {0: FOLLOWS, 1: FOLLOWS}, {0: Unknown("no"), 1: fetched(COMMIT)})

    following = internal_tail.after(Tail(turn=1), read)

    assert following == Tail({0: FOLLOWS, 1: LogPosition("topic-id", 1)}, turn=0)


def test_a_topic_that_the_brokers_do_not_name_is_asked_for_by_name():
    hidden = FakeCluster()
    hidden.rights.describable = {"orders"}

    (reason,) = internal_tail.absent(hidden, CONSUMER_OFFSETS).fetched.values()

    assert reason == Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED")
    assert internal_tail.absent(FakeCluster(), CONSUMER_OFFSETS).fetched == {}
