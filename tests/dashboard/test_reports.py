"""Reports: the same contents in every format, equal to the store, and safe whatever the names are."""

import csv
import io
import re
import subprocess
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from dashboard import queries
from dashboard.reports import finding_tables, making, pdf_text
from dashboard.reports.as_html import cell
from dashboard.reports.document import Column, Document, Section, Sentence, Table, Type, about, sentences, table
from dashboard.reports.hidden_ids import hashed
from dashboard.reports.making import NothingToReportError, Request, make
from dashboard.reports.writing import FORMATS, write
from dashboard.view import format_time, parse_time
from guarantees.findings import Kind
from settings import ReportSettings, load_settings
from store.findings import load_findings
from tests.dashboard import fixture_store, report_store, story_handling, story_incident
from tests.dashboard.report_store import FROM_MS, MADE_MS, STORY_MS, TO_MS, duckdb_tables, parquet_tables

KINDS = ("incident", "delivery", "durability")
SAME_BYTES = ("html", "pdf", "csv", "parquet")


def rows(document: Document, name: str) -> list[dict[str, object]]:
    (found,) = [one for one in document.tables() if one.name == name]
    return [dict(zip((column.name for column in found.columns), row, strict=True)) for row in found.rows]


def said(document: Document) -> list[str]:
    return [str(row[1]) for row in sentences(document).rows]


def every_table(document: Document) -> list[Table]:
    created = cell(document.created_ms, Type.TIME)
    return [about(document, created), sentences(document), *document.tables()]


# The numbers are the store's.


def test_an_incident_tells_its_findings_from_the_first_cause_to_the_last_consequence(night):
    told = rows(night.documents["incident"], "findings")

    assert [row["Finding id"] for row in told] == [one.finding_id for one in night.findings]
    assert [row["Grade of the cause"] for row in told] == ["PROVEN", "PROVEN", "PROVEN", "PROBABLE", "PROBABLE"]
    assert [row["Means"] for row in told] == [
        "▲ Degraded", "✕ Violated", "✕ Violated", "• Information", "• Information",
    ]  # fmt: skip


def test_an_incident_names_the_finding_that_makes_its_verdict_with_its_grade(night):
    (row,) = [row for row in sentences(night.documents["incident"]).rows if str(row[1]).startswith("✕ Violated: ")]

    assert row[1:3] == ("✕ Violated: orders-3 was cut by 30 offsets.", "PROVEN")


def test_losses_duplicates_and_re_deliveries_of_an_incident_are_those_of_the_store_with_their_offsets(night):
    stored = load_findings(night.folder / "data")
    found = {row["Finding id"]: row for row in rows(night.documents["incident"], "effects")}

    assert {row["Effect"] for row in found.values()} == {"lost", "re-delivered", "duplicated"}
    for finding_id, row in found.items():
        bounds = stored[finding_id].finding.bounds
        assert (row["lower"], row["estimate"], row["upper"]) == (bounds.lower, bounds.estimate, bounds.upper)
    offsets = {row["Kind"]: (row["From offset"], row["Up to, not including"]) for row in found.values()}
    assert offsets == {
        "Log truncated": (story_incident.NEW_END, story_incident.OLD_END),
        "Commit went back": (story_incident.NEW_END - 40, story_incident.OLD_END - 5),
        "Lost records": (story_incident.LOST[0], story_incident.LOST[-1] + 1),
        "Duplicate records": (story_incident.COPIES[0], story_incident.COPIES[1] + 1),
    }


def test_an_incident_names_who_is_touched_what_was_not_seen_and_what_people_wrote(night):
    document = night.documents["incident"]
    touched = {(row["Name"], row["What"]) for row in rows(document, "touched")}

    assert {("order-service", "consumer group"), ("reporting", "consumer group")} <= touched
    assert ("payments", "downstream topic") in touched
    assert "Not seen: Which of them a producer had been told were stored." in said(document)
    assert [(row["Who"], row["Did"], row["Note"]) for row in rows(document, "notes")] == [
        ("Grace", "note", "Broker 2 was taken down by hand.\\u000a=1+1"),
        ("Ada", "explain", story_incident.EXPLANATION),
    ]
    assert any(sentence.startswith("People left it explained: Ada, ") for sentence in said(document))


@pytest.mark.parametrize(
    ("pipeline", "why"),
    [
        ("invoices", "None is known to be touched: none of its findings names offsets that a consumer met."),
        (None, "None is known to be touched: no known pipeline reads or writes here."),
    ],
)
def test_an_incident_that_touches_nobody_says_why_as_its_head_says_whose_it_is(night, pipeline, why):
    (look,) = making.looks(night.settings, night.request("incident", ""), MADE_MS)
    one = next(one for one in making.known_incidents(look) if one.pipeline == pipeline)
    (touched,) = [one for one in night.document("incident", one.incident_id).tables() if one.name == "touched"]

    assert (touched.rows, touched.note) == ((), why)


def test_shares_of_the_promise_are_the_whole_window_and_the_violations_the_minutes_of_the_findings(night):
    spent = {row["The promise was"]: row["ms"] for row in rows(night.documents["delivery"], "promise_shares")}
    violated = [row for row in rows(night.documents["delivery"], "promise_states") if row["State"] == "✕ Violated"]

    assert sum(spent.values()) == TO_MS - FROM_MS
    assert spent["violated"] == sum(row["To"] - row["From"] for row in violated) > 0
    begun = [
        one.finding for one in load_findings(night.folder / "data").values() if one.finding.kind is Kind.LOST_WRITE
    ]
    assert violated[0]["From"] <= min(one.happened_at_ms for one in begun) < violated[0]["From"] + 60_000


def test_a_delivery_adds_up_what_the_findings_in_the_window_counted(night):
    totals = {row["Kind"]: row for row in rows(night.documents["delivery"], "totals")}
    lost = [one.finding.bounds for one in load_findings(night.folder / "data").values()
            if one.finding.kind is Kind.LOST_WRITE]  # fmt: skip

    assert totals["Lost records"]["Findings"] == len(lost)
    assert (totals["Lost records"]["lower"], totals["Lost records"]["upper"]) == (
        sum(one.lower for one in lost), sum(one.upper for one in lost),
    )  # fmt: skip
    assert "Lost: 44 (41 to 47)." in said(night.documents["delivery"])


def test_a_delivery_reads_lag_and_coverage_as_the_store_has_them(night):
    lag = queries.ask(
        night.folder / "data", FROM_MS, TO_MS,
        queries.Question(("group_lag_minute",), "SELECT max(lag) AS most FROM group_lag_minute WHERE group_id = $of"),
        {"of": "order-service"},
    )  # fmt: skip
    shown = [row["Lag in offsets, at the end"] for row in rows(night.documents["delivery"], "lag_over_time")]
    read = {row["Topic"]: row for row in rows(night.documents["delivery"], "records_read")}

    assert max(value for value in shown if value is not None) == lag[0]["most"]
    assert (read["payments"]["Offsets purged unread"], read["payments"]["Offsets in gaps"]) == (400, 200)
    assert read["orders"]["Without id"] == 25


def test_time_that_nobody_observed_is_unknown_and_not_kept(night):
    document = night.documents["delivery"]
    unknown = [row for row in rows(document, "unknown_times") if row["Why"] == "no round of samples"]

    assert unknown[0]["From"] == FROM_MS
    assert rows(document, "promise_states")[0]["State"] == "? Unknown"


def test_durability_is_an_interval_with_every_election_judged(night):
    document = night.documents["durability"]
    below = {row["Partition"]: row for row in rows(document, "below_by_partition")}

    assert (below["shipments-1"]["At least, s"], below["shipments-1"]["At most, s"]) == (35, None)
    assert below["shipments-1"]["Unknown because"] == "it was not observed all the time"
    assert below["shipments-1"]["Offline at most, s"] is None
    assert below["shipments-1"]["Offline at least, s"] == 0 < below["shipments-3"]["Offline at least, s"]
    assert any(
        line.startswith("3 elections between two samples each: 2 clean, 1 unclean, 0 unknown")
        for line in said(document)
    )
    assert [row["Finding id"] for row in rows(document, "cuts")] == [night.findings[1].finding_id]
    assert any("min ISR could not be read" in line for line in said(document))


def test_times_without_rounds_leave_the_time_below_min_isr_without_an_upper_end(night):
    lines = said(night.documents["durability"])

    assert any(line.startswith("At least one") and line.endswith(" at most while it was observed.") for line in lines)
    assert any(line.startswith("All of them") and line.endswith("; no upper bound is known.") for line in lines)
    assert "5 min 4 s without any round are not counted: what was below then is unknown." in lines


def test_a_window_with_rounds_all_over_has_an_upper_end_of_the_time_below_min_isr(night):
    whole = Request("durability", "production", STORY_MS - 10 * 60_000, STORY_MS)
    document = make(night.settings, whole, MADE_MS)
    below, lines = {row["Partition"]: row for row in rows(document, "below_by_partition")}, said(document)

    assert [below["shipments-1"][name] for name in ("At least, s", "At most, s", "Unknown because")] == [35, 45, None]
    assert [below["shipments-1"][f"Offline at {end}, s"] for end in ("least", "most")] == [0, 0]
    assert "0 findings." in lines
    assert any(line.startswith("At least one") and line.endswith(" s at most.") for line in lines)
    assert any(line.startswith("All of them") and line.endswith(" s at most.") for line in lines)
    assert not [line for line in lines if "without any round" in line]


def test_what_was_not_found_is_told_of_the_time_that_was_observed(night):
    document = night.documents["durability"]
    (overtaken,) = [one for one in document.tables() if one.name == "overtaken"]

    assert "0 findings while it was observed." in said(document)
    assert any(line.startswith("3 elections") and line.endswith(" while it was observed.") for line in said(document))
    assert overtaken.note == "None was found in the window while it was observed."


def test_a_window_in_which_nobody_looked_says_nothing_of_elections_cuts_and_expiry(night):
    before = Request("durability", "production", STORY_MS - 50 * 3_600_000, STORY_MS - 49 * 3_600_000)
    document = make(night.settings, before, MADE_MS)
    unknown = "Unknown: no partition was observed in the window."

    assert said(document).count(unknown) == 3
    names = ("elections", "cuts", "overtaken", "below_times", "below_by_partition")
    assert [one.note for one in document.tables() if one.name in names] == [unknown] * 5
    assert not [line for line in said(document) if line.startswith("0 ") and "rounds" not in line]


# Every format holds the same.


@pytest.mark.parametrize("kind", KINDS)
def test_parquet_and_duckdb_hold_every_cell_of_the_document(night, kind):
    document = night.documents[kind]
    expected = {one.name: [_typed(one, row) for row in one.rows] for one in every_table(document)}

    assert parquet_tables(night.file(kind, "parquet")) == expected
    assert duckdb_tables(night.file(kind, "duckdb")) == expected


def _typed(of: Table, row: tuple) -> dict[str, object]:
    return {
        column.name: datetime.fromtimestamp(value / 1000, UTC)
        if column.type is Type.TIME and value is not None
        else value
        for column, value in zip(of.columns, row, strict=True)
    }


@pytest.mark.parametrize("kind", KINDS)
def test_csv_holds_every_cell_of_the_document_and_no_formula(night, kind):
    document = night.documents[kind]
    with zipfile.ZipFile(night.file(kind, "csv")) as folder:
        texts = {name: folder.read(name).decode() for name in folder.namelist()}
    for one in every_table(document):
        read = list(csv.reader(io.StringIO(texts[f"{one.name}.csv"])))
        assert read[0] == [column.name for column in one.columns]
        assert [[text.removeprefix("'") for text in row] for row in read[1:]] == [
            [_text(column.type, value) for column, value in zip(one.columns, row, strict=True)] for row in one.rows
        ]
        assert not [text for row in read for text in row if text.startswith(("=", "+", "-", "@"))]
    assert len(texts) == len(every_table(document))


def _text(kind: Type, value: object) -> str:
    return "" if value is None else format_time(value) if kind is Type.TIME else str(value)


class Texts(HTMLParser):
    """The words of a page; and that nothing in it runs or is fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [name for name, value in attrs if name.startswith("on") or name in ("src", "href")]

    def handle_data(self, data):
        self.found.append(data)


@pytest.mark.parametrize("kind", KINDS)
def test_html_shows_every_sentence_and_every_cell_in_one_file(night, kind):
    document = night.documents[kind]
    page = Texts(night.file(kind, "html").read_text())

    assert page.tags.isdisjoint({"script", "img", "iframe", "link", "object"})
    assert "svg" in page.tags
    assert set(_shown(document)) <= set(page.found)


def _shown(document: Document) -> list[str]:
    cells = [cell(value, column.type)
             for one in document.tables() for row in one.rows
             for column, value in zip(one.columns, row, strict=True) if column.is_shown]  # fmt: skip
    return [*said(document), *cells]


@pytest.mark.parametrize("kind", KINDS)
def test_pdf_shows_every_sentence_and_every_cell_as_text(night, kind):
    document = night.documents[kind]
    text = _squeezed(text_of_pdf(night.file(kind, "pdf")))

    missing = [one for one in said(document) if _squeezed(pdf_text.printable(one)) not in text]
    assert not missing
    # A cell may be broken over lines, between which its neighbours stand: its words are all there.
    words = {word for one in _shown(document) for word in pdf_text.printable(one).split() if len(word) < 12}
    assert not [word for word in words if word not in text]
    assert document.checksum in text


def text_of_pdf(path) -> str:
    return subprocess.run(["pdftotext", "-layout", str(path), "-"], check=True, capture_output=True, text=True).stdout


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_a_pdf_page_has_ink_where_the_chart_is(night, tmp_path):
    first = ["-r", "40", "-f", "1", "-l", "1", str(night.file("delivery", "pdf")), str(tmp_path / "p")]
    subprocess.run(["pdftoppm", *first], check=True)
    (picture,) = tmp_path.glob("p*.ppm")
    pixels = picture.read_bytes()[15:]
    triples = {pixels[at : at + 3] for at in range(0, len(pixels) - 2, 3)}

    assert bytes.fromhex("D55E00") in triples  # violated
    assert bytes.fromhex("7A8793") in triples  # unknown


@pytest.fixture(scope="module")
def again(night) -> Document:
    return night.document("delivery", story_incident.PIPELINE)


@pytest.mark.parametrize("format_name", SAME_BYTES)
def test_the_same_input_gives_the_same_bytes(night, again, tmp_path, format_name):
    write(again, format_name, tmp_path / "again")

    assert (tmp_path / "again").read_bytes() == night.file("delivery", format_name).read_bytes()


def test_a_report_made_later_differs_in_the_stated_time_alone(night):
    later = replace(night.documents["delivery"], created_ms=MADE_MS + 5_000)

    assert later.checksum == night.documents["delivery"].checksum
    assert replace(later, title="another").checksum != later.checksum


def test_a_report_says_what_it_rests_on(night):
    basis = dict(about(night.documents["delivery"], "now").rows)
    settings = {row["Setting"]: row["Value"] for row in rows(night.documents["delivery"], "settings")}
    coverage = {row["Signal"]: row for row in rows(night.documents["delivery"], "coverage")}

    assert {"rounds of samples", "window", "Tidemark", "DuckDB", "schema of the tables", "findings known"} <= set(basis)
    assert basis["rounds of samples"] == "0 to 299, 300 of 360 expected"
    assert (settings["pipeline.settle_s"], settings["thresholds.gap_s"]) == ("30.0", "30")
    assert (coverage["committed_offsets"]["Values asked"], coverage["committed_offsets"]["Not permitted"]) == (
        5400,
        1800,
    )


# Whatever the names are, whatever is missing.


STRANGE = (
    "тема-β",
    "emoji-😀-\U0001f984",
    "汉字",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "\u202egnp",
    "a" * 400,
    "שלום",
)


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_name_in_any_script_is_written_and_no_part_of_it_vanishes(tmp_path, format_name):
    names = table("names", "Names", [Column("Name")], [{"Name": name} for name in STRANGE])
    document = Document("delivery", " ".join(STRANGE[:3]), (Section("S", (Sentence(STRANGE[3]), names)),), (), MADE_MS)
    write(document, format_name, tmp_path / "strange")

    if format_name == "pdf":
        text = _squeezed(text_of_pdf(tmp_path / "strange"))
        assert "тема-β" in text
        assert r"\u1f984" in text  # a unicorn no font at hand has
        assert r"\u6c49\u5b57" in text
        assert text.count("a" * 20) >= 10
    if format_name == "html":
        page = Texts((tmp_path / "strange").read_text())
        assert set(STRANGE) <= set(page.found)
        assert "script" not in page.tags


def test_names_that_try_to_break_a_page_come_out_as_text(night):
    ids = [str(row["Message id"]) for row in rows(night.documents["incident"], "examples")]
    page = night.file("incident", "html").read_text()

    assert any(one.startswith("<img src=x") for one in ids)
    assert "<img" not in page
    assert "&lt;img src=x" in page
    assert "\u202e" not in page
    assert r"\u202e" in "".join(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_no_secret_and_no_address_is_in_a_report(night, kind, monkeypatch):
    monkeypatch.setenv("A_SECRET", report_store.SECRET)
    text = night.file(kind, "html").read_text() + text_of_pdf(night.file(kind, "pdf"))

    assert not [word for word in (report_store.SECRET, "A_SECRET", "u-tidemark", "127.0.0.1") if word in text]


def test_ids_are_hashed_everywhere_when_the_settings_say_so(night):
    private = replace(night.settings, reports=ReportSettings(ids="hashed"))
    document = make(private, night.request("incident", night.incident_id), MADE_MS)
    everything = str(document)

    assert [row["Message id"] for row in rows(document, "examples")][0] == hashed("order-000777")
    assert not [name for name in ("order-000777", "order-000765") if name in everything]
    assert "orders-3" in everything  # topics are no ids
    assert ("ids", "hashed") in document.provenance


@pytest.fixture(scope="module")
def nothing(tmp_path_factory) -> dict[str, Document]:
    settings = load_settings(fixture_store.write_settings(tmp_path_factory.mktemp("nothing")))
    subjects = {"delivery": "orders-to-payments", "durability": "production"}
    return {kind: make(settings, Request(kind, one, FROM_MS, TO_MS), MADE_MS) for kind, one in subjects.items()}


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_store_without_anything_is_reported_on_in_every_format(nothing, tmp_path, format_name):
    for kind, document in nothing.items():
        write(document, format_name, tmp_path / kind)
        assert (tmp_path / kind).stat().st_size > 0


def test_a_store_without_anything_keeps_no_promise_and_knows_of_no_durability(nothing):
    shares = {row["The promise was"]: row["ms"] for row in rows(nothing["delivery"], "promise_shares")}

    assert (shares["kept"], shares["unknown"]) == (0, TO_MS - FROM_MS)
    assert "No partition was observed in the window: nothing is known of its durability." in said(nothing["durability"])


def test_an_incident_whose_samples_expired_is_told_from_its_findings_alone(tmp_path):
    settings = load_settings(fixture_store.write_settings(tmp_path))
    found = story_incident.add(tmp_path / "data", STORY_MS)
    month_later, asked = MADE_MS + 31 * 86_400_000, Request("incident", "", FROM_MS, TO_MS)
    (look,) = making.looks(settings, asked, month_later)
    incident = max(look.incidents, key=lambda one: len(one.findings))
    document = make(settings, replace(asked, subject=incident.incident_id), month_later)

    assert len(rows(document, "findings")) == len(found)
    assert any("no round of samples is stored" in line for line in said(document))


def test_an_enormous_incident_is_cut_aloud_and_its_totals_count_all(tmp_path, monkeypatch):
    monkeypatch.setattr(finding_tables, "MOST_ROWS", 200)
    settings = load_settings(fixture_store.write_settings(tmp_path))
    story_handling.store(tmp_path / "data", story_handling.spread(story_incident.findings(STORY_MS)[3], 300))
    asked = Request("incident", "", FROM_MS, TO_MS)
    ((incident,),) = [look.incidents for look in making.looks(settings, asked, MADE_MS)]
    document = make(settings, replace(asked, subject=incident.incident_id), MADE_MS)

    assert [row["Findings"] for row in rows(document, "totals")] == [300]
    (findings,) = [one for one in document.tables() if one.name == "findings"]
    assert (len(findings.rows), findings.note) == (200, "100 more are left out; totals count them.")
    write(document, "html", tmp_path / "big.html")
    assert "100 more are left out" in (tmp_path / "big.html").read_text()


@pytest.mark.parametrize(
    ("kind", "subject", "expected"),
    [
        ("delivery", "orders-to-paymets", "the nearest known: orders-to-payments"),
        ("durability", "prod", "no cluster is named 'prod'; the nearest known: production"),
        ("incident", "0000", "no incident has the id '0000'; the nearest known: "),
    ],
)
def test_what_is_not_known_is_refused_with_the_nearest_that_is(night, kind, subject, expected):
    with pytest.raises(NothingToReportError, match=re.escape(expected)):
        night.document(kind, subject)


def test_last_ends_with_the_last_full_hour():
    now = parse_time("2026-03-01T03:12:40")
    assert making.last("day", now) == (parse_time("2026-02-28T03:00"), parse_time("2026-03-01T03:00"))
