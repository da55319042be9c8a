"""The page of reports: what it offers, what a link asks for; and the document as a browser shows and prints it."""

import re
import subprocess
import time

import pytest

from dashboard import report_answers
from dashboard.view import View
from tests.dashboard.report_store import FROM_MS, TO_MS
from tests.dashboard.test_journey import chromium as chromium
from tests.dashboard.test_pages import visit as visit
from tests.dashboard.test_pages import words

VIEW = View("production", FROM_MS, TO_MS, True, None, "")


LINK = {"from": "2026-03-01T02:47:00Z", "to": "2026-03-01T03:17:00Z", "refresh": "Off"}


def test_a_link_chooses_report_subject_and_time(visit, night):
    app = visit(night.folder / "tidemark.toml", "reports", report="delivery", of="invoices", time="week", **LINK)
    chosen = {box.label: box.value for box in app.selectbox}

    assert {name: chosen[name] for name in ("Report", "Pipeline", "Time")} == {
        "Report": "delivery", "Pipeline": "invoices", "Time": "week",
    }  # fmt: skip


def test_the_page_lists_the_incidents_of_the_window_and_offers_the_worst(visit, night):
    app = visit(night.folder / "tidemark.toml", "reports", **LINK)
    (incidents,) = [frame.value for frame in app.dataframe]

    assert night.incident_id in set(incidents["Incident"])
    assert dict(zip(incidents["Incident"], incidents["Findings"], strict=True))[night.incident_id] == len(
        night.findings
    )
    assert {box.label: box.value for box in app.selectbox}["Incident"] == incidents["Incident"][0]


def test_the_incidents_are_those_of_the_page_of_incidents_in_the_same_order_also_those_of_no_pipeline(visit, night):
    offered, listed = (visit(night.folder / "tidemark.toml", page, **LINK) for page in ("reports", "incident"))
    (to_report,), (to_read,) = ([frame.value for frame in app.dataframe] for app in (offered, listed))

    for column in ("Verdict", "Pipeline or topic", "State", "Findings"):
        assert list(to_report[column]) == list(to_read[column])
    assert to_report["Verdict"][0] == "✕ Violated"
    assert any("(no pipeline)" in name for name in to_report["Pipeline or topic"])
    options = {box.label: box.options for box in offered.selectbox}["Incident"]
    assert len(options) == len(to_report)


def test_an_incident_of_another_window_that_a_link_asks_for_is_offered_by_its_words(visit, night):
    elsewhere = {"from": "2026-02-01T00:00:00Z", "to": "2026-02-01T01:00:00Z", "refresh": "Off"}
    app = visit(night.folder / "tidemark.toml", "reports", of=night.incident_id, **elsewhere)

    (box,) = [box for box in app.selectbox if box.label == "Incident"]
    assert box.value == night.incident_id
    assert "orders-to-payments" in box.options[0]


def test_a_report_is_made_from_the_page_and_offered_in_every_format(visit, night):
    app = visit(night.folder / "tidemark.toml", "reports", report="durability", of="production", **LINK)
    app.button(key="report-make").click().run()
    deadline = time.monotonic() + 150
    while app.session_state["report-export"].is_running and time.monotonic() < deadline:
        time.sleep(0.2)
    app.run()

    assert "Durability of cluster production" in words(app)
    assert [re.sub(r" · .*", "", one.label) for one in app.get("download_button")] == [
        "HTML", "PDF", "CSV (zip)", "Parquet (zip)", "DuckDB",
    ]  # fmt: skip


def test_what_a_link_asks_for_is_offered_although_nobody_knows_it(monkeypatch):
    monkeypatch.setattr(report_answers.answers, "pipelines", lambda view: ())

    assert report_answers.subjects(VIEW, "delivery", "gone") == {"gone": "gone"}


def test_the_time_of_a_report_is_the_window_of_the_toolbar_or_ends_with_the_last_full_hour():
    whole = report_answers.request(VIEW, "delivery", "p", "window", TO_MS)
    week = report_answers.request(VIEW, "delivery", "p", "week", TO_MS)

    assert (whole.from_ms, whole.to_ms) == (FROM_MS, TO_MS)
    assert (week.to_ms % 3_600_000, week.to_ms - week.from_ms) == (0, 7 * 86_400_000)


@pytest.mark.browser
def test_the_document_is_read_without_the_page_at_any_width_and_printed(chromium, night, tmp_path):
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page, faults = context.new_page(), []
    page.on("console", lambda message: faults.append(message.text))
    page.on("request", lambda request: None if request.url.startswith("file:") else faults.append(request.url))
    page.goto(night.file("incident", "html").as_uri())
    wide = page.locator("body").inner_text()
    page.set_viewport_size({"width": 400, "height": 900})
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    page.pdf(path=str(tmp_path / "printed.pdf"), prefer_css_page_size=True)
    context.close()
    printed = subprocess.run(
        ["pdftotext", str(tmp_path / "printed.pdf"), "-"], check=True, capture_output=True, text=True
    )

    assert faults == []
    assert overflow == 0
    assert "Log truncated" in wide
    assert night.documents["incident"].checksum in re.sub(r"\s", "", printed.stdout)
    assert "order-000777" in printed.stdout
