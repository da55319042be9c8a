"""The SQL of the page of duplicates and losses over small metrics."""

import json
from pathlib import Path

import pytest

from dashboard import audit_questions, queries
from dashboard.audit_questions import EXAMPLES
from dashboard.reports import questions as report_questions
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter
from store.segments import producer_name

AT_MS = 1_764_000_000_000
FROM_MS, TO_MS = AT_MS - 60_000, AT_MS + 60_000


@pytest.fixture
def store(tmp_path: Path):
    """Write rows of one table of the metrics."""

    def write(table, *rows):
        with MetricsWriter(tmp_path / METRICS_FILE) as writer, writer.transaction() as metrics:
            metrics.replace(table, list(rows))

    return write


@pytest.fixture
def ask(tmp_path: Path):
    def asked(question, **about):
        return queries.ask(tmp_path, FROM_MS, TO_MS, question, {"cluster_id": "c", **about})

    return asked


def place(partition=0, **columns):
    return {"cluster_id": "c", "topic": "t", "topic_id": "id", "partition": partition, "observed_at": AT_MS} | columns


def covered(first, following, **columns):
    row = place(first_offset=first, next_offset=following, state="complete", records=following - first, sampled=1)
    read = {"records_without_id": 0, "aborted_records": 0, "sampling_rate": 1.0, "last_stable_offset": following}
    return row | read | columns


def copies(first_offset, **columns):
    row = place(first_offset=first_offset, cause="sent_twice", first_producer_id=1, producer_id=2, producer_epoch=0)
    count = {"sampled_extra_copies": 3, "lower": 3, "estimate": 3, "upper": 3, "sampling_rate": 1.0, "horizon_s": 60.0}
    where = {"first_copy_offset": first_offset, "last_copy_offset": first_offset + 9, "examples": "[]"}
    return row | count | where | columns


def examples(*ids):
    return json.dumps([{"message_id": known, "first": {"offset": n}, "last": {}} for n, known in enumerate(ids)])


def lost(offset, **columns):
    return place(pipeline="p", offset=offset, message_id=f"m{offset}", state="lost", decided_at=AT_MS) | columns


def test_what_was_read_is_counted_by_topic_and_outside_the_window_not_at_all(store, ask):
    store("ledger", covered(0, 10, records=8, records_without_id=2, aborted_records=1), covered(10, 30),
          covered(0, 5, partition=1, sampling_rate=0.5), covered(30, 99, observed_at=TO_MS + 1),
          covered(99, 100, observed_at=FROM_MS - 1), covered(0, 7, cluster_id="another"))  # fmt: skip

    (row,) = ask(queries.SAMPLED)

    assert (row["records"], row["records_without_id"], row["aborted_records"]) == (33, 2, 1)
    assert (row["partitions"], row["read_offsets"], row["rate"]) == (2, 35, 0.5)
    assert (row["purged_offsets"], row["gap_offsets"], row["left_unread"], row["purged"]) == (0, 0, 0, 0)


def test_the_rate_of_a_topic_is_the_lowest_its_ranges_were_compared_at(store, ask):
    store("ledger", covered(0, 10, sampling_rate=1.0, compared_rate=0.125), covered(10, 30, sampling_rate=0.5))

    (row,) = ask(queries.SAMPLED)

    assert row["rate"] == 0.125, "what is compared is what a range before the window left of the ids"


def test_purged_ranges_gaps_and_what_the_newest_read_left_are_counted_apart(store, ask):
    store("ledger", covered(0, 10, last_stable_offset=500), covered(10, 14, state="purged", records=0),
          covered(20, 30, last_stable_offset=35))  # fmt: skip

    (row,) = ask(queries.SAMPLED)

    assert (row["read_offsets"], row["purged_offsets"], row["gap_offsets"]) == (20, 4, 6)
    assert (row["left_unread"], row["purged"]) == (5, 1)


def test_a_topic_created_anew_has_no_gap_between_its_two_histories(store, ask):
    store("ledger", covered(500, 510), covered(0, 10, topic_id="anew"))

    (row,) = ask(queries.SAMPLED)

    assert (row["read_offsets"], row["gap_offsets"], row["partitions"]) == (20, 0, 2)


def test_covered_ranges_that_touch_are_one_and_purged_ones_stand_apart(store, ask):
    store("ledger", covered(10, 20), covered(0, 10), covered(20, 24, state="purged", records=0), covered(24, 30),
          covered(33, 40), covered(0, 5, partition=1), covered(0, 5, topic="u", topic_id="u"))  # fmt: skip

    rows = ask(audit_questions.COVERED, topic="t")

    found = [(row["partition"], row["state"], row["first_offset"], row["next_offset"], row["ranges"]) for row in rows]
    assert found == [(0, "complete", 0, 20, 2), (0, "purged", 20, 24, 1), (0, "complete", 24, 30, 1),
                     (0, "complete", 33, 40, 1), (1, "complete", 0, 5, 1)]  # fmt: skip
    assert rows[0]["records"] == 20


def test_copies_are_summed_by_partition_cause_and_later_producer(store, ask):
    store("duplicates", copies(0), copies(50, first_producer_id=7, horizon_s=90.0), copies(0, producer_id=8),
          copies(70, observed_at=TO_MS + 1), copies(0, cluster_id="another"))  # fmt: skip

    most, least = ask(audit_questions.EXTRA_COPIES)

    assert (most["seen"], most["ranges"], most["first_producer_ids"], most["horizon_s"]) == (6, 2, [1, 7], 90.0)
    assert (most["first_copy_offset"], most["last_copy_offset"]) == (0, 59)
    assert (least["producer_id"], least["seen"], least["ranges"]) == (8, 3, 1)


def test_audits_that_counted_copies_are_those_whose_windows_reach_into_the_one_asked_about(store, ask):
    ends = {"in": (FROM_MS - 9, FROM_MS), "before": (0, FROM_MS - 1), "after": (TO_MS + 1, TO_MS + 9)}
    runs = [{"run_id": name, "audit_id": name, "window_from": first, "window_to": last, "observed_at": AT_MS}
            for name, (first, last) in ends.items()]  # fmt: skip
    counted = {"cause": "sent_twice", "producer_id": 2, "producer_epoch": 0, "extra_copies": 3}
    store("audit_runs", *runs)
    own = [place(audit_id=name, run_id=name, first_producer_id=number, **counted) for name in ends for number in (1, 7)]
    store("audit_duplicates", *own, own[0] | {"cluster_id": "another", "topic_id": "another"})

    (row,) = ask(audit_questions.AUDITED_COPIES)

    assert (row["topic_id"], row["partition"], row["cause"], row["producer_id"]) == ("id", 0, "sent_twice", 2)
    assert (row["from_ms"], row["to_ms"]) == ends["in"]


def test_minutes_with_copies_are_told_once_of_each_group(store, ask):
    minute_ms = AT_MS - AT_MS % 60_000
    store("duplicates", copies(0), copies(50, observed_at=AT_MS + 1), copies(0, producer_id=8, observed_at=TO_MS - 1),
          copies(90, observed_at=TO_MS + 1), copies(0, topic="u", topic_id="u"))  # fmt: skip

    rows = ask(report_questions.COPY_MINUTES, topics=["t"])

    assert [(row["producer_id"], row["at_ms"]) for row in rows] == [(2, minute_ms), (8, TO_MS - 60_000)]


def test_copies_of_ranges_at_several_rates_are_each_scaled_by_their_own(store, ask):
    store("duplicates", copies(0, sampling_rate=1.0), copies(50, sampling_rate=0.25), copies(90, sampling_rate=0.5))

    (row,) = ask(audit_questions.EXTRA_COPIES)

    assert (row["seen"], row["rate"], row["rates"], row["seen_at_rate_1"]) == (9, 0.25, 3, 3)
    assert (row["scaled"], row["scaled_squares"]) == (3 * 4 + 3 * 2, 3 * 16 + 3 * 4)


def test_examples_are_found_by_a_part_of_the_id_whatever_its_case(store, ask):
    store("duplicates", copies(0, examples=examples("Order-1Ü", "other")), copies(9, examples=examples(None)),
          copies(0, topic="u", topic_id="u", examples=examples("order-2")))  # fmt: skip

    found = ask(audit_questions.COPIES_BY_ID, topic="t", word="ORDER-1ü")

    assert [json.loads(row["example"])["message_id"] for row in found] == ["Order-1Ü"]
    assert len(ask(audit_questions.COPIES_BY_ID, topic="t", word="")) == 3
    assert {row["topic"] for row in ask(audit_questions.TOPICS_WITH_ID, word="order")} == {"t", "u"}
    assert ask(audit_questions.TOPICS_WITH_ID, word="nobody") == []


def test_offsets_of_examples_keep_every_digit(store, ask):
    text = '[{"message_id": "m", "first": {"offset": 9007199254740993}, "last": {"offset": 9007199254740995}}]'
    store("duplicates", copies(0, examples=text))

    (row,) = ask(audit_questions.COPIES_BY_ID, topic="t", word="m")

    assert json.loads(row["example"])["last"]["offset"] == 9_007_199_254_740_995


def test_more_examples_than_shown_are_still_counted(store, ask):
    store("duplicates", *(copies(n, examples=examples("a", "b")) for n in range(EXAMPLES)))
    store("lost_ids", *(lost(n) for n in range(EXAMPLES + 3)))

    for found, total in (
        (ask(audit_questions.COPIES_BY_ID, topic="t", word=""), 2 * EXAMPLES),
        (ask(audit_questions.LOST_IDS, pipeline="p", word=""), EXAMPLES + 3),
    ):
        assert len(found) == EXAMPLES
        assert {row["found"] for row in found} == {total}


def test_lost_ids_come_before_late_ones_and_those_decided_after_the_window_are_not_known_yet(store, ask):
    store("lost_ids", lost(1, state="late", decided_at=AT_MS + 5), lost(2), lost(3, decided_at=AT_MS + 9),
          lost(4, decided_at=TO_MS + 1), lost(5, pipeline="q"))  # fmt: skip

    assert [row["offset"] for row in ask(audit_questions.LOST_IDS, pipeline="p", word="")] == [3, 2, 1]
    assert [row["offset"] for row in ask(audit_questions.LOST_IDS, pipeline="p", word="M2")] == [2]
    assert [row["pipeline"] for row in ask(audit_questions.PIPELINES_WITH_ID, word="m5")] == ["q"]


def test_a_word_with_wildcards_is_only_a_word(store, ask):
    store("lost_ids", lost(1, message_id="a%b"), lost(2, message_id="axb"))

    assert [row["offset"] for row in ask(audit_questions.LOST_IDS, pipeline="p", word="a%b")] == [1]
    assert [row["offset"] for row in ask(audit_questions.LOST_IDS, pipeline="p", word="' OR 1=1 --")] == []


def test_partitions_that_lost_most_come_first(store, ask):
    row = {"pipeline": "p", "ids_unseen": 0, "sink_read_to": "[]"}
    store("losses", place(0, ids_lost=0, **row), place(1, ids_lost=4, **row), place(2, ids_lost=0, **row) | {
        "ids_unseen": 7})  # fmt: skip

    assert [one["partition"] for one in ask(audit_questions.COMPARED, pipeline="p")] == [1, 2, 0]


def test_what_the_log_holds_is_its_newest_answer(tmp_path, ask):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    log.append("partition_offsets", [
        place(tick=tick, log_start_offset=tick, last_stable_offset=None if tick == 2 else 9,
              last_stable_offset_unknown="refused" if tick == 2 else None) for tick in (1, 2)
    ])  # fmt: skip
    log.close()

    (row,) = ask(audit_questions.STORED, topic="t")

    assert (row["log_start_offset"], row["last_stable_offset"]) == (2, None)
    assert row["last_stable_offset_unknown"] == "refused"


def test_comparisons_add_up_lost_late_and_their_interval(store, ask):
    row = {"pipeline": "p", "ids_judged": 10, "ids_unseen": 1, "settle_s": 30.0}
    store("losses", place(0, ids_lost=2, ids_late=1, lower=1, estimate=2, upper=5, sampling_rate=1.0, **row),
          place(1, ids_lost=1, ids_late=0, lower=1, estimate=64, upper=200, sampling_rate=1 / 64, **row))  # fmt: skip

    (one,) = ask(queries.COMPARISONS)

    assert (one["lost"], one["late"], one["judged"], one["unseen"], one["partitions"]) == (3, 1, 20, 2, 2)
    assert (one["lower"], one["estimate"], one["upper"], one["rate"]) == (2, 66, 205, 1 / 64)
