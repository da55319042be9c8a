"""What people do about findings: checks, the fold, the log they are kept in, and the page that shows and adds them."""

import random
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard import action_log, actions, view
from dashboard.action_log import NotWritableError
from dashboard.actions import NOTE_LIMIT, UNTOUCHED, WHO_LIMIT, Action, Attention, Doing
from dashboard.components import acting
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit as visit
from tests.dashboard.test_pages import words

AT_MS = 1_764_000_000_000


def action(number: int, doing: Doing = Doing.NOTE, finding_id: str = "f", who: str = "Ada", note: str | None = "seen"):
    return Action(f"a{number}", AT_MS + number, doing, finding_id, who, note)


def rows(*done: Action):
    return [actions.row(one) for one in done]


@pytest.mark.parametrize(
    ("doing", "who", "note", "said"),
    [
        (Doing.ACKNOWLEDGE, "Ada", "", None),
        (Doing.NOTE, "Ada", "the disk was full", None),
        (Doing.NOTE, "Ada", " \n ", "Write the note first."),
        (Doing.ACKNOWLEDGE, "  ", "", "Enter your name"),
        (Doing.NOTE, "", "text", "Enter your name"),
        (Doing.EXPLAIN, "Ada", " ", "Write the explanation first"),
        (Doing.CLOSE, "Ada", "", None),
        (Doing.ACKNOWLEDGE, "x" * WHO_LIMIT, "", None),
        (Doing.ACKNOWLEDGE, "x" * (WHO_LIMIT + 1), "", "Too long"),
        (Doing.NOTE, "Ada", "x" * NOTE_LIMIT, None),
        (Doing.NOTE, "Ada", "x" * (NOTE_LIMIT + 1), "Too long"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_a_sentence(doing, who, note, said):
    refused = actions.refusal(doing, who, note)

    assert refused is None if said is None else refused is not None and refused.startswith(said)


def test_the_first_acknowledgement_counts_and_nothing_removes_it():
    done = [
        action(1),
        action(2, Doing.ACKNOWLEDGE, note=None),
        action(3, Doing.ACKNOWLEDGE, who="Grace"),
        action(4, finding_id="other"),
    ]

    handled = actions.handled(rows(*done))

    assert handled["f"].acknowledged == done[1]
    assert handled["f"].actions == tuple(done[:3])
    assert handled["other"].acknowledged is None
    assert "unknown" not in handled


def test_actions_fold_to_the_same_in_any_order_and_however_often_they_are_read():
    done = rows(*(action(number, Doing.ACKNOWLEDGE if number == 3 else Doing.NOTE) for number in range(6)))
    shuffled = done * 2
    random.Random(7).shuffle(shuffled)

    assert actions.handled(shuffled) == actions.handled(done)
    assert len(actions.handled(shuffled)["f"].actions) == 6


def on_incident(number: int, doing: Doing, incident_id: str = "i"):
    return Action(f"a{number}", AT_MS + number, doing, None, "Ada", "seen", incident_id)


@pytest.mark.parametrize(
    ("done", "state"),
    [
        ([], Attention.OPEN),
        ([Doing.NOTE], Attention.OPEN),
        ([Doing.ACKNOWLEDGE, Doing.NOTE], Attention.ACKNOWLEDGED),
        ([Doing.ACKNOWLEDGE, Doing.EXPLAIN], Attention.EXPLAINED),
        ([Doing.EXPLAIN, Doing.CLOSE, Doing.NOTE], Attention.CLOSED),
        ([Doing.CLOSE, Doing.REOPEN], Attention.OPEN),
        ([Doing.CLOSE, Doing.ACKNOWLEDGE], Attention.ACKNOWLEDGED),
    ],
)
def test_an_incident_stands_where_the_last_action_that_is_no_note_left_it(done, state):
    told = actions.of_incidents(rows(*(on_incident(number, doing) for number, doing in enumerate(done))))

    handling = actions.incident_handling({"i"}, told)

    assert handling.state is state
    assert len(handling.actions) == len(done)


def test_what_was_said_under_every_name_of_an_incident_is_told_in_order_and_findings_keep_their_own():
    done = [on_incident(3, Doing.CLOSE, "later"), on_incident(1, Doing.NOTE, "first"), on_incident(2, Doing.CLOSE, "x")]
    of_finding = action(4)

    stored = rows(*done, of_finding)
    handling = actions.incident_handling({"first", "later"}, actions.of_incidents(stored))

    assert [one.action_id for one in handling.actions] == ["a1", "a3"]
    assert handling.by is not None
    assert handling.by.incident_id == "later"
    assert set(actions.handled(stored)) == {"f"}


def test_an_audit_is_no_handling_of_a_finding():
    asked = {**actions.row(action(1)), "action": "audit"}
    about_nothing = {**actions.row(action(2)), "finding_id": None}

    assert actions.handled([asked, about_nothing]) == {}
    assert UNTOUCHED.acknowledged is None


def test_a_stored_action_is_read_back_with_its_time_and_its_text(tmp_path):
    log = action_log.open_log(tmp_path, "host")
    action_log.append(log, action(1, who=fixture_store.HOSTILE[:WHO_LIMIT], note="two\nlines"))
    log.close()

    handled = actions.handled(action_log.load(tmp_path))["f"]

    (stored,) = handled.actions
    assert (stored.who, stored.note) == (fixture_store.HOSTILE[:WHO_LIMIT], "two\nlines")
    assert stored.at_ms > AT_MS  # the moment it was written, not what the caller says
    assert stored.action_id == "a1"


def test_a_second_page_on_the_same_data_writes_under_a_name_of_its_own(tmp_path):
    first, second = (action_log.open_log(tmp_path, "host") for _ in range(2))

    assert first.producer == producer_name("host", "dashboard")
    assert second.producer != first.producer
    for number, log in enumerate((first, second)):
        action_log.append(log, action(number))
        log.close()
    assert len(action_log.load(tmp_path)) == 2


def test_too_many_pages_are_refused_with_a_sentence(tmp_path):
    logs = [action_log.open_log(tmp_path, "host") for _ in range(action_log.PAGES)]

    with pytest.raises(NotWritableError, match="close one of them"):
        action_log.open_log(tmp_path, "host")
    for log in logs:
        log.close()


def test_a_data_directory_that_cannot_be_written_is_said_and_not_a_crash(tmp_path):
    (tmp_path / "data").write_text("a file where the directory should be")

    with pytest.raises(NotWritableError, match=r"cannot be written \(.+\)\. Nothing was stored"):
        action_log.open_log(tmp_path / "data", "host")


def test_a_disk_that_refuses_an_action_is_said_and_not_a_crash(tmp_path: Path):
    log: SegmentLog = action_log.open_log(tmp_path, "host")
    (tmp_path / "log").write_text("a file where the folder should be")

    with pytest.raises(NotWritableError, match="Nothing was stored"):
        action_log.append(log, action(1))
    log.close()


@pytest.fixture
def settings(tmp_path) -> Iterator[Path]:
    path = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", now_ms(), quiet_minutes=5)
    yield path
    acting._log.clear()


LOST = fixture_store.lost(10**12).finding_id
REWIND = fixture_store.rewind(10**12).finding_id


def submit(app, label, who, note=""):
    app.text_input(key="operator").set_value(who)
    next(area for area in app.text_area if area.label == "Note").set_value(note)
    return next(button for button in app.button if button.label == label).click().run()


def test_an_acknowledgement_is_kept_shown_to_everybody_and_survives_a_restart(visit, settings):
    mine = submit(visit(settings, "violations", finding=LOST), "Acknowledge", "Ada")
    assert not mine.exception
    assert "Acknowledged] by **Ada** at 20" in words(mine.run())

    acting._log.clear()  # the process ends
    theirs = visit(settings, "violations", finding=LOST)
    assert "Acknowledged] by **Ada** at 20" in words(theirs)
    table = theirs.dataframe[0].value.set_index("What")
    assert table.loc["Lost records", "Acknowledged"] == "☑ Ada"
    assert table.loc["Duplicate records", "Acknowledged"] == "–"
    assert table.loc["Lost records", "State"] == "open"

    again = submit(theirs, "Add note", "Grace", "the sink's disk was full")
    assert "**Grace** noted  \nthe sink\\'s disk was full" in words(again.run())


def test_an_open_session_sees_what_another_did_at_its_next_refresh(visit, settings):
    theirs, mine = (visit(settings, "violations", finding=LOST) for _ in range(2))
    assert "Nobody has acknowledged" in words(theirs)

    submit(mine, "Add note", "Ada", "I look into it")

    assert "**Ada** noted  \nI look into it" in words(theirs.run())


def test_a_note_is_seen_in_a_window_that_ended_before_it(visit, settings):
    past = {"from": view.format_time(now_ms() - 600_000), "to": view.format_time(now_ms() - 30_000)}

    app = submit(visit(settings, "violations", finding=LOST, **past), "Add note", "Ada", "afterwards")

    assert "**Ada** noted  \nafterwards" in words(app.run())


@pytest.mark.parametrize(
    ("label", "who", "note", "said"),
    [("Add note", "Ada", "", "Write the note first"), ("Acknowledge", "", "why", "Enter your name")],
)
def test_an_incomplete_form_says_what_is_missing_and_stores_nothing(visit, settings, label, who, note, said):
    app = submit(visit(settings, "violations", finding=LOST), label, who, note)

    assert said in app.error[0].value
    assert len(action_log.load(settings.parent / "data")) == 3  # those of the story
    assert next(area for area in app.text_area if area.label == "Note").value == note


def test_a_page_that_cannot_write_says_so_and_stays_readable(visit, settings):
    lock = settings.parent / "data" / f"{producer_name(socket.gethostname(), 'dashboard')}.lock"
    lock.mkdir()

    app = submit(visit(settings, "violations", finding=LOST), "Acknowledge", "Ada")

    assert "Nothing was stored; reading goes on" in app.error[0].value.replace("\\", "")
    assert "41 message ids of orders\\-2 never reached payments" in words(app)
    assert "could not be drawn" not in words(app)


def test_notes_are_shown_in_order_and_as_text(visit, settings):
    said = words(visit(settings, "violations", finding=REWIND))

    lines = ["acknowledged", "noted  \nDeployed 4\\.2, which seeks back on start\\.", "\\<img src\\=x"]
    assert [said.index(line) for line in lines] == sorted(said.index(line) for line in lines)
    assert "\\# \\<b\\>not a heading\\</b\\>  \n\\- nor a list" in said
    assert "\u202e" not in said


def test_the_overview_puts_what_somebody_looks_after_last_and_marks_it(visit, settings):
    before = [m.value for m in visit(settings, "overview").markdown if "since" in m.value and "badge" in m.value]
    assert "41 message ids" in before[0]

    submit(visit(settings, "violations", finding=LOST), "Acknowledge", "Ada")

    after = [m.value for m in visit(settings, "overview").markdown if "since" in m.value and "badge" in m.value]
    assert len(after) == len(before) > 1
    assert "41 message ids" in after[-1]
    assert [":blue-badge[☑ Acknowledged]" in line for line in after] == [False] * (len(after) - 1) + [True]
