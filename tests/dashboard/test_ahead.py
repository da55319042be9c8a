"""What a page needs of a moment is begun before its panels ask, all of it at once."""

from concurrent.futures import wait
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import ahead, answers, queries
from dashboard.components import brush
from dashboard.partition_questions import UNREAD_FOR
from dashboard.total_lag import TotalLag
from dashboard.view import View
from store.maintenance import roll_up
from tests.dashboard.test_pages import visit, words  # noqa: F401
from tests.dashboard.test_shared import look, store  # noqa: F401

ROOT = Path(__file__).parents[2]


@pytest.fixture
def asked(monkeypatch):
    """The questions that were put to the store, and not answered from what is kept."""
    seen = []

    def watch(name, questions):
        real = getattr(queries, name)

        def asking(data_dir, from_ms, to_ms, question, *rest):
            seen.extend(questions(question))
            return real(data_dir, from_ms, to_ms, question, *rest)

        monkeypatch.setattr(queries, name, asking)

    watch("ask", lambda question: [question])
    watch("ask_together", list)
    return seen


def frozen(end_ms: int) -> View:
    return View("production", end_ms - 900_000, end_ms, True, None, "")


def drawn(view: View) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, time_ms in (("from", view.from_ms), ("to", view.to_ms)):
        app.query_params[name] = datetime.fromtimestamp(time_ms / 1000, UTC).isoformat()
    return app.run()


def test_the_overview_asks_the_store_nothing_that_was_not_begun_ahead(store, asked):  # noqa: F811
    view = frozen(store[1] - 60_000)
    wait(ahead.begin(view, ""))
    ahead_of_it = len(asked)

    app = drawn(view)

    assert "Frozen window" in words(app)
    assert ahead_of_it > 10
    assert {*asked[ahead_of_it:]} <= {queries.CLUSTERS}  # once a minute: is the cluster large


def test_a_moment_whose_round_was_rolled_up_is_not_asked_of_its_samples(store, asked):  # noqa: F811
    data_dir, end_ms = store
    while roll_up(data_dir, end_ms + 60_000):  # a few minutes of rounds at a time
        pass

    app = drawn(frozen(end_ms - 180_000))

    assert "Pipelines, worst first" in words(app)
    assert queries.GROUP_LAG_OF_ROUND in asked
    assert not {queries.GROUP_LAG, UNREAD_FOR} & {*asked}


def test_another_page_begins_only_what_every_page_needs(store, asked):  # noqa: F811
    wait(ahead.begin(look(store[1]), "health"))

    assert queries.GROUP_LAG in asked
    assert queries.PARTS not in asked


def test_many_sessions_that_look_at_one_moment_begin_it_once(store):  # noqa: F811
    assert ahead.begin(look(store[1]), "") is ahead.begin(look(store[1], is_dark=True), "")
    assert ahead.begin(look(store[1]), "") is not ahead.begin(look(store[1]), "lag")


def test_what_is_begun_for_a_page_belongs_to_a_page_that_is_there():
    pages = {page.stem for page in (ROOT / "dashboard" / "pages").glob("*.py")}

    assert {path or "overview" for path in ahead.OF_PAGE} <= pages


NO_LAG = TotalLag((), 0, 0)


def test_the_strip_begins_it_before_it_asks_itself(visit, believable, monkeypatch):  # noqa: F811
    seen = []
    monkeypatch.setattr(ahead, "begin", lambda view, page: seen.append(("begun", page)))
    monkeypatch.setattr(brush.answers, "cluster_lag", lambda view: seen.append(("drawn", None)) or NO_LAG)

    visit(believable, "overview")

    assert seen[:2] == [("begun", ""), ("drawn", None)]


def test_a_question_that_fails_ahead_is_asked_again_by_its_panel_which_says_why(visit, believable, monkeypatch):  # noqa: F811
    def broken(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(answers, "standings", broken)
    monkeypatch.setattr(ahead, "OF_PAGE", {"": (lambda view: answers.standings(view),)})

    app = visit(believable, "overview")

    assert "This panel could not be drawn; those that rest on other answers are not affected." in words(app)
    assert any("the disk is gone" in one.value for one in app.code)
