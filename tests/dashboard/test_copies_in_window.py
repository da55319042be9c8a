"""Copies of a window where a finding counts those of a longer time: known, none, or at most so many."""

from dataclasses import replace

import pytest

from dashboard import answers, audit_answers, audit_topics, copies_in_window, record_evidence, tiles
from dashboard.components import pipeline_panel
from dashboard.tiles import Reach
from dashboard.view import View
from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.lifecycle import Change, FindingEvent
from store.findings import append_events
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter
from store.segments import producer_name
from tests.dashboard import fixture_store
from tests.dashboard.fixture_store import CLUSTER_ID, ORDERS
from tests.dashboard.test_audit import concern, group

DAY_MS = 86_400_000
TO_MS = 1_764_000_000_000
FROM_MS = TO_MS - DAY_MS
BEGAN_MS = TO_MS - 10 * DAY_MS
MILLION = 1_000_001
VIEW = View("production", TO_MS - 900_000, TO_MS, True, None, "")
PROVEN = (Statement(Grade.PROVEN, "So it was."),)


def copied(*, producer_id=None, epoch=None, audited=(), began_ms=BEGAN_MS, seen_ms=TO_MS - 1_000, place=None):
    """A million copies ten days ago and one today, by a producer that is not idempotent."""
    evidence = {"cause": "not_idempotent", "producer_id": producer_id, "producer_epoch": epoch}
    evidence |= {"audited": [list(one) for one in audited]} if audited else {}
    place = place or Place("c", "orders", "orders-id", 4)
    bounds = Bounds(MILLION, MILLION, MILLION, Unit.RECORDS)
    return Finding(Kind.DUPLICATE_WRITE, place, "not_idempotent", 3, "many", PROVEN, bounds, evidence, began_ms,
                   seen_ms)  # fmt: skip


def row(**columns):
    one = {"topic_id": "orders-id", "producer_id": -1, "producer_epoch": -1, "rate": 1.0}
    return group("not_idempotent", **one, seen=1, lower=1, estimate=1, upper=1) | columns


def audit(from_ms, to_ms):
    return row(from_ms=from_ms, to_ms=to_ms)


def narrowed(finding, *found, audits=(), read=(), from_ms=FROM_MS, to_ms=TO_MS):
    return copies_in_window.narrowed(finding, copies_in_window.copies(from_ms, to_ms, found, audits, read))


def counted(finding):
    return finding.bounds.lower, finding.bounds.estimate, finding.bounds.upper


def test_of_copies_of_ten_days_those_found_in_the_window_count():
    finding = narrowed(copied(), row(), row(partition=5, seen=7))

    assert counted(finding) == (1, 1, 1)
    assert finding.finding_id == copied().finding_id
    assert counted(narrowed(copied(producer_id=7, epoch=0), row(producer_id=7, producer_epoch=0))) == (1, 1, 1)


def test_copies_of_a_sample_keep_their_estimate_and_interval():
    assert counted(narrowed(copied(), row(rate=1 / 64, lower=15, estimate=128, upper=463))) == (15, 128, 463)


def test_a_finding_that_lies_in_the_window_counts_as_it_is_whoever_counted_it():
    inside = copied(began_ms=FROM_MS, seen_ms=TO_MS)

    assert narrowed(inside) is inside
    assert narrowed(inside, row()) is inside


@pytest.mark.parametrize("kind", [Kind.RESENT_BATCH, Kind.LOST_WRITE])
def test_findings_of_other_kinds_stay_as_they_are(kind):
    other = replace(copied(), kind=kind)

    assert narrowed(other) is other


def test_of_copies_that_are_stored_no_more_there_are_at_most_as_many_as_the_finding_counts():
    assert counted(narrowed(copied())) == (0, None, MILLION)
    assert counted(narrowed(copied(seen_ms=TO_MS + 1))) == (0, None, MILLION), "nor was the topic read"


def test_in_a_window_between_two_copies_there_is_none_where_the_topic_was_read():
    assert narrowed(copied(seen_ms=TO_MS + 1), read={"orders"}) is None


def test_copies_of_an_exact_audit_that_reaches_into_the_window_are_at_most_its_own():
    of_audit = copied(audited=[(0, 100)])

    assert counted(narrowed(of_audit, row(), audits=[audit(BEGAN_MS, FROM_MS + 1)])) == (1, None, MILLION)
    assert counted(narrowed(of_audit, audits=[audit(BEGAN_MS, FROM_MS + 1)])) == (0, None, MILLION)
    assert counted(narrowed(of_audit, row())) == (1, 1, 1), "an audit of an earlier time"
    assert counted(narrowed(copied(), row(), audits=[audit(BEGAN_MS, TO_MS)])) == (1, 1, 1), "made later"


# What the pages say of it.


def test_the_tile_of_duplicates_says_at_most_and_since_when_where_the_day_is_not_known():
    own, one = narrowed(copied()), replace(copied(producer_id=7), bounds=Bounds(5, 5, 5, Unit.RECORDS))

    tile = tiles.duplicates([concern(own), concern(one)], [], Reach(1, 1, "topic", ""), TO_MS)

    assert (tile.value, tile.note) == ("≤ 1 M", "5 to 1,000,006 · 2 findings · counted since 14 Nov 16:00")
    known = tiles.duplicates([concern(one)], [], Reach(1, 1, "topic", ""), TO_MS)
    assert (known.value, known.note) == ("5", "exact · 1 finding")


def test_where_every_finding_counts_of_the_window_alone_nothing_is_asked(monkeypatch):
    monkeypatch.setattr(record_evidence.cached, "between", None)
    inside = copied(began_ms=VIEW.from_ms)

    assert record_evidence.counted_in_window(VIEW, [inside]) == [inside]
    assert record_evidence.counted_in_last_day(VIEW, [concern(inside)]) == [concern(inside)]


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A believable store, of which a finding began ten days before it with a million copies."""
    path = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", TO_MS)
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(path))
    finding = copied(place=Place(CLUSTER_ID, ORDERS.name, ORDERS.topic_id, 5), seen_ms=TO_MS - 60_000)
    log = SegmentLog(tmp_path / "data", producer_name("host-3", "jobs"))
    append_events(log, [FindingEvent(Change.OPENED, TO_MS - 50_000, finding)])
    log.close()
    with MetricsWriter(tmp_path / "data" / METRICS_FILE) as writer, writer.transaction() as metrics:
        metrics.replace("duplicates", [_range(BEGAN_MS, MILLION - 1), _range(TO_MS - 60_000, 1)])
    return finding


def _range(at_ms, extra):
    return {
        "cluster_id": CLUSTER_ID, "topic": ORDERS.name, "topic_id": ORDERS.topic_id, "partition": 5,
        "first_offset": at_ms, "cause": "not_idempotent", "first_producer_id": -1, "producer_id": -1,
        "producer_epoch": -1, "sampled_extra_copies": extra, "lower": extra, "estimate": extra, "upper": extra,
        "sampling_rate": 1.0, "horizon_s": 60.0, "first_copy_offset": at_ms, "last_copy_offset": at_ms,
        "examples": "[]", "observed_at": at_ms,
    }  # fmt: skip


def test_tile_pipelines_and_topics_tell_the_copies_of_their_time_alone(stored):
    """Beside the 128 of the story."""
    tile = next(one for one in answers.overview_tiles(VIEW) if one.label == "Duplicates, 24 h")
    pipeline = next(one for one in pipeline_panel._rows(answers.standings(VIEW), VIEW) if one["Promise"])
    topic = next(one for one in audit_answers.topics(VIEW) if one.topic == ORDERS.name)

    assert (tile.value, tile.note.split(" · ")[0]) == ("129", "exact")
    assert pipeline["Duplicated"] == "129"
    assert audit_topics.topic_row(topic, VIEW)["Findings, 24 h"] == "129"


def test_a_window_after_the_newest_copy_has_none_of_them(stored):
    """Of the story's own finding, seen once more in that time, no range tells how many are of it."""
    later = replace(VIEW, from_ms=TO_MS - 30_000)

    assert pipeline_panel._rows(answers.standings(later), later)[0]["Duplicated"] == "at most 128"
