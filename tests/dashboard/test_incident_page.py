"""The page of an incident in its states: told, unknown, expired, huge, hostile; and what people do about it."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dashboard import action_log, incident_places
from dashboard.components import acting, toolbar
from dashboard.view import format_time
from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.incidents import identity
from guarantees.lifecycle import Change, FindingEvent
from store.findings import append_events
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store, story_cut_log, story_handling
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import UNESCAPED, cells, words
from tests.dashboard.test_pages import visit as visit
from tests.dashboard.test_rebalances_read import happened

PIPELINE = "orders-to-payments"
REDELIVERY = fixture_store.redelivery(10**12)  # the earliest of the findings that belong together in the store
INCIDENT = identity(PIPELINE, REDELIVERY)


BARE = Finding(
    Kind.GROUP_STOPPED, replace(fixture_store.rewind(10**12).place, partition=None), "bare", 2, "order-service stopped",
    (Statement(Grade.NOT_OBSERVABLE, "Why it stopped cannot be seen."),), None, {}, now_ms() - 840_000, now_ms(),
)  # fmt: skip
STRANGE = replace(
    story_cut_log.truncated(now_ms()), title=fixture_store.HOSTILE,
    place=replace(BARE.place, topic=fixture_store.HOSTILE, topic_id="zz9xWv7uTs5rQp3oNm1lKj", partition=0),
)  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> tuple[Path, int]:
    """Settings of a store with the story and two findings beside it, and the moment it ends. Nobody writes to it."""
    folder, end = tmp_path_factory.mktemp("told"), now_ms()
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", end, quiet_minutes=10)
    story_handling.store(folder / "data", [*story_cut_log.findings(end), BARE, STRANGE])
    return settings, end


@pytest.fixture
def own(told, tmp_path) -> Iterator[tuple[Path, int]]:
    """A copy of it to write to."""
    shutil.copytree(told[0].parent, tmp_path, dirs_exist_ok=True)
    yield tmp_path / told[0].name, told[1]
    acting._log.clear()


def opened(visit, store: tuple[Path, int], page: str = "incident", **query: str):
    """A page in a window that stands still, so that all tests share its answers."""
    settings, end = store
    window = {"from": format_time(end - 15 * 60_000), "to": format_time(end)}
    return visit(settings, page, **(window | query))


def held(app) -> dict[str, str]:
    """What held at the cursor, as a person reads it."""
    table = next(one.value for one in app.table if "Leader" in one.value.to_string())
    return {name.replace("\\", ""): text.replace("\\", "") for name, text in table.itertuples(index=False)}


def test_the_story_is_told_with_its_chain_its_amounts_and_whom_it_touched(visit, told):
    app = opened(visit, told, incident=INCIDENT)

    said = words(app).replace("\\", "")
    assert "could not be drawn" not in said
    assert "**Lost:** 120 offsets" in said
    assert "**Re-delivered:** 40 (0 to 40) offsets" in said
    assert "7 of its 7 findings still last" in said
    order = ["orders-2 moved", "Broker 1 became leader of orders-0", "was cut by 120", "beyond the end", "went back on"]
    chain = said[said.index("**Cause chain**") :]
    assert [chain.index(one) for one in order] == sorted(chain.index(one) for one in order)
    assert ":gray[Cause not observed.]" in chain
    assert "The commit 9,007,199,254,747,193 was within the log until it was cut" in chain
    assert "2 consumers and 1 downstream topic are touched" in said
    assert str(story_cut_log.OLD_END - 1) in cells(app)
    assert "the cause of 1 of 7 findings: nothing that was observed explains it" in said
    assert "6 of 108 answers" in said  # what may not be read is said beside the figure


def test_the_cursor_is_in_the_link_and_says_what_held_then(visit, told):
    before, after = (story_cut_log.elected_at(told[1]) + seconds * 1000 for seconds in (-20, 20))

    then = held(opened(visit, told, incident=INCIDENT, at=format_time(before), partition="orders-0"))
    later = opened(visit, told, incident=INCIDENT, at=format_time(after), partition="orders-0")

    assert then["Leader"].startswith("broker 2, epoch 2")
    assert held(later)["Leader"].startswith("broker 1, epoch 3")
    assert held(later)["Owner in order-service"].startswith("Owned by order-service ·0-11aa")
    assert "9007199254" in held(later)["Commit of order-service"]
    (cursor,) = later.slider
    assert (cursor.value.minute, cursor.value.second) == (after // 60_000 % 60, after // 1000 % 60)


def test_the_cursor_moves_from_event_to_event_and_the_link_with_it(visit, told):
    app = opened(visit, told, incident=INCIDENT)
    (first,) = app.query_params.get("at", [""])

    app.button(key="cursor-arrow_forward").click().run()

    assert not app.exception
    assert app.query_params["at"] != [first]
    assert "What held at" in words(app)


@pytest.mark.parametrize(
    ("at", "said"),
    [("yesterday", "The link names no time that can be read"), ("2026-01-01T00:00:00Z", "lies outside the window")],
)
def test_a_moment_that_cannot_be_shown_is_said(visit, told, at, said):
    assert said in words(opened(visit, told, incident=INCIDENT, at=at))


@pytest.fixture(scope="module")
def of_before(tmp_path_factory) -> tuple[Path, str]:
    """Settings of a store whose story was more than an hour ago while rounds go on, and a link to its incident."""
    folder, story_ms = tmp_path_factory.mktemp("of-before"), now_ms() - 70 * 60_000
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", story_ms, quiet_minutes=80)
    story_handling.store(folder / "data", story_cut_log.findings(story_ms))
    return settings, story_cut_log.rewind(story_ms).finding_id


def shows_all_of_it(app) -> bool:
    said = words(app)
    is_frozen = "Frozen window" in said
    assert is_frozen == ("from" in app.query_params), "the screen and the address do not agree"
    assert is_frozen != ("does not hold all of it" in said)
    return is_frozen and "lies outside the window" not in said


@pytest.mark.parametrize("window", [{}, {"refresh": "Off"}])
def test_a_link_without_a_window_opens_in_one_that_holds_the_incident_and_only_once(visit, of_before, window):
    settings, finding_id = of_before
    app = visit(settings, "incident", finding=finding_id, **window)
    assert shows_all_of_it(app)

    time.sleep(toolbar.UNDERWAY_MS / 1000)
    for name in ("from", "to"):  # as Back does
        del app.query_params[name]
    app.run()
    assert not shows_all_of_it(app), "Back leads to the live window"

    app.button(key="incident-leave").click().run()
    app.query_params["finding"] = finding_id
    app.run()
    assert not shows_all_of_it(app), "a window the reader chose stays"


def test_a_link_that_names_a_window_keeps_it_whether_or_not_it_holds_the_incident(visit, of_before):
    settings, finding_id = of_before
    now = now_ms()
    for window in ({"range": "1h"}, {"from": format_time(now - 60_000), "to": format_time(now)}):
        app = visit(settings, "incident", finding=finding_id, **window)
        assert ("Frozen window" in words(app)) == ("from" in window)
        assert "does not hold all of it" in words(app)


def test_an_incident_that_still_lasts_opens_live_although_it_began_before_the_window(visit, tmp_path):
    """Its newest evidence is of now: who stops the refresh in the middle of it sees nothing of what comes."""
    settings, now = fixture_store.write_settings(tmp_path), now_ms()
    fixture_store.build(tmp_path / "data", now)
    lasting = replace(
        fixture_store.rewind(now), place=replace(fixture_store.rewind(now).place, partition=7), evidence={},
        happened_at_ms=now - 20 * fixture_store.MINUTE_MS, last_seen_at_ms=now, closed_reason=None,
    )  # fmt: skip
    happened(tmp_path, lasting)

    app = visit(settings, "incident", finding=lasting.finding_id)

    assert "Frozen window" not in words(app)
    assert "Show all of its time" in [button.label for button in app.button]


@pytest.mark.parametrize("page", ["incident", "reports"])
def test_incidents_of_a_time_of_which_no_round_is_kept_are_listed_and_none_is_denied(visit, tmp_path, page):
    settings, then = fixture_store.write_settings(tmp_path), now_ms() - 40 * 86_400_000
    fixture_store.build(tmp_path / "data", now_ms())
    happened(tmp_path, replace(fixture_store.rewind(then), anchor="long ago"))
    around = {"from": format_time(then - 900_000), "to": format_time(then + 900_000)}
    before = {"from": format_time(then - 1_800_000), "to": format_time(then - 900_000)}

    assert [one for one in visit(settings, page, **around).dataframe if one.proto.alt.startswith("Incidents")]
    assert "No answer of this cluster is stored" in words(visit(settings, page, **before))


def test_a_live_window_that_holds_the_incident_stays_live(visit, tmp_path):
    settings, story_ms = fixture_store.write_settings(tmp_path), now_ms()
    fixture_store.build(tmp_path / "data", story_ms, quiet_minutes=10)

    app = visit(settings, "incident", finding=fixture_store.rewind(story_ms).finding_id)

    assert "Frozen window" not in words(app)
    assert "What held at" in words(app)


def test_a_finding_leads_to_its_incident(visit, told):
    app = opened(visit, told, finding=story_cut_log.rewind(told[1]).finding_id)

    assert "A member of order\\-service left and orders\\-2 moved, and 6 more findings" in words(app)


def test_beside_the_verdict_stands_the_grade_and_the_name_of_the_finding_that_makes_it(visit, told):
    said = words(opened(visit, told, incident=INCIDENT)).replace("\\", "")

    assert ":red-badge[✕ Violated] :blue-badge[PROVEN] The log of orders-0 was cut by 120 offsets" in said
    assert ":gray-badge[POSSIBLE] **A member of order-service left and orders-2 moved**" in said
    alone = words(opened(visit, told, finding=BARE.finding_id))
    assert ":orange-badge[▲ Degraded] :gray-badge[NOT OBSERVABLE] :gray-badge[not looked after]" in alone


def test_the_list_says_when_what_it_began_with_how_much_and_how_sure(visit, told):
    app = opened(visit, told)

    (row,) = app.dataframe[0].value.query("Findings == 7").to_dict("records")
    assert (row["Verdict"], row["Began with"], row["State"]) == ("✕ Violated", "Possible re-delivery", "open")
    assert "lost 120 offsets; re-delivered 40 (0 to 40) offsets; duplicated 145 records" in row["Size"]
    assert (row["Grade"], row["Pipeline or topic"]) == ("PROVEN", PIPELINE)
    assert "shipments (no pipeline)" in cells(app)


@pytest.mark.parametrize("name", ["0123456789abcdef", "", fixture_store.HOSTILE])
def test_an_unknown_incident_is_said_with_a_way_back(visit, told, name):
    app = opened(visit, told, incident=name)

    assert "No incident of this name, and none with this finding, is known" in words(app)
    assert not app.get("plotly_chart")


def test_where_the_samples_have_expired_the_findings_still_tell(visit, own):
    settings, end = own
    shutil.rmtree(settings.parent / "data" / "raw")

    app = opened(visit, own, incident=INCIDENT)

    said = words(app).replace("\\", "")
    assert "**Lost:** 120 offsets" in said
    assert "Without samples: lag, not replicated, held, elections, ISR below min, rebalances, transactions. " in said
    assert "Samples of this time have expired; the findings below keep their own evidence" in said
    assert "everything but the findings: the samples of this time have expired" in said
    assert held(app)["Leader"].startswith("unknown")
    assert "9007199254" not in held(app)["High watermark"]


def test_an_event_of_five_hundred_partitions_is_told_with_counts(visit, own):
    settings, end = own
    many = [one for one in story_cut_log.on_many(end, 501) if one.place.partition != 0]
    story_handling.store(settings.parent / "data", many)

    app = opened(visit, own, incident=INCIDENT)

    said = words(app).replace("\\", "")
    assert "and 1,006 more findings" in said
    assert "**Lost:** 60,120 offsets" in said
    assert "and 500 more findings of this kind on 501 partitions" in said
    assert f"{incident_places.MOST} of 502 partitions are read for the figure" in said
    assert all(len(one.value) <= 100 for one in app.dataframe)
    assert "left out" in said


def test_an_incident_of_which_nothing_is_known_is_told_without_a_number(visit, told):
    app = opened(visit, told, finding=BARE.finding_id)

    said = words(app)
    assert "could not be drawn" not in said
    assert "The findings of this incident name no partition" in said
    assert ":gray-badge[NOT OBSERVABLE]" in said
    assert "None of its findings says that records were lost" in said
    assert "- Why it stopped cannot be seen" in said


def test_hostile_names_are_text(visit, told):
    app, listed = opened(visit, told, finding=STRANGE.finding_id), opened(visit, told)

    for one in (app, listed):
        assert "could not be drawn" not in words(one)
        assert not [m.value for m in one.markdown if UNESCAPED.search(m.value) or m.allow_html]
        assert "\u202e" not in words(one) + cells(one)
    figure = app.get("plotly_chart")[0].proto.spec
    assert "<img" not in figure.replace("\\u003c", "<")


def submit(app, label, who="Ada", note=""):
    app.text_input(key="operator").set_value(who)
    next(area for area in app.text_area if area.label == "Note").set_value(note)
    return next(button for button in app.button if button.label == label).click().run()


def test_what_people_made_of_it_is_kept_with_who_and_when_and_closing_hides_nothing(visit, own):
    settings, _ = own
    app = opened(visit, own, incident=INCIDENT)
    assert "not looked after" in words(app)

    refused = submit(app, "Explained")
    assert "Write the explanation first" in refused.error[0].value
    explained = submit(refused, "Explained", note="the rack lost power")
    closed = submit(explained.run(), "Close", "Grace").run()

    said = words(closed).replace("\\", "")
    assert "**Ada** explained  \nthe rack lost power" in said
    assert "Closed by **Grace** at 20" in said
    assert "7 findings still last: closing hides nothing" in said
    assert "Close" not in [button.label for button in closed.button]
    listed = opened(visit, own).dataframe[0].value.query("Findings == 7").iloc[0]
    assert (listed["Handling"], listed["State"]) == ("▣ closed", "open")
    stored = [row for row in action_log.load(settings.parent / "data") if row["incident_id"]]
    assert [(row["action"], row["incident_id"], row["finding_id"]) for row in stored] == [
        ("explain", INCIDENT, None), ("close", INCIDENT, None),
    ]  # fmt: skip


def test_a_note_stays_with_its_incident_when_an_earlier_finding_joins(visit, own):
    """The earlier cause gives the incident another identity: the old link, the note and the state still lead to it."""
    settings, end = own
    submit(opened(visit, own, incident=INCIDENT), "Acknowledge", note="I look into it")
    began_ms = fixture_store.redelivery(end).happened_at_ms - 30_000
    earlier = replace(story_cut_log.unclean(end, 5), happened_at_ms=began_ms, title="An earlier election was found")
    between = replace(story_cut_log.unclean(end, 4), happened_at_ms=began_ms + 55_000)
    log = SegmentLog(settings.parent / "data", producer_name("host-3", "collect"))
    append_events(log, [FindingEvent(Change.OPENED, now_ms(), one) for one in (earlier, between)])
    log.close()

    app = opened(visit, own, incident=INCIDENT)

    said = words(app).replace("\\", "")
    assert "#### An earlier election was found, and 8 more findings" in said
    assert "**Ada** acknowledged  \nI look into it" in said
    assert "☑ acknowledged by a person" in said
    assert "2 findings joined it after that was said" in said
    assert identity(PIPELINE, earlier) != INCIDENT


def test_evidence_and_overview_lead_to_the_incident(visit, told):
    lost = story_cut_log.truncated(told[1]).finding_id

    for page in ("overview", "violations"):
        app = opened(visit, told, page, finding=lost)
        links = [one.proto for one in app.get("page_link")]
        assert any("Incident" in one.label or "incident" in one.label for one in links)
