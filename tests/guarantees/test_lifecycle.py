from dataclasses import replace
from itertools import permutations

import pytest

from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.lifecycle import Change, FindingEvent, changes, fold

FINDING = Finding(
    kind=Kind.REWIND,
    place=Place("c", "orders", "t", 0, "g"),
    anchor="5->3",
    severity=3,
    title="rewind",
    statements=(Statement(Grade.PROVEN, "it fell"),),
    bounds=Bounds(0, 100, 100, Unit.OFFSETS),
    evidence={},
    happened_at_ms=1000,
    last_seen_at_ms=1000,
)
KEY = FINDING.finding_id


def known(finding=FINDING, at_ms=1000):
    return fold([FindingEvent(Change.OPENED, at_ms, finding)])


def later(**changed):
    return replace(FINDING, last_seen_at_ms=2000, **changed)


def sequence(before, found, now_ms=2000):
    return [event.change for event in changes(before, found, now_ms)]


def test_a_new_finding_opens():
    assert changes({}, [FINDING], 1500) == [FindingEvent(Change.OPENED, 1500, FINDING)]


def test_a_finding_that_comes_already_closed_opens_and_closes():
    closed = later(closed_reason="recovered")
    opened, ended = changes({}, [closed], 1500)

    assert (opened.change, opened.finding.closed_reason) == (Change.OPENED, None)
    assert (ended.change, ended.finding) == (Change.CLOSED, closed)


def test_what_is_not_found_stays_as_it_is():
    assert changes(known(), [], 10**9) == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (FINDING, []),
        (later(), []),
        (later(severity=1), [Change.UPDATED]),
        (replace(FINDING, severity=1), [Change.UPDATED]),
        (later(statements=(Statement(Grade.POSSIBLE, "it fell"),)), [Change.UPDATED]),
        (later(statements=(Statement(Grade.PROVEN, "it fell far"),)), []),
        (later(bounds=Bounds(0, 100, 110, Unit.OFFSETS)), []),
        (later(bounds=Bounds(0, 100, 111, Unit.OFFSETS)), [Change.UPDATED]),
        (later(bounds=Bounds(1, 100, 100, Unit.OFFSETS)), [Change.UPDATED]),
        (later(bounds=Bounds(0, 100, None, Unit.OFFSETS)), [Change.UPDATED]),
        (later(bounds=None), [Change.UPDATED]),
        (later(closed_reason="recovered"), [Change.CLOSED]),
        (replace(FINDING, last_seen_at_ms=999, severity=1), []),
    ],
)
def test_news_is_an_event_and_creeping_figures_wait(found, expected):
    assert sequence(known(), [found]) == expected


@pytest.mark.parametrize(("now_ms", "expected"), [(60_999, []), (61_000, [Change.UPDATED])])
def test_a_bare_newer_sight_is_written_once_a_minute(now_ms, expected):
    assert sequence(known(), [later()], now_ms) == expected


def test_a_closed_finding_stays_closed_and_silent():
    closed = later(closed_reason="recovered")

    assert sequence(known(closed), [closed], 10**9) == []
    assert sequence(known(closed), [FINDING], 10**9) == []


def test_news_of_a_closed_finding_closes_it_again():
    known_closed = known(later(closed_reason="recovered"))

    assert sequence(known_closed, [later(closed_reason="recovered", severity=1)]) == [Change.CLOSED]
    assert sequence(known_closed, [later(closed_reason="gone")]) == [Change.CLOSED]


def test_newer_evidence_opens_a_closed_finding_again():
    again = replace(FINDING, last_seen_at_ms=3000)

    assert sequence(known(later(closed_reason="recovered")), [again]) == [Change.OPENED]


LIFE = [
    FindingEvent(Change.OPENED, 1000, FINDING),
    FindingEvent(Change.UPDATED, 2000, later(severity=1)),
    FindingEvent(Change.CLOSED, 2000, later(severity=1, closed_reason="recovered")),
]


@pytest.mark.parametrize("events", list(permutations(LIFE)))
def test_a_fold_takes_events_in_any_order_and_more_than_once(events):
    history = fold([*events, *events])[KEY]

    assert (history.opened_at_ms, history.updated_at_ms) == (1000, 2000)
    assert history.finding.closed_reason == "recovered"


def test_of_two_events_of_one_time_and_kind_the_newer_evidence_stands():
    newer = FindingEvent(Change.UPDATED, 2000, replace(LIFE[1].finding, last_seen_at_ms=2500))

    assert [fold(pair)[KEY].finding for pair in permutations((LIFE[1], newer))] == [newer.finding] * 2


def test_a_fold_goes_on_from_what_is_known():
    assert fold(LIFE[1:], fold(LIFE[:1])) == fold(LIFE)


def test_changes_folded_in_are_no_changes_any_more():
    before = known()
    events = changes(before, [later(severity=1)], 2000)

    assert events
    assert changes(fold(events, before), [later(severity=1)], 2000) == []
