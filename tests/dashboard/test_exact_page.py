"""The panel of exact audits in all its states: nothing asked, asked, waiting, running, done, failed, cancelled."""

# ruff: noqa: F811 (fixtures of another module)
import shutil

import pytest

from dashboard import view
from dashboard.components import acting
from store.audit_requests import load_requests
from tests.dashboard import fixture_store, story_exact
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import cells, visit, words  # noqa: F401 (fixtures)

PIPELINE = "orders-to-payments"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A store without an exact audit, to be copied."""
    folder = tmp_path_factory.mktemp("told")
    fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", now_ms(), quiet_minutes=10)
    return folder


@pytest.fixture
def store(told, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(told, folder)
    yield folder / "tidemark.toml"
    acting._log.clear()


def window(end_ms):
    return {"from": view.format_time(end_ms - 900_000), "to": view.format_time(end_ms)}


def pressed(app, label):
    return next(button for button in app.button if button.label == label)


def opened(visit, settings, end_ms, **query):
    return visit(settings, "audit", pipeline=PIPELINE, **window(end_ms), **query)


def whole_minute():
    return now_ms() // 60_000 * 60_000


def test_without_a_request_the_panel_says_what_an_audit_would_read(visit, store):
    said = words(opened(visit, store, whole_minute()))

    assert "No exact audit of this pipeline was asked for yet" in said
    assert "Reads every record of orders and payments in this window and 30 s before and after it" in said


def test_an_undeclared_pipeline_cannot_be_asked_about(visit, store):
    app = visit(store, "audit", pipeline="gone")

    assert "Only a declared pipeline can be audited" in words(app)
    assert "Audit this window exactly" not in [button.label for button in app.button]


def test_the_button_appends_the_window_on_screen_with_the_name_and_starts_nothing(visit, store):
    end = whole_minute()
    app = opened(visit, store, end)
    pressed(app, "Audit this window exactly").click().run()
    assert "Enter your name" in app.error[0].value
    next(field for field in app.text_input if field.label == "Your name").set_value(" Ada ").run()
    pressed(app, "Audit this window exactly").click().run()

    (request,) = load_requests(store.parent / "data").requests
    assert (request.who, request.pipeline, request.from_ms, request.to_ms) == ("Ada", PIPELINE, end - 900_000, end)
    assert not app.error
    assert "◷ Asked for" in cells(app)


def test_what_was_asked_for_can_be_cancelled_by_whoever_gives_a_name(visit, store):
    end = whole_minute()
    run_id = story_exact.build(store.parent / "data", end, state="running")
    app = opened(visit, store, end)
    next(field for field in app.text_input if field.label == "Your name").set_value("Bea").run()
    pressed(app, "Cancel").click().run()

    assert load_requests(store.parent / "data").cancelled[run_id].who == "Bea"


def test_each_state_is_said_with_its_reason_and_only_open_runs_can_be_cancelled(visit, store):
    end = whole_minute()
    for state in ("waiting", "running", "failed", "cancelled"):
        story_exact.build(store.parent / "data", end, state=state)
    story_exact.build(store.parent / "data", end, seen=False)
    app = opened(visit, store, end, audit="run-failed-True")

    runs = next(frame.value for frame in app.dataframe if "Asked by" in frame.value).set_index("State")
    assert set(runs.index) == {"◷ Asked for", "◷ Waiting", "▶ Running", "✕ Failed", "– Cancelled"}
    assert "have not seen this request: see Health" in runs.loc["◷ Asked for", "Because"]
    assert runs.loc["◷ Waiting", "Because"] == "another audit runs first"
    assert runs.loc["– Cancelled", "Because"] == "cancelled by Bea"
    assert runs.loc["✕ Failed", "Because"].startswith("topic <img src=x")
    assert runs.loc["▶ Running", "Slices"] == "3 of 12"
    said = "".join(element.proto.text for element in app.get("progress")).replace("\\", "")
    assert "Reading: 3 of about 12 slices, 1,200,000 of 5,000,000 offsets read" in said
    assert [button.label for button in app.button].count("Cancel") == 3
    assert "✕ Failed" in words(app).replace("\\", ""), "the run of the link has no result, and why"


def test_a_result_says_what_was_counted_how_exactly_and_what_it_cannot_see(visit, store):
    end = whole_minute()
    story_exact.build(store.parent / "data", end, who=fixture_store.HOSTILE[:80])
    app = opened(visit, store, end)

    said = words(app).replace("\\", "")
    assert "orders: 128 extra copies among 11,400 ids" in said
    assert "41 ids lost of 11,400, 3 late" in said
    assert "2 ids of the sink without a record of the source" in said
    assert "Counted, not estimated, but the window is not whole: 48 offsets unexplained." in said
    assert "asked for by <img src=x" in said
    assert "Times are mapped to offsets by ListOffsets" in said
    assert "\\<b\\>" in words(app)
    topics = next(frame.value for frame in app.dataframe if "Unexplained" in frame.value and "Side" in frame.value)
    assert list(topics["Unexplained"]) == [24, 24]
    assert topics["Lost"].isna().tolist() == [False, True], "a sink has no losses: not counted is not zero"
    assert "\u202e" not in cells(app) + words(app)
    labels = [button.label for button in app.get("download_button")]
    assert {"Download exact copies (CSV)", "Download exact ids (CSV)"} <= set(labels)
    partitions = next(frame.value for frame in app.dataframe if "Group past" in frame.value)
    assert partitions.iloc[0]["From"] == str(story_exact.FIRST), "in full digits"


def test_the_order_within_keys_is_asked_for_where_it_is_declared(visit, store):
    end = whole_minute()
    app = opened(visit, store, end)
    assert "Check the order within keys" not in [button.label for button in app.button]
    declared = store.read_text().replace(f'name = "{PIPELINE}"', f'name = "{PIPELINE}"\norder = {{ header = "n" }}')
    assert declared != store.read_text()
    store.write_text(declared)
    app = opened(visit, store, end)
    next(field for field in app.text_input if field.label == "Your name").set_value("Ada").run()
    pressed(app, "Check the order within keys").click().run()

    (request,) = load_requests(store.parent / "data").requests
    assert (request.job, request.from_ms) == ("order", end - 900_000)
    assert "Order within keys" in cells(app)


def test_the_copies_of_batches_are_compared_on_request(visit, store):
    end = whole_minute()
    app = opened(visit, store, end)
    next(field for field in app.text_input if field.label == "Your name").set_value("Ada").run()
    pressed(app, "Compare the copies of batches").click().run()

    (request,) = load_requests(store.parent / "data").requests
    assert (request.job, request.from_ms, request.to_ms) == ("content", end - 900_000, end)
    assert "Content of batches" in cells(app)


def test_a_result_on_order_says_what_is_behind_what_and_counts_no_ids(visit, store):
    end = whole_minute()
    run_id = story_exact.build_order(store.parent / "data", end)
    app = opened(visit, store, end, audit=run_id)

    said = words(app).replace("\\", "")
    assert "orders: 1 of 1,977 records stored behind one that should follow it in its key, among 12 keys" in said
    assert "5 repeated, which is no matter of order; 7 numbers missing between those of a key" in said
    assert "1 keys on several partitions, each compared alone; 2 records without a key" in said
    topics = next(frame.value for frame in app.dataframe if "Out of order" in frame.value and "Side" in frame.value)
    assert (list(topics["Judged"]), "Ids" in topics) == ([1977], False)
    examples = next(frame.value for frame in app.dataframe if "Earlier record" in frame.value)
    assert examples.iloc[0]["Later record"].endswith(f":{story_exact.FIRST + 44}")
    assert (examples.iloc[0]["Its place"], examples.iloc[0]["Its place, lower"]) == ("9", "7")
    assert "\u202e" not in cells(app) + words(app)
    assert "Download exact order (CSV)" in [button.label for button in app.get("download_button")]


def test_a_result_on_content_says_which_copies_differ_and_which_could_not_be_read(visit, store):
    end = whole_minute()
    run_id = story_exact.build_content(store.parent / "data", end)
    app = opened(visit, store, end, audit=run_id)

    said = words(app).replace("\\", "")
    assert "orders: 2 of 480 copies of 240 batches have another content than the leader" in said
    assert "1 replica of partitions could not be read" in said
    batches = next(frame.value for frame in app.dataframe if "CRC of the copy" in frame.value)
    assert list(batches["Copy"]) == ["as read earlier", "replica 2"]
    assert batches.iloc[0]["Batch"] == f"orders-2:{story_exact.FIRST + 44}"
    assert (batches.iloc[0]["CRC on the leader"], batches.iloc[0]["CRC of the copy"]) == ("00abcdef", "00000011")
