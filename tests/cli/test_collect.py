import json

from cli.collect import printed
from cli.round_printed import coverage_lines
from guarantees.observations import CommittedOffset, Coverage, PartitionOffsets, Round
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown

SILENT = Unknown("broker 2 did not answer in time")


def offsets(high_watermark: int | Unknown) -> PartitionOffsets:
    return PartitionOffsets("id", 0, high_watermark, high_watermark, 0, 1, 1, 2)


def commit(offset: int | Unknown | None) -> CommittedOffset:
    return CommittedOffset("id", offset, 0, False, 1)


OBSERVED = Round(
    cluster_id="c",
    tick=7,
    started_at_ms=0,
    ended_at_ms=3,
    partitions={TopicPartition("orders", 0): offsets(100), TopicPartition("orders", 1): offsets(SILENT)},
    commits={
        GroupPartition("g", "orders", 0): commit(90),
        GroupPartition("g", "orders", 1): commit(50),
        GroupPartition("h", "orders", 0): commit(None),
        GroupPartition("h", "gone", 0): commit(3),
    },
    coverage=(Coverage("groups", 2, 1, 0, 1, "broker 2: no answer", 0, 1),),
)


def test_what_was_refused_and_what_failed_is_said_beside_what_was_answered():
    whole = Coverage("log_start_offsets", 6, 6, 0, 0, None, 0, 1)
    partly = Coverage("committed_offsets", 9, 4, 3, 2, "broker 2: no answer", 0, 1)

    lines = coverage_lines(Round(cluster_id="c", tick=7, started_at_ms=0, ended_at_ms=1, coverage=(whole, partly)))

    assert lines[0] == "cluster c, round 7"
    assert lines[1].split() == ["log_start_offsets", "6", "of", "6", "answered"]
    assert lines[2].endswith("4 of 9 answered, 3 refused, 2 failed, broker 2: no answer")


def test_a_round_is_printed_with_its_lags_and_a_gap_with_its_reason():
    lines = printed([OBSERVED], "table").splitlines()

    assert ["g", "orders", "0", "90", "0", "100", "100", "10", "–"] in [line.split() for line in lines]
    (unknown,) = [line for line in lines if "did not answer" in line]
    assert unknown.split()[:8] == ["g", "orders", "1", "50", "0", "–", "–", "–"]
    assert any(line.endswith("no commit") for line in lines)


def test_a_script_gets_an_unknown_value_as_a_reason_and_never_as_a_number():
    (given,) = json.loads(printed([OBSERVED], "json"))

    assert (given["cluster_id"], given["round"]) == ("c", 7)
    assert given["coverage"][0]["failed"] == 1
    first, silent, gone, never = [lags(given, *place) for place in PLACES]
    assert first["lag"] == 10
    assert silent["lag"] == silent["high_watermark"] == {"unknown": SILENT.reason}
    assert gone["lag"] == {"unknown": "not asked"}
    assert (never["lag"], never["committed_offset"]) == ({"unknown": "no commit"}, None)


PLACES = [("g", "orders", 0), ("g", "orders", 1), ("h", "gone", 0), ("h", "orders", 0)]


def lags(given, group, topic, partition):
    by_place = {(lag["group"], lag["topic"], lag["partition"]): lag for lag in given["lags"]}
    return by_place[group, topic, partition]


def test_clusters_out_of_reach_are_said_to_be():
    assert "cluster out of reach" in printed([Round(cluster_id="", tick=0, started_at_ms=0, ended_at_ms=0)], "table")
