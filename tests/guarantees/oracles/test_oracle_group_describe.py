import json
from pathlib import Path

import pytest

from guarantees.lag import consumer_lag, known_commit
from guarantees.unknown import Unknown
from tests.guarantees.builders import commit, offsets

CASES = json.loads((Path(__file__).parents[2] / "oracles" / "group_describe.json").read_text())["cases"]
NOT_ASKED = Unknown("the answer has no entry for the partition")


def shown(value):
    """What cannot be known prints as "-", which is null in the rows."""
    return None if isinstance(value, Unknown) else value


def row(partition, end_offset):
    read = commit(partition["committed_offset"]) if partition["commit_present"] else NOT_ASKED
    return {
        "topic": partition["topic"],
        "partition": partition["partition"],
        "shown_offset": shown(known_commit(read)),
        "shown_lag": shown(consumer_lag(read, offsets(end_offset)).lag_hw),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_oracle_group_describe_shows_lag_only_where_there_is_a_commit(case):
    rows = [row(partition, case["end_offset_of_every_partition"]) for partition in case["partitions"]]

    assert rows == case["expect"]["rows"]


def test_oracle_group_describe_keeps_the_row_of_a_partition_without_a_leader():
    lag = consumer_lag(commit(100), Unknown("no leader"))

    assert (shown(known_commit(commit(100))), lag.lag_hw) == (100, Unknown("no leader"))
