from guarantees.unknown import Unknown
from spark_jobs.commits import (
    CommitSample,
    Reading,
    due_to,
    judging_starts_at,
    passed_at,
    read_through,
    rising,
    seen_before,
)


def commits(*pairs):
    return [CommitSample(at_ms, offset) for at_ms, offset in pairs]


def test_only_commits_above_all_earlier_ones_matter():
    assert rising(commits((3, 20), (1, 10), (2, 10), (4, 15), (5, 21))) == commits((1, 10), (3, 20), (5, 21))


def test_record_is_due_once_the_commit_has_been_past_it():
    history = commits((10, 5), (20, 8))

    assert [due_to(history, at_ms) for at_ms in (9, 10, 19, 20)] == [None, 5, 5, 8]


def test_record_at_the_committed_offset_is_not_passed():
    history = commits((10, 5), (20, 8))

    assert [passed_at(history, offset) for offset in (4, 5, 7, 8)] == [10, 20, 20, None]


def test_last_sample_not_past_a_record_bounds_when_it_was_passed():
    history = commits((10, 5), (20, 8))

    assert [seen_before(history, offset) for offset in (4, 5, 8)] == [None, 10, 20]


def test_judging_starts_where_the_commit_stood_when_watching_began():
    history = commits((10, 5), (20, 8), (30, 9))

    assert [judging_starts_at(history, at_ms) for at_ms in (5, 10, 25)] == [5, 5, 8]
    assert judging_starts_at([], 0) is None


def test_sink_read_past_its_high_watermark_is_read_through_now():
    assert Reading().after(100, high_watermark=50, covered_to=50) == Reading(100, None)


def test_busy_sink_is_read_through_the_older_sample_it_has_passed():
    waiting = Reading().after(100, high_watermark=50, covered_to=40)

    assert waiting == Reading(None, (100, 50))
    assert waiting.after(200, high_watermark=90, covered_to=49) == Reading(None, (100, 50))
    assert waiting.after(200, high_watermark=90, covered_to=50) == Reading(100, (200, 90))


def test_sink_is_read_through_where_its_slowest_partition_is():
    readings = {0: Reading(100), 1: Reading(70)}

    assert read_through(readings, [0, 1]) == 70


def test_sink_with_an_unread_partition_is_unknown():
    assert isinstance(read_through({0: Reading(100)}, [0, 1]), Unknown)
    assert isinstance(read_through({0: Reading(100), 1: Reading()}, [0, 1]), Unknown)
    assert isinstance(read_through({}, []), Unknown)
