"""How long records have been unread, asked of the store, against the same said in Python over random histories."""

import random

import pytest

from dashboard import queries
from dashboard.partition_questions import UNREAD_BY_PARTITION, UNREAD_FOR
from store.log import SegmentLog
from tests.store.builders import SECOND, T0, commit_row, end_row

GROUPS, ASKED, PARTITIONS = ("a", "b", "c", "gone"), ("a", "b", "gone"), range(3)
ROUND_MS = 5 * SECOND


def history(chance, rounds):
    """Logs that grow, and some that fall; groups that follow, stand, have no commit, or are not there any more."""
    commits, ends = [], []
    high_watermarks, committed = dict.fromkeys(PARTITIONS, 10), {}
    for tick in range(rounds):
        for partition in PARTITIONS:
            moved = high_watermarks[partition] + chance.choice([0, 0, 3, 7, *([-4] if partition == 2 else [])])
            high_watermarks[partition] = max(0, moved)
            known = high_watermarks[partition] if chance.random() < 0.9 else None
            ends.append(end_row(tick, T0 + tick * ROUND_MS, partition, high_watermark=known))
        for group in GROUPS if tick < rounds - 2 else GROUPS[:3]:
            for partition in PARTITIONS:
                place = group, partition
                end = high_watermarks[partition]
                committed[place] = end if chance.random() < 0.3 else min(end, committed.get(place, end))
                at = None if chance.random() < 0.1 else committed[place]
                commits.append(
                    commit_row(tick, T0 + tick * ROUND_MS - 1, partition, group_id=group, committed_offset=at)
                )
    return commits, ends


def expected(commits, ends):
    """By group: of the newest round in which one of the groups asked about was there, the worst partition."""
    return {
        group: max((ms for ms in waits.values() if ms is not None), default=None)
        for group, waits in by_partition(commits, ends, ASKED).items()
    }


def by_partition(commits, ends, groups):
    """By group and partition; what has no known lag is left out."""
    asked = [row for row in commits if row["group_id"] in groups]
    newest = max(row["tick"] for row in asked)
    found = {}
    for row in (row for row in asked if row["tick"] == newest):
        log = [end for end in ends if end["partition"] == row["partition"] and end["high_watermark"] is not None]
        end = next((end for end in log if end["tick"] == newest), None)
        if end is not None and row["committed_offset"] is not None:
            found.setdefault(row["group_id"], {})[row["partition"]] = waited(row["committed_offset"], end, log)
    return found


def waited(committed, newest, log):
    """None of a log whose end has fallen and stayed below."""
    if newest["high_watermark"] <= committed:
        return 0
    if log[-1]["high_watermark"] < max(end["high_watermark"] for end in log):
        return None
    return newest["observed_at"] - min(end["observed_at"] for end in log if end["high_watermark"] > committed)


@pytest.mark.parametrize("seed", range(12))
def test_how_long_records_have_been_unread_is_as_said_in_python(tmp_path, seed):
    commits, ends = history(random.Random(seed), rounds=8)
    if seed % 4 == 0:  # a group that has left the newest rounds is told of by the last one it was in
        commits = [row for row in commits if row["group_id"] in ("c", "gone")]
    log = SegmentLog(tmp_path, "h")
    log.append("committed_offsets", commits)
    log.append("partition_offsets", ends)
    log.close()

    about = {"cluster_id": "c", "groups": list(ASKED), "since_ms": T0 - SECOND}
    rows = queries.ask(tmp_path, T0 - SECOND, T0 + 60 * SECOND, UNREAD_FOR, about)

    assert rows
    assert {row["group_id"]: row["unread_for_ms"] for row in rows} == expected(commits, ends)

    of_one = queries.ask(tmp_path, T0 - SECOND, T0 + 60 * SECOND, UNREAD_BY_PARTITION, {**about, "groups": ["gone"]})
    known = {row["partition"]: row["unread_for_ms"] for row in of_one}
    assert known == by_partition(commits, ends, ["gone"]).get("gone", {})
