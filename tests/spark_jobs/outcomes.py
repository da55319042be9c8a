"""Two stores over the same topics, and what they hold in the end: it must not depend on how the rounds were cut.

Nor on who died between them: rounds of one store are killed, those of the other one are not.
"""

import time
from collections import Counter
from contextlib import contextmanager

from guarantees.findings import Kind
from store.metrics import METRICS_FILE, snapshot
from store.reading import read
from store.rows import python_rows
from tests.spark_jobs.scripted import ids
from tests.spark_jobs.test_live import collecting, findings, live_rounds, metric, now_ms, until

ACCOUNT = ("records", "records_without_id", "aborted_records", "markers", "sampled")
LOSSES = ("partition", "judged_from", "judged_to", "ids_judged", "ids_lost", "ids_late", "estimate", "lower", "upper")
LOST = ("topic", "partition", "offset", "message_id", "state", "missing", "found_at")


@contextmanager
def begin(spark, script, folders):
    """Stores whose histories begin before the group commits anything but 0; commits are sampled once, for all."""
    first, *others = folders
    first.mkdir()
    sampled = first / "raw" / "committed_offsets"
    sampled.mkdir(parents=True)
    for other in others:
        (other / "raw").mkdir(parents=True)
        (other / "raw" / sampled.name).symlink_to(sampled)
    script.commit(dict.fromkeys(range(script.partitions), 0))
    with collecting(script.settings(first)):
        wait_for_a_commit_sample(first)
        for folder in folders:
            with live_rounds(spark, script.settings(folder), folder) as rounds:
                rounds.run_round(now_ms())
        yield


def wait_for_a_commit_sample(folder):
    deadline = time.monotonic() + 30
    while not read(folder, "committed_offsets").num_rows:
        assert time.monotonic() < deadline, "no commit was sampled"
        time.sleep(0.2)


def send_a_turn(script, turn):
    """On both topics copies, at the sink of ids of all turns before; one id of each turn never gets there.

    A source id is sent again within its turn alone: the group passes both copies at once, so they are judged as one id.
    """
    new = ids("a", 20 * turn, 20 * turn + 20)
    script.send(script.source, [*new, *new[:turn]])
    if turn % 4 == 0:
        script.send_in_transaction(script.source, ids("gone", turn, turn + 1), is_committed=False)
    script.send(script.sink, [*new[1:], *(f"a-{20 * earlier + 1}" for earlier in range(turn))])
    script.commit(script.end_offsets(script.source))


def end(spark, script, folders):
    """Rounds until each store has read both topics to their ends and judged all that the group has passed."""
    passed = script.end_offsets(script.source)
    script.commit(passed)
    for folder in folders:
        with live_rounds(spark, script.settings(folder), folder) as rounds:
            until(rounds, lambda folder=folder: judged_to(folder) == passed)


def judged_to(folder):
    return {row["partition"]: row["judged_to"] for row in metric(folder, "losses")}


def outcome(data_dir):
    """Ranges and accounts of the ledger, copies by cause, losses, samples and findings."""
    rows = {name: python_rows(name, table) for name, table in _tables(data_dir).items()}
    samples = read(data_dir, "id_samples").select(["topic", "partition", "offset", "id_hash"]).to_pylist()
    return {
        "ranges": {place: joined(ranges) for place, ranges in _by_place(rows["ledger"]).items()},
        "accounts": {place: _account(ranges) for place, ranges in _by_place(rows["ledger"]).items()},
        "copies": _copies(rows["duplicates"]),
        "losses": sorted(tuple(row[name] for name in LOSSES) for row in rows["losses"]),
        "lost": sorted(tuple(row[name] for name in LOST) for row in rows["lost_ids"]),
        "samples": sorted(tuple(row.values()) for row in samples),
        "told": {
            each.finding_id: (each.bounds.estimate, each.closed_reason)
            for kind in (Kind.DUPLICATE_WRITE, Kind.LOST_WRITE)
            for each in findings(data_dir, kind)
        },
    }


def joined(ranges):
    """Begin and end of what a partition's ranges cover; each must begin where the one before it ends."""
    ends = sorted((row["first_offset"], row["next_offset"]) for row in ranges)
    covered = [each for each in ends if each[0] < each[1]]  # an empty one marks where a history begins
    assert all(before[1] == after[0] for before, after in zip(covered, covered[1:], strict=False)), covered
    return ends[0][0], ends[-1][1]


def _tables(data_dir):
    return snapshot(data_dir / METRICS_FILE, ["ledger", "duplicates", "losses", "lost_ids"])


def _by_place(ledger):
    places = {}
    for row in ledger:
        places.setdefault((row["topic"], row["partition"]), []).append(row)
    return places


def _account(ranges):
    return {name: sum(row[name] for row in ranges) for name in ACCOUNT}


def _copies(duplicates):
    copies = Counter()
    for row in duplicates:
        key = tuple(row[name] for name in ("topic", "partition", "cause", "first_producer_id", "producer_id"))
        copies[key] += row["sampled_extra_copies"]
    return copies
