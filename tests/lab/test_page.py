"""The page of the lab, over the directory of a lab that runs, and one that has ended."""

import json
import os

import pytest
from streamlit.testing.v1 import AppTest

from lab import menu
from lab.demo import lab_page
from lab.faults.catalogue import INJECTABLE, NOT_IN_A_RUNNING_LAB
from lab.paths import LabPaths
from lab.requests import State, all_requests, finished, next_waiting, post, taken_up
from lab.watch import settings_text
from tests.dashboard.conftest import ROOT


@pytest.fixture
def paths(tmp_path, monkeypatch):
    found = LabPaths(tmp_path)
    found.create()
    (tmp_path / "tidemark.toml").write_text(settings_text("127.0.0.1:1", 8501, (lab_page(),)))
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(tmp_path / "tidemark.toml"))
    found.running.write_text(json.dumps({"pid": os.getpid(), "bootstrap": "127.0.0.1:1"}))
    return found


@pytest.fixture
def page(paths):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).switch_page("lab/page.py").run()
    assert not app.exception
    return app


def said(app):
    return "\n".join(each.value for each in (*app.markdown, *app.caption, *app.info))


def test_there_is_a_button_for_each_fault_and_a_reason_where_it_cannot_be_pressed(page):
    buttons = {each.key: each for each in page.button if each.key.startswith("inject-")}

    assert page.title[0].value == "Lab"
    assert {key.removeprefix("inject-") for key in buttons} == {offer.code for offer in menu.offers()}
    refused = {key.removeprefix("inject-") for key, button in buttons.items() if button.disabled}
    assert refused == set(NOT_IN_A_RUNNING_LAB)
    assert all(f"Not here: {reason}." in said(page) for reason in NOT_IN_A_RUNNING_LAB.values())


def test_a_press_asks_the_lab_for_the_fault_and_the_page_says_how_far_it_is(page, paths):
    page.button(key="inject-S7").click().run()

    (request,) = all_requests(paths)
    assert (request.name, request.state) == ("S7", State.WAITING)
    assert page.button(key="inject-S7").disabled
    assert "State: waits for the one before it." in said(page)

    running = taken_up(next_waiting(paths))
    assert "State: is being injected." in said(page.run())
    finished(running, "")
    assert "State: injected; the cluster is healthy." in said(page.run())
    assert not page.button(key="inject-S7").disabled


def test_a_fault_that_could_not_be_injected_says_why(page, paths):
    finished(taken_up(post(paths, "S17")), "no broker came back")
    assert "State: could not be injected: no broker came back." in said(page.run())


def test_a_lab_that_has_ended_offers_nothing(page, paths):
    paths.running.unlink()
    page.run()
    assert "The lab has ended" in said(page)
    assert not [each for each in page.button if each.key.startswith("inject-")]


def test_every_offer_can_be_asked_for_and_leads_to_a_page_that_exists():
    offered = menu.offers()
    assert {offer.name for offer in offered if offer.refusal is None} == set(INJECTABLE)
    assert all((ROOT / offer.look.path).is_file() for offer in offered)


def test_the_demo_alone_shows_the_page(paths):
    """A page that is not among the app's leads to its first one."""
    (paths.directory / "tidemark.toml").write_text(settings_text("127.0.0.1:1", 8501))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).switch_page("lab/page.py").run()
    assert [each.value for each in app.title] == ["Overview"]
