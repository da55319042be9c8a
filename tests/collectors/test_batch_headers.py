"""Batch headers of a cluster in memory: every offset once, over failures and restarts, and findings are written."""

import uuid

import pytest

from collectors.batch_headers import ANSWER_BYTES
from collectors.header_positions import FIRST_SIGHT, LOG_CUT, MADE_ANEW, NEW_PARTITION
from collectors.header_rows import ReadRange, batch_rows, range_row, scans
from collectors.runner import ClusterRounds
from guarantees.batches import Marker
from guarantees.findings import Kind
from kafka_reader.header_fetch import parse_batches
from settings import Settings, StoreSettings
from store.findings import load_findings
from store.log import SegmentLog
from store.reading import read
from store.rows import python_rows
from tests.collectors.fake_cluster import FakeCluster
from tests.guarantees.logs import batch as log_batch
from tests.guarantees.logs import marker as log_marker
from tests.guarantees.logs import scan
from tests.kafka_reader.built_batches import COMMIT_KEY, Sent, batch, marker

START = 100  # where partition 0 stands when it is first seen


@pytest.fixture
def cluster():
    return FakeCluster(header_topics=("ord*",))


class Collector:
    """The rounds of a cluster into one store; `restart` begins them anew from it."""

    def __init__(self, cluster, data_dir):
        self.cluster, self.data_dir = cluster, data_dir
        self.restart()

    def restart(self):
        settings = Settings(clusters=(self.cluster.watched.settings,), store=StoreSettings(data_dir=str(self.data_dir)))
        if getattr(self, "log", None) is not None:
            self.log.close()
        self.log = SegmentLog(self.data_dir, "host_collect")
        self.rounds = ClusterRounds(self.cluster.watched, settings, self.log)

    def rows(self, table, partition=0):
        rows = python_rows(table, read(self.data_dir, table))
        return [row for row in rows if row["partition"] == partition]

    def ranges(self, partition=0):
        rows = sorted(self.rows("header_ranges", partition), key=lambda row: (row["observed_at"], row["next_offset"]))
        return [(row["first_offset"], row["next_offset"]) for row in rows]

    def offsets(self, partition=0):
        return sorted(row["base_offset"] for row in self.rows("batch_headers", partition))

    def findings(self):
        return [history.finding for history in load_findings(self.data_dir).values()]


@pytest.fixture
def collector(cluster, tmp_path):
    collector = Collector(cluster, tmp_path)
    yield collector
    collector.log.close()


def write(cluster, *, partition=0, count=1, pid=-1, epoch=-1, seq=-1, key=b"k", at_ms=1_700_000_000_000, leader=0):
    """One batch at the end of the partition's log."""
    start, _, high = cluster.log[partition]
    built = batch(
        [Sent(key=key, timestamp_ms=at_ms)] * count,
        base_offset=high,
        producer_id=pid,
        producer_epoch=epoch,
        base_sequence=seq,
        leader_epoch=leader,
    )
    cluster.batches.setdefault(partition, []).append(built)
    cluster.log[partition] = (start, high + count, high + count)


def test_without_topics_asked_for_nothing_is_fetched(tmp_path):
    cluster = FakeCluster()
    collector = Collector(cluster, tmp_path)
    collector.rounds.next_round()
    collector.log.close()

    assert "fetch" not in cluster.asked


def test_reading_begins_at_the_end_and_says_that_what_was_before_is_not_seen(cluster, collector):
    collector.rounds.next_round()
    (row,) = collector.rows("header_ranges")

    assert (row["first_offset"], row["next_offset"], row["break_reason"]) == (START, START, FIRST_SIGHT)
    assert collector.offsets() == []


def test_every_batch_is_read_once_and_a_quiet_partition_is_not_asked(cluster, collector):
    collector.rounds.next_round()
    for _ in range(2):
        write(cluster, count=3)
        collector.rounds.next_round()
    asked = len(cluster.fetched_from)
    collector.rounds.next_round()

    assert collector.ranges() == [(100, 100), (100, 103), (103, 106)]
    assert collector.offsets() == [100, 103]
    assert len(cluster.fetched_from) == asked
    assert {row["break_reason"] for row in collector.rows("header_ranges")[1:]} == {None}


def test_a_restart_reads_on_where_the_store_says_nothing_twice_and_nothing_skipped(cluster, collector):
    collector.rounds.next_round()
    write(cluster)
    collector.rounds.next_round()
    write(cluster)
    collector.restart()
    write(cluster)
    collector.rounds.next_round()

    assert collector.offsets() == [100, 101, 102]
    assert collector.ranges() == [(100, 100), (100, 101), (101, 103)]


def test_a_range_whose_entry_was_never_written_is_read_again_and_counts_once(cluster, collector, monkeypatch):
    collector.rounds.next_round()
    write(cluster)
    append = collector.log.append
    monkeypatch.setattr(
        collector.log, "append", lambda table, rows: None if table == "header_ranges" else append(table, rows)
    )
    collector.rounds.next_round()
    collector.restart()
    write(cluster)
    collector.rounds.next_round()

    assert collector.offsets() == [100, 101]
    assert collector.ranges() == [(100, 100), (100, 102)]


def test_a_partition_that_fails_costs_no_other_and_is_read_on_later(cluster, collector):
    collector.rounds.next_round()
    cluster.refused = {0}
    write(cluster)
    write(cluster, partition=1)
    collector.rounds.next_round()
    assert (collector.offsets(0), collector.offsets(1)) == ([], [50])
    assert "TOPIC_AUTHORIZATION_FAILED" in collector.rows("header_ranges")[-1]["problem"].upper().replace(" ", "_")
    cluster.refused = set()
    collector.rounds.next_round()

    assert collector.offsets(0) == [100]


def test_what_retention_removed_before_it_was_read_is_recorded_as_that(cluster, collector):
    collector.rounds.next_round()
    write(cluster, count=5)
    write(cluster, count=5)
    cluster.log[0] = (105, 110, 110)
    collector.rounds.next_round()
    collector.rounds.next_round()

    assert collector.offsets() == [105]
    assert collector.rows("header_ranges")[-1]["break_reason"] == (
        "retention removed the offsets 100 to 104 before they were read"
    )


def test_a_log_that_was_cut_is_read_on_from_its_new_end(cluster, collector):
    collector.rounds.next_round()
    write(cluster, count=5)
    collector.rounds.next_round()
    cluster.log[0] = (0, 102, 102)
    collector.rounds.next_round()
    collector.rounds.next_round()

    assert collector.rows("header_ranges")[-1]["break_reason"] == LOG_CUT
    assert collector.ranges()[-1] == (102, 102)


def test_a_topic_made_anew_is_read_from_its_start(cluster, collector):
    collector.rounds.next_round()
    cluster.topic_id = uuid.UUID(int=7)
    cluster.log[0] = (0, 0, 0)
    write(cluster)
    collector.rounds.next_round()

    newest = collector.rows("header_ranges")[-1]
    assert (newest["break_reason"], newest["first_offset"], newest["next_offset"]) == (MADE_ANEW, 0, 1)


def test_a_partition_added_later_is_read_from_its_log_start(cluster, collector):
    collector.rounds.next_round()
    cluster.leaders[2], cluster.log[2] = 1, (0, 0, 0)
    write(cluster, partition=2)
    collector.rounds.next_round()

    assert collector.offsets(2) == [0]
    assert collector.rows("header_ranges", 2)[0]["break_reason"] == NEW_PARTITION


def test_a_topic_created_when_nothing_else_was_watched_is_read_from_its_log_start(cluster, collector):
    cluster.leaders, cluster.log = {}, {}
    collector.rounds.next_round()
    cluster.leaders, cluster.log = {0: 1}, {0: (0, 0, 0)}
    write(cluster)
    collector.rounds.next_round()

    assert collector.offsets() == [0]
    assert collector.rows("header_ranges")[0]["break_reason"] == NEW_PARTITION


@pytest.mark.parametrize(("a_second", "most"), [(1_000, 2_500), (20_000_000, ANSWER_BYTES)])
def test_the_leaders_together_send_no_more_than_the_bytes_a_second_allow(cluster, tmp_path, a_second, most):
    cluster.max_bytes_per_s = a_second
    collector = Collector(cluster, tmp_path)
    collector.rounds.next_round()
    collector.log.close()

    assert cluster.fetched_most == [most, most]


def test_a_resent_batch_is_written_as_a_finding_and_stays_one_over_a_restart(cluster, collector):
    collector.rounds.next_round()
    for _ in range(2):
        write(cluster, count=2)
    collector.rounds.next_round()
    (finding,) = collector.findings()
    assert (finding.kind, finding.bounds.estimate, finding.evidence["first_copy_offset"]) == (Kind.RESENT_BATCH, 2, 100)
    collector.restart()
    write(cluster, count=2)
    collector.rounds.next_round()
    collector.rounds.next_round()

    (grown,) = collector.findings()
    assert (grown.finding_id, grown.bounds.estimate) == (finding.finding_id, 4)


def test_a_producer_the_leader_did_not_know_before_is_new_and_its_missing_batches_are_found(cluster, collector):
    collector.rounds.next_round()
    write(cluster, pid=7, epoch=0, seq=40)
    write(cluster, pid=8, epoch=0, seq=4, leader=1)
    collector.rounds.next_round()

    (finding,) = collector.findings()
    assert (finding.kind, finding.severity, finding.evidence["producer_id"]) == (Kind.MISSING_SEQUENCES, 4, 8)
    assert finding.bounds.estimate == 4


def test_markers_are_read_with_their_kind_and_coordinator_epoch():
    (control,) = parse_batches(marker(COMMIT_KEY, base_offset=5, producer_id=7), 0)

    assert (control.marker, control.coordinator_epoch, control.producer_id) == (Marker.COMMIT, 0, 7)


def test_a_batch_read_from_bytes_keeps_what_a_resend_shares():
    one, again = (parse_batches(batch([Sent()], base_offset=at, leader_epoch=at), 0)[0] for at in (3, 9))

    assert (one.crc, one.body_hash, one.size_bytes) == (again.crc, again.body_hash, again.size_bytes)
    assert (one.producer_id, one.producer_epoch, one.base_sequence) == (None, None, None)
    assert parse_batches(batch([Sent(), Sent()], base_offset=3), 4) == ()


def test_ranges_come_back_from_their_rows_each_with_its_own_batches():
    first, cut_and_again = (
        ReadRange(scan(*batches, known={7}, second=second), break_reason=reason)
        for second, reason, batches in (
            (1, None, (log_batch(0, 3, pid=7, seq=0), log_marker(3, Marker.ABORT, pid=7))),
            (2, LOG_CUT, (log_batch(0, 2, pid=7, seq=0, leader=1),)),
        )
    )
    rows = [row for one in (first, cut_and_again) for row in batch_rows(one.scan)]

    assert scans([range_row(first), range_row(cut_and_again)], rows) == [first.scan, cut_and_again.scan]
