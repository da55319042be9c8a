"""Which findings are shown, and how: filters in the URL, and one row for the many findings of one event."""

from dataclasses import replace

import pytest

from dashboard import concerns, finding_filters, finding_groups, finding_rows
from dashboard.actions import Action, Doing, Handling
from dashboard.concerns import Concern
from dashboard.finding_filters import FILTERS
from dashboard.view import View
from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.lifecycle import FindingHistory
from guarantees.promises import Guarantee, Pipeline
from tests.dashboard import fixture_store, story_handling
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit as visit
from tests.dashboard.test_pages import words

END_MS = 1_764_000_000_000
MINUTE_MS = 60_000
VIEW = View("production", END_MS - 3_600_000, END_MS, True, None, "")
ORDERS = Pipeline("orders, to payments", "orders", "order-service", "payments", Guarantee.AT_LEAST_ONCE)
ADA = Handling(Action("a", END_MS, Doing.ACKNOWLEDGE, "f", "Ada"))


def concern(finding: Finding, handling: Handling | None = None) -> Concern:
    handled = {finding.finding_id: handling} if handling else {}
    judged = concerns.concerns([FindingHistory(finding, END_MS, END_MS)], [ORDERS])
    return concerns.with_handling(judged, handled)[0]


def story() -> list[Concern]:
    return [concern(finding) for finding in fixture_store.findings(END_MS)]


def rewind(partition: int, minute: float, minutes: float = 0.0, **changes) -> Concern:
    """A rewind that began at a minute and lasted so long."""
    at = END_MS - 3_600_000 + round(minute * MINUTE_MS)
    one = fixture_store.rewind(END_MS)
    place = replace(one.place, partition=partition)
    times = {"happened_at_ms": at, "last_seen_at_ms": at + round(minutes * MINUTE_MS)}
    return concern(replace(one, place=place, anchor=str(minute), **times, **changes))


def sizes(found):
    return [len(event.concerns) for event in finding_groups.events(found)]


# --- events ---


def test_findings_of_one_kind_topic_and_group_that_overlap_are_one_event():
    assert sizes([rewind(0, 0), rewind(1, 0.5), rewind(2, 1.4)]) == [3]
    assert sizes([rewind(0, 0, minutes=30), rewind(1, 20)]) == [2]


def test_a_pause_of_more_than_a_minute_begins_another_event():
    assert sizes([rewind(0, 0), rewind(1, 1.0)]) == [2]
    assert sizes([rewind(0, 0), rewind(1, 1.01)]) == [1, 1]
    # The long one covers the short one in between: what counts is the latest end so far.
    assert sizes([rewind(0, 0, minutes=10), rewind(1, 2), rewind(2, 9)]) == [3]


@pytest.mark.parametrize("change", ["kind", "topic", "group_id"])
def test_another_kind_topic_or_group_is_another_event(change):
    one = rewind(0, 0)
    other = replace(one.finding, anchor="other")
    if change == "kind":
        other = replace(other, kind=Kind.GROUP_STOPPED)
    else:
        other = replace(other, place=replace(other.place, **{change: "another"}))

    assert sizes([one, concern(other)]) == [1, 1]


def test_events_keep_the_order_of_their_worst_finding_and_lose_none():
    found = [rewind(0, 0), concern(fixture_store.lost(END_MS)), rewind(1, 0.2), rewind(2, 30)]

    events = finding_groups.events(found)

    assert [event.worst for event in events] == [found[0], found[1], found[3]]
    assert sorted(map(id, (one for event in events for one in event.concerns))) == sorted(map(id, found))
    assert finding_groups.events([]) == []


@pytest.mark.parametrize(
    ("bounds", "together"),
    [
        ([Bounds(1, 2, 3, Unit.RECORDS), Bounds(10, 20, 30, Unit.RECORDS)], Bounds(11, 22, 33, Unit.RECORDS)),
        ([Bounds(1, None, 3, Unit.RECORDS), Bounds(1, 1, None, Unit.RECORDS)], Bounds(2, None, None, Unit.RECORDS)),
        ([Bounds(1, 2, 3, Unit.RECORDS), Bounds(1, 2, 3, Unit.OFFSETS)], None),
        ([Bounds(1, 2, 3, Unit.SECONDS), Bounds(1, 2, 3, Unit.SECONDS)], None),
        ([Bounds(1, 2, 3, Unit.RECORDS), None], None),
        ([None, None], None),
        ([Bounds(1, 2, 3, Unit.SECONDS)], Bounds(1, 2, 3, Unit.SECONDS)),
    ],
)
def test_amounts_are_added_only_where_a_sum_means_something(bounds, together):
    assert finding_groups.added([rewind(number, 0, bounds=one) for number, one in enumerate(bounds)]) == together


def test_one_partition_is_never_counted_twice_in_a_sum():
    twice = [rewind(0, 0, bounds=Bounds(1, 1, 1, Unit.OFFSETS)), rewind(0, 0.5, bounds=Bounds(1, 1, 1, Unit.OFFSETS))]

    assert finding_groups.added(twice) is None


def test_an_event_is_one_mark_where_it_began():
    (mark,) = finding_groups.marks(finding_groups.events([rewind(0, 5), rewind(1, 4.5)]))

    assert mark.at_ms == VIEW.from_ms + round(4.5 * MINUTE_MS)
    assert mark.text.startswith("2 on orders of order-service: ")
    assert mark.size == 80


def test_a_row_of_an_event_says_what_is_not_the_same_for_all_as_a_share():
    closed = rewind(1, 0.2, closed_reason="over", statements=(Statement(Grade.POSSIBLE, "maybe"),))
    noticed = concern(rewind(2, 0.3).finding, ADA)
    (event,) = finding_groups.events([rewind(0, 0), closed, noticed])

    row = finding_rows.event_row(event, VIEW)

    assert (row["State"], row["Acknowledged"], row["Findings"]) == ("2 of 3", "1 of 3", 3)
    assert row["Grade"] == "PROVEN to POSSIBLE"
    alone = finding_rows.finding_row(noticed, VIEW)
    assert (alone["Acknowledged"], alone["State"], alone["Where"]) == ("☑ Ada", "open", "orders-2 · order-service")
    assert finding_rows.finding_row(closed, VIEW)["State"] == "closed"
    assert "Findings" not in alone


# --- filters ---


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ({}, 7),
        ({"kind": ["lost_write"]}, 1),
        ({"kind": ["lost_write", "rewind"]}, 2),
        ({"verdict": ["violated"]}, 1),
        ({"verdict": ["degraded"]}, 0),
        ({"verdict": ["information"]}, 6),
        ({"grade": ["POSSIBLE"]}, 1),
        ({"state": ["closed"]}, 0),
        ({"state": ["open"], "kind": ["rewind"]}, 1),
        ({"handling": ["acknowledged"]}, 0),
        ({"handling": ["unattended"]}, 7),
        ({"pipeline": ["orders, to payments"]}, 4),
        ({"pipeline": ["another"]}, 0),
    ],
)
def test_a_filter_keeps_the_findings_that_give_one_of_its_answers(asked, left):
    assert len(finding_filters.narrowed(story(), asked)) == left


def test_an_acknowledged_finding_is_found_as_such():
    both = [rewind(0, 0), concern(rewind(1, 0).finding, ADA)]

    assert finding_filters.narrowed(both, {"handling": ["acknowledged"]}) == [both[1]]
    assert finding_filters.narrowed(both, {"handling": ["unattended"]}) == [both[0]]


def test_a_url_gives_back_what_was_chosen_and_nonsense_is_dropped():
    names = ["orders, to payments", "100 % & more"]
    query = {"pipeline": finding_filters.in_url(names), "kind": "rewind,nonsense,rewind", "grade": "proven", "q": "x"}

    assert finding_filters.chosen(query) == {"pipeline": names, "kind": ["rewind"]}


def test_only_answers_that_findings_give_are_offered_and_those_chosen_stay():
    kind, pipeline = FILTERS[0], FILTERS[-1]

    assert finding_filters.options(kind, story()[:2], ["rewind"]) == ["duplicate_write", "lost_write", "rewind"]
    assert finding_filters.options(pipeline, story(), []) == ["orders, to payments"]


# --- the page ---


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """The story, 500 partitions that lost their leader together, and 250 other events."""
    folder = tmp_path_factory.mktemp("crowded")
    settings = fixture_store.write_settings(folder)
    end = now_ms()
    fixture_store.build(folder / "data", end, quiet_minutes=10)
    election = replace(fixture_store.lost(end), kind=Kind.UNCLEAN_ELECTION, title="An election took a stale replica")
    many = story_handling.spread(election, 500)
    alone = [
        replace(
            one, kind=Kind.AT_MIN_ISR, place=replace(one.place, topic=f"t{number}", topic_id=f"t{number}", partition=0)
        )
        for number, one in enumerate(story_handling.spread(election, 250))
    ]
    story_handling.store(folder / "data", [*many, *alone])
    return settings, many


def test_an_event_of_500_partitions_is_one_row_that_opens_to_its_findings(visit, crowded):
    settings, many = crowded
    app = visit(settings, "violations", kind="unclean_election", search="orders", finding=many[499].finding_id)

    assert "500 findings in 1 event" in words(app)
    events, findings = (table.value for table in app.dataframe[:2])
    assert list(events["Findings"]) == [500]
    assert events.loc[0, "How much"] == "500 records"
    assert len(findings) == 200
    assert "300 findings left out, those that matter least" in words(app)
    assert "An election took a stale replica" in words(app)


def test_thousands_of_findings_are_cut_with_a_sentence(visit, crowded):
    settings, _ = crowded
    app = visit(settings, "violations")

    assert len(app.dataframe[0].value) == 200
    assert "59 events left out, those that matter least. The search or a filter finds them." in words(app)


def test_filters_of_a_link_narrow_the_page_and_say_how_many_are_left(visit, believable):
    app = visit(believable, "violations", kind="rewind,lost_write", state="open")

    assert list(app.dataframe[0].value["What"]) == ["Lost records"]
    assert "1 of 8 findings shown" in words(app)
    assert [list(one.value) for one in app.multiselect[:3]] == [["rewind", "lost_write"], [], ["open"]]


def test_a_filter_that_is_chosen_is_in_the_url_and_cleared_from_it(visit, believable):
    app = visit(believable, "violations")

    app.multiselect(key="filter-grade").set_value(["POSSIBLE"]).run()
    assert app.query_params["grade"] == "POSSIBLE"
    assert list(app.run().dataframe[0].value["What"]) == ["Possible re-delivery"]

    app.multiselect(key="filter-grade").set_value([]).run()
    assert "grade" not in app.query_params
    assert len(app.run().dataframe[0].value) == 8


def test_filters_that_leave_nothing_say_so(visit, believable):
    said = words(visit(believable, "violations", kind="torn_transaction"))

    assert "clear search and filters" in said
    assert "0 of 8 findings shown" in said
