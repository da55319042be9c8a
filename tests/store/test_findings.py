import pytest

from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.lifecycle import Change, FindingEvent, fold
from store.findings import append_events, load_events, load_findings
from store.log import SegmentLog
from tests.store.builders import HOUR, T0

PROVEN = Statement(Grade.PROVEN, "the commit fell from 90 to 40")
PROBABLE = Statement(Grade.PROBABLE, "50 records are read again", "the group did not skip them")


def finding(**columns):
    given = {
        "kind": Kind.REWIND,
        "place": Place("c", "orders", "id", 3, "payments"),
        "anchor": "90",
        "severity": 3,
        "title": "payments went back",
        "statements": (PROVEN, PROBABLE),
        "bounds": Bounds(0, 50, None, Unit.OFFSETS),
        "evidence": {"from": 90, "to": 40, "members": ["é", None], "nested": {"a": 1.5}},
        "happened_at_ms": T0,
        "last_seen_at_ms": T0 + 5,
        "pipeline": "orders",
    }
    return Finding(**{**given, **columns})


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h_collect")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"bounds": None, "pipeline": None},
        {"bounds": Bounds(1, None, 7, Unit.SECONDS), "closed_reason": "the group caught up"},
        {"place": Place("c"), "statements": (PROVEN,), "evidence": {}},
    ],
)
def test_an_event_comes_back_as_it_was_written(tmp_path, log, columns):
    event = FindingEvent(Change.OPENED, T0 + 7, finding(**columns))
    append_events(log, [event])

    assert load_events(tmp_path) == [event]


def test_no_events_make_no_segment(log):
    assert append_events(log, []) is None


def test_a_finding_is_the_fold_of_its_events_over_months_and_writers(tmp_path, log):
    other = SegmentLog(tmp_path, "h_jobs")
    opened = FindingEvent(Change.OPENED, T0, finding())
    closed = FindingEvent(Change.CLOSED, T0 + 800 * HOUR, finding(closed_reason="the group caught up"))
    append_events(other, [closed])
    append_events(log, [opened])
    other.close()

    assert load_events(tmp_path) == [opened, closed]
    assert load_findings(tmp_path) == fold([opened, closed])
    assert load_findings(tmp_path)[finding().finding_id].finding.closed_reason == "the group caught up"


def test_without_any_event_there_is_no_finding(tmp_path):
    assert load_findings(tmp_path) == {}
