"""Which committed offsets a broker removes, by the cases of Apache Kafka's own OffsetMetadataManager tests."""

import json
from pathlib import Path

import pytest

from guarantees.expiry import expires_at_ms
from guarantees.observations import GroupState

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "offset_expiry.json").read_text())


def expiry(case, partition, committed_at_ms):
    described = GroupState(case["group"]["type"], case["group"]["state"], 1, (), None, None, 0)
    return expires_at_ms(
        described,
        is_subscribed=partition.rpartition("-")[0] in case["subscribed_topics"],
        committed_at_ms=committed_at_ms,
        empty_since_ms=None,
        is_pending=partition in case["pending_transactional_commits"],
        retention_ms=case["offsets_retention_ms"],
    )


@pytest.mark.parametrize("case", ORACLE["cases"], ids=lambda case: case["id"])
def test_the_commits_that_expire_are_those_a_broker_removes(case):
    ends = {partition: expiry(case, partition, at_ms) for partition, at_ms in case["commits"].items()}
    expired = [partition for partition, end in ends.items() if isinstance(end, int) and end <= case["now_ms"]]

    assert expired == case["expect"]["expired"]
    assert (len(expired) == len(ends)) is case["expect"]["group_removable"]
